//! `stepscope man`: the manual page, from the same table as the help.

use std::fmt::Write as _;

use clap::{Arg, Command};

/// Formats the manual page of a program in the language of man(7).
pub(super) fn page(program: &Command) -> String {
    let mut page =
        format!(".TH STEPSCOPE 1 \"\" \"stepscope {}\"\n", escaped(program.get_version().unwrap_or_default()));
    page += ".SH NAME\nstepscope \\- debug, review and compare LLM runs in the terminal\n";
    page += ".SH SYNOPSIS\n.B stepscope\n[OPTIONS] [PATH]...\n.br\n.B stepscope\nCOMMAND ...\n";
    page += ".SH DESCRIPTION\n";
    page += &paragraph(program.get_long_about().or_else(|| program.get_about()).map(ToString::to_string));
    page += ".SH OPTIONS\n";
    options(program.get_arguments(), &mut page);
    page += ".SH COMMANDS\n";
    for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
        of_command(command, "stepscope", &mut page);
    }
    page += ".SH EXIT STATUS\n";
    for (code, meaning) in [
        ("0", "Fine."),
        ("1", "Findings, failed items or regressions."),
        ("2", "Something could not be read, understood or done."),
        ("3", "A model server failed, or a run ended early."),
    ] {
        let _ = writeln!(page, ".TP\n.B {code}\n{meaning}");
    }
    page
}

fn of_command(command: &Command, above: &str, page: &mut String) {
    let name = format!("{above} {}", command.get_name());
    let _ = writeln!(page, ".SS {}", escaped(&name));
    *page += &paragraph(command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string));
    // What goes with every command is said once, above.
    options(command.get_arguments().filter(|argument| !argument.is_global_set()), page);
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        of_command(inner, &name, page);
    }
}

fn options<'c>(arguments: impl Iterator<Item = &'c Arg>, page: &mut String) {
    let is_on_every_page = |argument: &Arg| matches!(argument.get_id().as_str(), "help" | "version");
    for argument in arguments.filter(|argument| !argument.is_hide_set() && !is_on_every_page(argument)) {
        let _ = writeln!(page, ".TP\n{}", head(argument));
        *page += &paragraph(argument.get_long_help().or_else(|| argument.get_help()).map(ToString::to_string));
    }
}

/// Formats the spellings of an argument, its value in italics.
fn head(argument: &Arg) -> String {
    let spelled = [
        argument.get_short().map(|letter| format!("\\fB\\-{letter}\\fR")),
        argument.get_long().map(|long| format!("\\fB\\-\\-{}\\fR", escaped(long))),
    ];
    let spelled: Vec<String> = spelled.into_iter().flatten().collect();
    let names = argument.get_value_names().unwrap_or_default().iter().map(|name| format!("\\fI{}\\fR", escaped(name)));
    let values: Vec<String> = if argument.get_action().takes_values() { names.collect() } else { Vec::new() };
    format!("{} {}", spelled.join(", "), values.join(" ")).trim().to_owned()
}

fn paragraph(text: Option<String>) -> String {
    let text = text.unwrap_or_default();
    text.lines().map(|line| if line.is_empty() { ".PP\n".to_owned() } else { format!("{}\n", escaped(line)) }).collect()
}

/// Escapes text, so that nothing in it is a request of man(7).
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_every_command_and_option() {
        let program = crate::cli::whole();
        let page = page(&program);
        for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
            assert!(page.contains(&format!(".SS stepscope {}", command.get_name())), "{}", command.get_name());
        }
        assert!(page.contains("\\fB\\-\\-fail\\-on\\fR \\fISEVERITY\\fR"), "{page}");
    }

    #[test]
    fn no_text_is_a_request() {
        assert_eq!(escaped(".so /etc/passwd"), "\\&.so /etc/passwd");
        assert_eq!(escaped("a\\fB-x"), "a\\efB\\-x");
    }
}
