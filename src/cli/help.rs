//! The help of the whole program: a page by job for `-h`, and the same in sections for `--help`.

use std::ffi::OsString;

/// Output of `stepscope -h`.
pub(super) const SHORT: &str = "\
stepscope: debug, review and compare LLM runs in the terminal

  Look      stepscope [PATH]...              table, run, answer (no PATH: the sample runs)
            stepscope PATH --linear          line by line: screen readers, slow links
            stepscope show PATH --id ID      one record as text; export: as a page to send
            stepscope demo                   a tour of three minutes
  Check     stepscope check PATH...          findings with their exact place
            stepscope verify PATH...         score completions
  Compare   stepscope compare RUN BASELINE
  Review    stepscope PATH --queue           on the screen; review: in the shell
  Re-run    stepscope rerun PATH --step N    one step again; run: a procedure; create; repair; models
  Learn     stepscope rules | keys | schema | map | config | doctor | man | completions

Exit code: 0 fine, 1 findings, 2 could not be done, 3 no answer from a model server
`stepscope --help` and `stepscope COMMAND --help` say more.
";

/// Layout of `--help`.
pub(super) const TEMPLATE: &str = "\
{about}

Usage: stepscope [OPTIONS] [PATH]...
       stepscope COMMAND ...

Look:
  show         Print one record: question, steps, values, findings
  export       Write a record as a page to send
  demo         Show a tour of the program
Check:
  check        Check records and print findings with their exact place
  verify       Score completions with a verifier; print rewards as JSON lines
Compare and review:
  compare      Compare two runs of the same questions
  review       Add, list, export and compare reviews
Models:
  models       List local model servers and their models
  rerun        Re-run a step of a recorded run; print the fork
  run          Run a procedure against a model
  create       Create a procedure for a question, repair it and run it
  repair       Repair a procedure, with or without a model
Learn:
  rules        List the rules, or explain one with an example
  keys         Print the table of keys
  schema       Print a JSON Schema
  map          List the maps for files of other programs
  config       Print the settings in force and where each comes from
  doctor       Check terminal, folders and settings
  man          Print the manual page
  completions  Print shell completions

Exit codes:
  0  fine
  1  findings, failed items or regressions
  2  something could not be read, understood or done
  3  a model server failed, or a run ended early

{all-args}{after-help}";

/// Option for ASCII, which goes with every page.
pub(super) const ASCII: &str = "--ascii";

/// Tells whether the arguments ask for the short page alone.
pub(super) fn is_short(arguments: &[OsString]) -> bool {
    let mut flags = arguments.iter().skip(1).filter(|flag| *flag != ASCII);
    flags.next().is_some_and(|flag| flag == "-h") && flags.next().is_none()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn a_command_is_listed_with_the_first_line_of_its_help() {
        let whole = crate::cli::whole();
        for listed in crate::cli::Arguments::command().get_subcommands() {
            let about = |command: &clap::Command| command.get_about().map(ToString::to_string);
            let made = whole.find_subcommand(listed.get_name()).and_then(about);
            assert!(made.is_some() && about(listed) == made, "{}: {made:?}", listed.get_name());
        }
    }

    #[test]
    fn every_command_is_named_in_both() {
        let program = crate::cli::whole();
        for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
            let name = command.get_name();
            assert!(SHORT.contains(name), "-h does not name {name}");
            let line = TEMPLATE.lines().find_map(|line| line.strip_prefix(&format!("  {name} ")));
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let said = line.map(str::trim);
            assert!(said.is_some_and(|said| about.starts_with(said)), "--help of {name}: {said:?}, not {about}");
        }
        assert!(SHORT.lines().count() <= 15);
    }
}
