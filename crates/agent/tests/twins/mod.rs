//! Headers of `bpf/` compiled for this machine.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the C program prints that reads `input`; `None`, having said so, without a C compiler.
pub(crate) fn run(name: &str, program: &str, input: String) -> Option<String> {
    let program = compiled(Path::new(env!("CARGO_TARGET_TMPDIR")), name, program)?;
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feed = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    feed.join().unwrap().unwrap();
    assert!(output.status.success());
    Some(String::from_utf8(output.stdout).unwrap())
}

fn compiled(directory: &Path, name: &str, text: &str) -> Option<PathBuf> {
    let (source, program) = (directory.join(format!("{name}.c")), directory.join(name));
    std::fs::write(&source, text).unwrap();
    let header = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/bpf");
    let mut cc = Command::new("cc");
    // Overflow of what is signed, a shift too far or a division by zero would end it.
    cc.args(["-O2", "-Wall", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover", header]);
    match cc.arg(&source).arg("-o").arg(&program).status() {
        Ok(status) => {
            assert!(status.success(), "{name} does not compile");
            Some(program)
        }
        Err(error) => {
            eprintln!("skipped: no C compiler ({error})");
            None
        }
    }
}
