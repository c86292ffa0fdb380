//! Flags before the name of a command: they go behind it, where the command reads them.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Arg, Command};

use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_base::words::closest;

/// Flags of the whole program, which may come before any command, whether it uses them or not.
const COMMON: [&str; 2] = ["theme", "config-dir"];

/// Moves the name of the command, if there is one, in front of the flags that come before it. Without flags there the
/// program is not asked for.
pub(super) fn commands_first(arguments: Vec<OsString>, program: impl FnOnce() -> Command) -> Vec<OsString> {
    if !arguments.iter().skip(1).take(2).any(|argument| is_flag(argument)) {
        return arguments;
    }
    let mut program = program();
    if !has_flags_first(&arguments, &mut program) {
        return arguments;
    }
    program.build();
    let mut arguments = arguments.into_iter();
    let mut ordered: Vec<OsString> = arguments.next().into_iter().collect();
    let mut rest: Vec<OsString> = arguments.collect();
    let mut command = &program;
    while let Some((at, inner)) = name_in(&rest, command, &program) {
        let name = rest.remove(at);
        ordered.push(name);
        let after = rest.split_off(at);
        rest = without_common(rest, inner);
        rest.extend(after);
        command = inner;
    }
    ordered.extend(rest);
    ordered
}

/// Tells whether a flag comes first and the name of a command may follow: seldom, and only then the flags of every command
/// are needed.
fn has_flags_first(arguments: &[OsString], program: &mut Command) -> bool {
    let [_, first, rest @ ..] = arguments else { return false };
    if is_flag(first) {
        return rest.iter().any(|argument| program.find_subcommand(argument).is_some());
    }
    let is_flag_next = rest.first().is_some_and(|next| is_flag(next));
    program.find_subcommand_mut(first).filter(|_| is_flag_next).is_some_and(|command| {
        command.build();
        command.has_subcommands()
    })
}

/// Finds a command and the position of its name: the first argument that is neither a flag nor the value of one.
fn name_in<'c>(arguments: &[OsString], command: &'c Command, program: &Command) -> Option<(usize, &'c Command)> {
    let mut at = 0;
    loop {
        let argument = arguments.get(at)?;
        if argument == "--" {
            return None;
        }
        if !is_flag(argument) {
            return Some((at, command.find_subcommand(argument)?));
        }
        at += if takes_next(argument, command, program) { 2 } else { 1 };
    }
}

fn is_flag(argument: &OsStr) -> bool {
    argument.as_encoded_bytes().starts_with(b"-") && argument != "-"
}

/// Finds the flag of this spelling: of the command itself, else of the program, else of any command.
fn find<'c>(argument: &OsStr, command: &'c Command, program: &'c Command) -> Option<&'c Arg> {
    let text = argument.to_str()?;
    let commands = [command, program].into_iter().chain(command.get_subcommands()).chain(program.get_subcommands());
    let nested = program.get_subcommands().flat_map(Command::get_subcommands);
    let is_it = |arg: &&Arg| match text.strip_prefix("--") {
        Some(long) => {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            arg.get_long() == Some(long) || aliases.contains(&long)
        }
        None => text.strip_prefix('-').is_some_and(|short| {
            let mut letters = short.chars();
            letters.next().is_some_and(|letter| arg.get_short() == Some(letter)) && letters.next().is_none()
        }),
    };
    commands.chain(nested).flat_map(Command::get_arguments).find(is_it)
}

/// Tells whether the value of a flag is the argument after it.
fn takes_next(flag: &OsStr, command: &Command, program: &Command) -> bool {
    find(flag, command, program).is_some_and(|arg| arg.get_action().takes_values())
}

/// Leaves out the flags of the whole program that a command does not know; a command with subcommands leaves that to
/// them.
fn without_common(flags: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let knows = |name: &str| command.get_arguments().any(|arg| arg.get_long() == Some(name));
    let mut flags = flags.into_iter();
    let mut kept = Vec::new();
    while let Some(flag) = flags.next() {
        let text = flag.to_str().and_then(|text| text.strip_prefix("--")).unwrap_or_default();
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        if !COMMON.contains(&name) || knows(name) || command.has_subcommands() {
            kept.push(flag);
        } else if value.is_none() {
            flags.next();
        }
    }
    kept
}

/// Explains why the first of these paths was hardly meant as a file: it has the form of a command's name, and there is
/// no such file. `None`: it may be one.
pub(super) fn unknown_command(paths: &[PathBuf], program: impl FnOnce() -> Command) -> Option<Shown> {
    let first = paths.first()?;
    let word = first.to_str().filter(|word| !word.is_empty())?;
    let is_word = word.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'));
    if !is_word || word == "-" || std::fs::symlink_metadata(first).is_ok() {
        return None;
    }
    let program = program();
    let best = closest(word, program.get_subcommands().map(Command::get_name));
    let word = Shown::line(word.as_bytes());
    Some(match best {
        Some(best) => shown!("unknown command \"{word}\", and no such file. Did you mean \"{best}\"?"),
        None => shown!("unknown command \"{word}\", and no such file. `stepscope --help` lists the commands."),
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Arguments;

    fn ordered(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let ordered = commands_first(words, Arguments::command);
        ordered.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn flags_before_a_command_go_behind_it() {
        for (line, expected) in [
            ("stepscope --theme light check f", "stepscope check f"),
            ("stepscope --theme=light check f", "stepscope check f"),
            ("stepscope --config-dir d rerun f", "stepscope rerun --config-dir d f"),
            ("stepscope --format short check f", "stepscope check --format short f"),
            ("stepscope -j 2 check f", "stepscope check -j 2 f"),
            ("stepscope --document check check f", "stepscope check --document check f"),
            ("stepscope --nosuch check f", "stepscope check --nosuch f"),
            ("stepscope review --reviewer bob add f", "stepscope review add --reviewer bob f"),
            ("stepscope --theme light --reviewer bob review add f", "stepscope review add --reviewer bob f"),
            ("stepscope --theme light f check", "stepscope --theme light f check"),
            ("stepscope - check", "stepscope - check"),
            ("stepscope -- check f", "stepscope -- check f"),
            ("stepscope --queue check.jsonl", "stepscope --queue check.jsonl"),
            ("stepscope --theme", "stepscope --theme"),
        ] {
            assert_eq!(ordered(line), expected, "{line}");
        }
    }

    #[test]
    fn no_flag_takes_a_value_here_and_none_there() {
        let program = crate::cli::whole();
        let all = || {
            let commands = program.get_subcommands().flat_map(|one| std::iter::once(one).chain(one.get_subcommands()));
            std::iter::once(&program).chain(commands).flat_map(Command::get_arguments)
        };
        for arg in all().filter(|arg| arg.get_long().is_some()) {
            let same = |other: &&Arg| other.get_long() == arg.get_long();
            let takes = |arg: &Arg| arg.get_action().takes_values();
            assert!(all().filter(same).all(|other| takes(other) == takes(arg)), "--{}", arg.get_long().unwrap());
        }
    }
}
