//! Compiles headers of `bpf/` for this machine, and compares their results with Rust.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRng, TestRunner};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use test_support::Need;

/// Definitions that headers assume, and that a program needs to read and print numbers.
const PREAMBLE: &str = "\
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
typedef uint64_t u64;
typedef uint32_t u32;
typedef uint8_t u8;
";

/// Rows that a strategy draws, the same in every run.
pub(crate) fn rows<S: Strategy>(count: usize, strategy: &S) -> Vec<S::Value> {
    let algorithm = Config::default().rng_algorithm;
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(algorithm));
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

/// Checks that `main`, a function of C, prints for each row of numbers that it reads the same as
/// `in_rust` returns, both in the rows' order. `header` is one of `bpf/`, by its name. Without a C
/// compiler it notes that and returns.
pub(crate) fn assert_same<const N: usize>(
    (header, main): (&str, &str),
    rows: &[[u64; N]],
    mut in_rust: impl FnMut([u64; N]) -> String,
) {
    let program = format!("#include \"{header}.h\"\n{main}");
    let Some(answers) = answers(header, &program, rows) else { return };
    for (n, (row, in_c)) in rows.iter().zip(answers).enumerate() {
        assert_eq!(in_c, in_rust(*row), "row {n}: {row:?}");
    }
}

/// Answers of a C program, called `name`, to each row of numbers that it reads. `None`, with a
/// note, without a C compiler.
pub(crate) fn answers<const N: usize>(
    name: &str,
    program: &str,
    rows: &[[u64; N]],
) -> Option<Vec<String>> {
    let input = rows.iter().map(|row| line(row)).collect();
    let output = answer(name, &format!("{PREAMBLE}{program}"), input)?;
    assert_eq!(output.lines().count(), rows.len());
    Some(output.lines().map(str::to_owned).collect())
}

fn line(row: &[u64]) -> String {
    let numbers: Vec<String> = row.iter().map(u64::to_string).collect();
    numbers.join(" ") + "\n"
}

/// Output of the C program that reads `input`; `None`, with a note, without a C compiler.
fn answer(name: &str, program: &str, input: String) -> Option<String> {
    let program = compiled(Path::new(env!("CARGO_TARGET_TMPDIR")), name, program)?;
    Some(String::from_utf8(run(&program, input.into_bytes())).unwrap())
}

/// Output of `program`, which reads `input`.
pub(crate) fn run(program: &Path, input: Vec<u8>) -> Vec<u8> {
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feed = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    feed.join().unwrap().unwrap();
    assert!(output.status.success());
    output.stdout
}

fn compiled(directory: &Path, name: &str, text: &str) -> Option<PathBuf> {
    let source = directory.join(format!("{name}.c"));
    std::fs::write(&source, text).unwrap();
    compiled_file(&source, name, &[Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf")])
}

/// Compiles `source`, whose headers lie in `folders`, as the program `name`. Without a C
/// compiler it prints that, and `None`.
pub(crate) fn compiled_file(source: &Path, name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut cc = Command::new("cc");
    // Overflow of what is signed, a shift too far or a division by zero would end it.
    cc.args(["-O2", "-Wall", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover"]);
    // The programs are written for clang.
    cc.args(["-Wno-unknown-pragmas", "-Wno-parentheses"]);
    if !test_support::has(&[Need::Program("cc")]) {
        return None;
    }
    cc.args(folders.iter().map(|folder| format!("-I{}", folder.display())));
    let status = cc.arg(source).arg("-o").arg(&program).status().unwrap();
    assert!(status.success(), "{name} does not compile");
    Some(program)
}
