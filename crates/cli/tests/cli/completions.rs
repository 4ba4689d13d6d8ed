//! Completion in the shells themselves: what a user has typed, and what Tab makes of it.

use crate::run::{folder, other, root, stdout};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use test_support::Need;

/// Text typed before Tab, and its only continuation. The last column is what follows: a space,
/// unless the word may go on itself.
const TYPED: &[(&str, &str, &str)] = &[
    ("headstart ra", "ce", " "),
    ("headstart race --path-pre", "set", " "),
    ("headstart race --path-preset cab", "le", " "),
    ("headstart race jav", "a", " "),
    ("headstart race pages/art", "icle.har", " "),
    ("headstart race --schemes linux,newreno-n", "ssr", ""),
    ("headstart race --schemes linux,newreno+rto_mi", "n=", ""),
    ("headstart race --schemes linux+startup=jum", "p-start", ""),
    ("headstart race --schemes=linux+startup=jum", "p-start", ""),
    ("headstart race --on sim,ker", "nel", ""),
    ("headstart race --path 20mbit,80ms,100p,fq", "_codel", ""),
    ("headstart lab --vers", "ion", " "),
    ("headstart lab sim plans/examples/dum", "bbell.toml", " "),
    ("headstart lab sim --example parki", "ng-lot", " "),
    ("headstart lab papers FS-1 SES-3", "", " "),
    ("headstart lab check ns2 --suite fas", "t-start", " "),
];

/// Lines of [`TYPED`]; those of the lab only where its program is built.
fn typed() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    let has_lab = other("headstart-lab").is_some();
    TYPED.iter().filter(move |(typed, ..)| has_lab || !typed.starts_with("headstart lab"))
}

/// `PATH` with this build's program first.
fn path() -> OsString {
    let own = Path::new(env!("CARGO_BIN_EXE_headstart")).parent().unwrap().to_owned();
    let others = env::var_os("PATH").unwrap_or_default();
    env::join_paths([own].into_iter().chain(env::split_paths(&others))).unwrap()
}

/// Output of a script for this shell; `None`, with a note, without the shell.
fn shell(name: &str, arguments: &[&str], script: &str) -> Option<String> {
    let file = folder(&format!("completions-{name}")).join("script");
    fs::write(&file, script).unwrap();
    let mut shell = Command::new(name);
    shell.args(arguments).arg(&file).current_dir(root()).env("PATH", path());
    if !test_support::has(&[Need::Program(name)]) {
        return None;
    }
    let output = shell.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(errors, "", "{name}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Checks the continuation of each typed line, by its number.
#[track_caller]
fn follows(out: &str, expected: impl Fn(&str, &str, &str) -> String) {
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), typed().count(), "{out}");
    for (line, (typed, rest, space)) in lines.iter().zip(typed()) {
        assert_eq!(*line, expected(typed, rest, space), "{typed}");
    }
}

/// bash splits words at `=` and `:` and replaces what stands behind: `$2` is that part. Its own
/// functions cannot be asked without a terminal, so this calls ours as bash does.
#[test]
fn bash() {
    let mut script = stdout(&["completions", "bash"]);
    script += "
        compopt() { [[ $2 == nospace ]] && space=; }
        COMP_WORDBREAKS=$' \\t\\n\"\\'><=;|&(:'
        try() {
            COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=() space=' '
            part=${1##*[ =]}
            _headstart headstart \"$part\"
            echo \"${#COMPREPLY[@]} ${1%\"$part\"}${COMPREPLY[0]}$space|\"
        }
    ";
    for (typed, ..) in typed() {
        script += &format!("try '{typed}'\n");
    }
    let Some(out) = shell("bash", &["--norc"], &script) else { return };
    follows(&out, |typed, rest, space| format!("1 {typed}{rest}{space}|"));
}

/// A second zsh in a terminal of its own gets the keys, and says what its line has become.
#[test]
fn zsh() {
    let file = folder("completions-of-zsh").join("_headstart");
    fs::write(&file, stdout(&["completions", "zsh"])).unwrap();
    let mut script = format!(
        "zmodload zsh/zpty
        zpty shell zsh -f -i
        ask() {{ zpty -n -w shell $1; zpty -r shell out \"*$2*\" }}
        tell() {{ ask $1$'\\n' 'told[[:space:]]' }}
        tell 'PS1=; stty -echo; unsetopt zle_bracketed_paste; TERM=dumb; autoload -U compinit; compinit -u -D; print to''ld'
        tell 'show() {{ zle -I; print -r -- \"<<$BUFFER|>>\"; zle kill-whole-line }}; print to''ld'
        tell 'zle -N show; bindkey \"^X\" show; source {}; print to''ld'
        try() {{ ask $1$'\\t\\x18' '>>'; out=${{out##*<<}}; print -r -- ${{out%%>>*}} }}
        ",
        file.display()
    );
    for (typed, ..) in typed() {
        script += &format!("try '{typed}'\n");
    }
    let Some(out) = shell("zsh", &["-f"], &script) else { return };
    follows(&out, |typed, rest, space| format!("{typed}{rest}{space}|"));
}

/// fish says itself what it would complete, as whole words.
#[test]
fn fish() {
    let mut script = stdout(&["completions", "fish"]);
    for (typed, ..) in typed() {
        script += &format!("echo (complete -C '{typed}' | string replace -r '\\t.*' '')\n");
    }
    let Some(out) = shell("fish", &["--no-config"], &script) else { return };
    follows(&out, |typed, rest, _| {
        let word = typed.rsplit(' ').next().unwrap();
        format!("{word}{rest}")
    });
}
