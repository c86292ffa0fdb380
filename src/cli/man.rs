//! `stepscope man`: the manual page, from the same table as the help.

use std::fmt::Write as _;

use clap::{Arg, Command};

use super::variables::VARIABLES;

/// Command lines, and what each is for.
const EXAMPLES: [(&str, &str); 9] = [
    ("stepscope", "Opens the sample runs."),
    ("stepscope runs.jsonl", "Opens a file on the screen."),
    ("stepscope check runs.jsonl", "Prints findings with their place; ends with 1 if there is a warning or worse."),
    ("stepscope check runs.jsonl --format junit --fail-on fatal", "A test report for CI."),
    ("stepscope check runs.jsonl --summary", "Counts by where to fix."),
    ("stepscope show runs.jsonl --line 2", "Prints one record."),
    ("stepscope export runs.jsonl --line 2 --html run.html", "Writes a page to send."),
    ("stepscope compare new.jsonl old.jsonl --fail-on-regression", "Ends with 1 if a right answer is wrong now."),
    ("stepscope rules procedure/unused", "Explains a rule, with examples."),
];

/// Variables with keys of model servers, which no command prints.
const KEYS: [(&str, &str); 2] =
    [("OPENAI_API_KEY", "Key for OpenAI's own server."), ("ANTHROPIC_API_KEY", "Key for Anthropic's own server.")];

/// Files that are read or written next to the records and in the folders of the user.
const FILES: [(&str, &str); 5] = [
    ("$XDG_CONFIG_HOME/stepscope/config.toml", "Settings; without the variable, ~/.config/stepscope/config.toml."),
    ("$XDG_CONFIG_HOME/stepscope/themes/", "Themes of your own, NAME.toml."),
    ("$XDG_STATE_HOME/stepscope/", "What is remembered; without the variable, ~/.local/state/stepscope/."),
    ("FILE.reviews.jsonl", "Reviews of the records of FILE: only appended to."),
    ("FILE.forks.jsonl", "Forks of the records of FILE: only appended to."),
];

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
    let variables: Vec<(&str, &str)> = VARIABLES.into_iter().chain(KEYS).collect();
    for (title, rows) in [("ENVIRONMENT", &variables[..]), ("FILES", &FILES), ("EXAMPLES", &EXAMPLES)] {
        list(title, rows, &mut page);
    }
    page
}

/// Appends a section that explains what its rows name.
fn list(title: &str, rows: &[(&str, &str)], page: &mut String) {
    let _ = writeln!(page, ".SH {title}");
    for (name, meaning) in rows {
        let _ = writeln!(page, ".TP\n.B {}\n{}", escaped(name), escaped(meaning));
    }
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
    fn the_page_has_examples_variables_and_files() {
        let page = page(&crate::cli::whole());
        for section in ["ENVIRONMENT", "FILES", "EXAMPLES"] {
            assert!(page.contains(&format!(".SH {section}\n.TP\n.B ")), "{section}");
        }
        assert!(page.contains(".B STEPSCOPE_CONFIG_DIR\n"), "{page}");
        for (example, _) in EXAMPLES {
            let parsed = crate::cli::whole().try_get_matches_from(example.split(' '));
            assert!(parsed.is_ok(), "{example}: {parsed:?}");
        }
    }

    #[test]
    fn no_text_is_a_request() {
        assert_eq!(escaped(".so /etc/passwd"), "\\&.so /etc/passwd");
        assert_eq!(escaped("a\\fB-x"), "a\\efB\\-x");
    }
}
