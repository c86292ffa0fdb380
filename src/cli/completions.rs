//! `stepscope completions`: scripts for shells, which know the names that arguments take.

use std::fmt::Write as _;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use clap_complete::{Shell, generate};

use stepscope_compare::Cell;
use stepscope_io::model::Backend;
use stepscope_io::source::maps;
use stepscope_judge::hide::Hidden;
use stepscope_record::AnswerSchema;
use stepscope_record::rule_id::RuleId;
use stepscope_record::schemas;
use stepscope_review::event::{ReviewerKind, Verdict};

/// Arguments that take a name or a file.
const OR_FILE: [&str; 3] = ["theme", "schema", "answer-schema"];
/// Function of zsh that offers names and files. The options of `compadd` come with the names.
const NAME_OR_FILE: &str = "\
_stepscope_name_or_file() {
    local ret=1
    compadd \"$@\" && ret=0
    _files && ret=0
    return ret
}

";
/// What the script for zsh does for the first word, and with files too: most often one is opened.
const ZSH_COMMANDS: &str = "_describe -t commands 'stepscope commands' commands \"$@\"";
const ZSH_COMMANDS_AND_FILES: &str = "local ret=1
    _describe -t commands 'stepscope commands' commands \"$@\" && ret=0
    _files && ret=0
    return ret";
/// The same for fish.
const FISH_FILES: &str = "complete -c stepscope -n \"__fish_stepscope_needs_command\" -F\n";

/// Writes the script for a shell, of a program with the options of every command.
pub(super) fn script(program: &Command, shell: Shell, themes: &[&'static str]) -> String {
    // Paths before the command would take its place in the script for zsh.
    let options = program.get_arguments().filter(|argument| !argument.is_positional());
    let whole = Command::new("stepscope").version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true);
    let whole = whole.disable_help_flag(true).disable_version_flag(true);
    let whole = whole.args(options).subcommands(program.get_subcommands());
    let mut whole = with_names(whole, themes);
    let mut text = Vec::new();
    generate(shell, &mut whole, "stepscope", &mut text);
    let text = String::from_utf8(text).unwrap_or_default();
    match shell {
        Shell::Zsh => zsh(&text, themes),
        Shell::Fish => fish(&text, &whole),
        // Bash offers files where no name fits.
        _ => text,
    }
}

/// Adds the names: in the program itself one that is unknown is told in our own words.
fn with_names(command: Command, themes: &[&'static str]) -> Command {
    let name = command.get_name().to_owned();
    let named = command.mut_args(|argument| match names(&name, argument.get_id().as_str(), themes) {
        Some(names) => argument.value_parser(PossibleValuesParser::new(names)),
        None => argument,
    });
    named.mut_subcommands(|command| with_names(command, themes))
}

/// Lists the names that an argument of a command takes; `None`: any text.
fn names(command: &str, argument: &str, themes: &[&'static str]) -> Option<Vec<&'static str>> {
    Some(match (command, argument) {
        ("rules", "id") => RuleId::ALL.into_iter().map(RuleId::word).collect(),
        ("schema", "name") => schemas::ALL.iter().chain(&schemas::TYPES).map(|schema| schema.name).collect(),
        ("map", "name") => maps::FILES.map(|(name, _)| name).to_vec(),
        ("check", "schema" | "answer_schema") | ("run", "answer_schema") => {
            AnswerSchema::ALL.map(AnswerSchema::word).to_vec()
        }
        ("compare", "cell") => Cell::ALL.map(Cell::word).to_vec(),
        ("add", "verdict") => Verdict::ALL.map(Verdict::word).to_vec(),
        (_, "theme") => themes.to_vec(),
        (_, "hide") => Hidden::ALL.map(Hidden::word).to_vec(),
        (_, "backend") => Backend::ALL.map(Backend::word).to_vec(),
        (_, "reviewer_kind") => ReviewerKind::ALL.map(ReviewerKind::word).to_vec(),
        _ => return None,
    })
}

fn zsh(script: &str, themes: &[&str]) -> String {
    let schemas = AnswerSchema::ALL.map(AnswerSchema::word).join(" ");
    let mut script = script.replace(ZSH_COMMANDS, ZSH_COMMANDS_AND_FILES);
    for names in [schemas, themes.join(" ")] {
        script = script.replace(&format!(":({names})'"), &format!(":_stepscope_name_or_file {names}'"));
    }
    script.replacen("_stepscope() {", &format!("{NAME_OR_FILE}_stepscope() {{"), 1)
}

/// Adds what the script for fish lacks: files, and names that stand without an option.
fn fish(script: &str, program: &Command) -> String {
    let takes_file = |line: &&str| OR_FILE.iter().any(|option| line.contains(&format!(" -l {option} ")));
    let line = |line| match Some(line).filter(takes_file) {
        Some(line) => line.replacen(" -r -f -a ", " -r -F -a ", 1),
        None => line.to_owned(),
    };
    let mut script: String = script.lines().map(|each| line(each) + "\n").collect();
    script += FISH_FILES;
    for command in program.get_subcommands() {
        let words = command.get_positionals().flat_map(Arg::get_possible_values);
        let words: Vec<String> = words.map(|value| value.get_name().to_owned()).collect();
        if !words.is_empty() && command.get_name() != "help" {
            let (name, words) = (command.get_name(), words.join(" "));
            let _ = writeln!(
                script,
                "complete -c stepscope -n \"__fish_stepscope_using_subcommand {name}\" -f -a \"{words}\""
            );
        }
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(shell: Shell) -> String {
        super::script(&crate::cli::whole(), shell, &["dark", "light"])
    }

    #[test]
    fn every_shell_is_offered_the_names() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell] {
            let script = script(shell);
            assert!(script.contains("--fail-on") || script.contains("-l fail-on"), "{shell}");
            let has_names = matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish);
            for name in ["procedure/unused", "answer-trace", "promptfoo", "anthropic", "gold", "only_a", "light"] {
                assert!(!has_names || script.contains(name), "{shell}: {name}");
            }
        }
    }

    #[test]
    fn a_file_can_stand_where_a_name_can() {
        let zsh = script(Shell::Zsh);
        assert!(zsh.contains(":SCHEMA:_stepscope_name_or_file general bool gsm arc'"));
        assert!(zsh.contains(":NAME:_stepscope_name_or_file dark light'") && zsh.contains(NAME_OR_FILE));
        assert!(
            zsh.contains(ZSH_COMMANDS_AND_FILES) && zsh.contains("case $line[1] in"),
            "the command is the first word"
        );
        let fish = script(Shell::Fish);
        let of = |option: &str| fish.lines().find(|line| line.contains(option)).unwrap_or_default().to_owned();
        assert!(of(" -l answer-schema ").contains(" -r -F -a "), "{}", of(" -l answer-schema "));
        assert!(of(" -l hide ").contains(" -r -f -a "), "{}", of(" -l hide "));
        assert!(fish.contains(FISH_FILES) && fish.contains("using_subcommand rules\" -f -a \"record/"), "{fish}");
    }
}
