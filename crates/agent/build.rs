//! Compiles the programs for the kernel with clang, into an object that the binary carries.

use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::{env, fs};

/// The agent's programs, and three objects for tests: a baseline, a program that fills the memory,
/// and other programs beside the agent.
const SOURCES: [(&str, &str); 4] = [
    ("bpf/agent.bpf.c", "agent.bpf.o"),
    ("tests/plain.bpf.c", "plain.bpf.o"),
    ("tests/scan.bpf.c", "scan.bpf.o"),
    ("tests/beside.bpf.c", "beside.bpf.o"),
];
const NEEDS: &str = "crate headstart-agent compiles programs for the Linux kernel and needs clang (10 or later), \
     libelf, zlib and pkg-config. On Debian and its kin: \
     apt-get install clang libelf-dev zlib1g-dev pkg-config";

#[allow(missing_docs)]
mod layout {
    include!("src/contract/layout.rs");
}

fn main() {
    println!("cargo:rerun-if-changed=src/contract/layout.rs");
    println!("cargo:rerun-if-changed=bpf");
    println!("cargo:rerun-if-changed=include");
    println!("cargo:rerun-if-changed=tests/plain.bpf.c");
    println!("cargo:rerun-if-changed=tests/scan.bpf.c");
    println!("cargo:rerun-if-changed=tests/beside.bpf.c");
    println!("cargo:rerun-if-env-changed=CLANG");
    let compiled = check_contract()
        .and_then(|()| SOURCES.iter().try_for_each(|(source, object)| compile(source, object)));
    if let Err(why) = compiled {
        // Cargo shows one line of a failing build script: the one that is printed here.
        eprintln!("{why}\n{NEEDS}");
        exit(1);
    }
}

fn compile(source: &str, object: &str) -> Result<(), String> {
    let headers = env::var("DEP_BPF_INCLUDE").map_err(|_| "crate libbpf-sys named no headers")?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?).join(object);
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let status = Command::new(&clang)
        .args(["-target", "bpf", "-O2", "-g", "-Wall", "-Wextra", "-Werror"])
        // Atomics that return what was there (Linux 5.12), and words of 32 bits.
        .arg("-mcpu=v3")
        // Headers of the compiler's own, none of a C library.
        .arg("-ffreestanding")
        // libbpf's macros give every program a context, used or not.
        .arg("-Wno-unused-parameter")
        // The only architecture in a header of libbpf that we use none of; it wants to know one.
        .arg(format!("-D__TARGET_ARCH_{}", architecture()))
        .arg(format!("-I{headers}"))
        .arg("-Iinclude")
        .arg("-Ibpf")
        // Keeps the build directory out of the object.
        .arg(format!("-fdebug-prefix-map={}=.", working_directory().display()))
        .args(["-c", source, "-o"])
        .arg(&out)
        .status()
        .map_err(|error| format!("cannot run {clang}: {error}"))?;
    if !status.success() {
        return Err(format!("{clang} did not compile {source}"));
    }
    strip_debug_info(&out);
    Ok(())
}

/// Has clang check each line of `src/contract/layout.rs` against `bpf/contract.h`.
fn check_contract() -> Result<(), String> {
    use std::fmt::Write;
    let mut text = "#include \"kernel.h\"\n#include \"contract.h\"\n".to_owned();
    for layout::Field { of, name, at, size } in layout::FIELDS {
        let (is_at, is_long) = match name {
            "" => ("0".to_owned(), format!("sizeof(struct {of})")),
            _ => {
                let offset = format!("__builtin_offsetof(struct {of}, {name})");
                (offset, format!("sizeof(((struct {of} *)0)->{name})"))
            }
        };
        let says = format!("{of}.{name} of contract.h is not as src/contract/layout.rs has it");
        let _ =
            writeln!(text, "_Static_assert({is_at} == {at} && {is_long} == {size}, \"{says}\");");
    }
    for (name, value) in layout::CONSTANTS {
        let says = format!("{name} of contract.h is not as src/contract/layout.rs has it");
        let _ = writeln!(text, "_Static_assert({name} == {value}, \"{says}\");");
    }
    // Fields of the header that the table does not have: each struct's add up to all of it.
    for whole in layout::FIELDS.iter().filter(|field| field.name.is_empty()) {
        let parts = layout::FIELDS.iter().filter(|field| field.of == whole.of);
        let sum: usize = parts.filter(|field| !field.name.is_empty()).map(|field| field.size).sum();
        if sum != whole.size {
            return Err(format!(
                "src/contract/layout.rs: {} has {} bytes, its fields {sum}",
                whole.of, whole.size
            ));
        }
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    let source = out.join("contract.check.c");
    fs::write(&source, text)
        .map_err(|error| format!("cannot write {}: {error}", source.display()))?;
    compile(&source.to_string_lossy(), "contract.check.o")
}

fn working_directory() -> PathBuf {
    env::current_dir().unwrap_or_default()
}

/// Name of the architecture in libbpf's headers.
fn architecture() -> &'static str {
    match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("aarch64") => "arm64",
        Ok("riscv64") => "riscv",
        Ok("s390x") => "s390",
        Ok("powerpc64") => "powerpc",
        _ => "x86",
    }
}

/// Takes DWARF out, which only makes the object larger; BTF stays. Without the tool it stays large.
fn strip_debug_info(object: &Path) {
    let stripped = object.with_extension("stripped");
    let done = Command::new("llvm-strip").arg("-g").arg("-o").arg(&stripped).arg(object).status();
    if done.is_ok_and(|status| status.success()) {
        let _ = fs::rename(&stripped, object);
    }
}
