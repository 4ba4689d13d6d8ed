//! Continuations of a small command line, worked out by hand.

use super::*;
use clap::{Arg, ArgAction};

/// `prog [--path P] [-j N] [--list A,B] [--log[=FILE]] (run FILE... | shell -- COMMAND | agent)`.
fn program() -> Command {
    let list =
        Arg::new("list").long("list").value_delimiter(',').value_parser(["one", "other", "two"]);
    let log = Arg::new("log").long("log").num_args(0..=1).require_equals(true);
    let files = Arg::new("files").num_args(1..).action(ArgAction::Append);
    let command = Arg::new("command").last(true).num_args(1..);
    Command::new("prog")
        .arg(Arg::new("path").long("path").help("The path\nand more"))
        .arg(Arg::new("jobs").short('j').long("jobs"))
        .arg(Arg::new("quiet").short('q').action(ArgAction::SetTrue))
        .args([list, log])
        .subcommand(Command::new("run").about("Runs").arg(files.value_hint(ValueHint::FilePath)))
        .subcommand(Command::new("shell").arg(command.value_hint(ValueHint::CommandWithArguments)))
        .subcommand(Command::new("hidden").hide(true))
}

/// Values of options called `path`: `a,b` and `a,c`, behind a comma.
fn source(asked: &Asked<'_>) -> Option<Completion> {
    let comma = asked.typed.find(',').map_or(0, |at| at + 1);
    let last = [Candidate::whole("b", "a b"), Candidate::open("c", "")];
    let is_path = asked.argument == "path";
    let all = if comma > 0 { last.to_vec() } else { vec![Candidate::open("a,", "")] };
    is_path.then(|| Completion::of(all).behind(comma))
}

fn after(line: &str) -> Completion {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    complete(program(), &words, &source)
}

/// The words that may come next.
fn texts(line: &str) -> Vec<String> {
    after(line).candidates.into_iter().map(|candidate| candidate.text.into_owned()).collect()
}

#[test]
fn names_are_clap_s() {
    assert_eq!(texts("r"), ["run"]);
    assert_eq!(texts(""), ["run", "shell", "help"]);
    assert_eq!(texts("--pa"), ["--path"]);
    assert_eq!(after("--pa").candidates[0].about, "The path");
    // One that may have its value behind a sign alone is offered in both forms.
    assert_eq!(texts("--lo"), ["--log", "--log="]);
    // An option that was given is not offered again.
    assert_eq!(texts("--path a,b --pa"), [""; 0]);
}

#[test]
fn values_are_the_program_s_or_clap_s() {
    for line in ["--path ", "--path=", "-q --path ", "-j 3 --path ", "-qj3 --path "] {
        assert_eq!(texts(line), ["a,"], "{line}");
    }
    let second = after("--path=a,");
    // `--path=` and `a,` stay.
    assert_eq!((second.settled, second.candidates.len()), (9, 2));
    assert_eq!(texts("--list o"), ["one", "other"]);
    // An element that is there is not offered again.
    assert_eq!(texts("--list one,"), ["other", "two"]);
    assert_eq!(after("--list one,t").settled, 4);
}

#[test]
fn a_value_is_no_word() {
    // `run` is the value of an option, then the subcommand.
    assert_eq!(after("--path run").files, None);
    assert_eq!(after("-j run r").candidates[0].text, "run");
    assert_eq!(after("--log run ").files, Some(FilesOffered::Ending(&[])));
    assert_eq!(after("run a b ").files, Some(FilesOffered::Ending(&[])));
}

#[test]
fn behind_dashes_comes_a_command_and_then_what_it_takes() {
    assert_eq!(after("shell -- ").files, Some(FilesOffered::Programs));
    assert_eq!(after("shell -- cat -").files, Some(FilesOffered::Ending(&[])));
}

fn answered(shell: Shell, arguments: &[&str]) -> String {
    let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
    answer(shell, program(), &arguments, &source)
}

#[test]
fn bash_gets_what_stands_behind_its_last_break() {
    let breaks = " \t\n\"'><=;|&(:";
    let line = |line: &str| answered(Shell::Bash, &[line, breaks]);
    assert_eq!(line("prog --path a,"), "nospace\nnone\na,b\na,c\n");
    assert_eq!(line("prog --path=a,b"), "space\nnone\na,b\n");
    assert_eq!(line("prog  \"--path\" 'a,'b"), "space\nnone\na,b\n");
    assert_eq!(line("prog run my\\ file"), "space\nfiles\n");
    assert_eq!(line(""), "space\nnone\n");
}

#[test]
fn zsh_and_fish_get_what_words_are() {
    assert_eq!(answered(Shell::Zsh, &["--path", "a,"]), "2\nnone\nwhole b:a b\nopen c:\n");
    assert_eq!(answered(Shell::Fish, &["--path", "a,"]), "a,\nnone\na,b\ta b\na,c\t\n");
}

/// `headstart agent` hands the whole line on.
#[test]
fn a_program_of_two_words_takes_its_second_for_its_own() {
    let program = Command::new("prog agent").subcommand(Command::new("check"));
    let arguments = ["agent".to_owned(), "ch".to_owned()];
    let answer = answer(Shell::Fish, program, &arguments, &|_| None);
    assert_eq!(answer, "\nnone\ncheck\t\n");
}
