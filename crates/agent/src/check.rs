//! What of the kernel and of our rights the agent needs, and whether it is there.

use crate::load::cgroup_root;
use crate::schemes::{Choice, Scheme};
use libbpf_rs::btf::{Btf, types};
use serde::Serialize;
use std::fs;
use std::path::Path;

/// One thing that is needed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What.
    pub what: &'static str,
    /// Whether it is there.
    pub is_there: bool,
    /// What was seen, or what to do about it.
    pub remark: String,
}

/// Where the kernel says what it has and allows; tests have kernels of their own.
struct Kernel<'a> {
    /// Its types (BTF).
    types: &'a Path,
    /// How far it is locked down (kernel_lockdown(7)).
    lockdown: &'a Path,
}

impl Kernel<'static> {
    /// The one that runs.
    fn running() -> Self {
        Self {
            types: Path::new("/sys/kernel/btf/vmlinux"),
            lockdown: Path::new("/sys/kernel/security/lockdown"),
        }
    }
}

/// Rights by their numbers (capability.h): what loading and attaching takes.
const RIGHTS: [(u32, &str); 3] = [(12, "CAP_NET_ADMIN"), (38, "CAP_PERFMON"), (39, "CAP_BPF")];
const CAP_SYS_ADMIN: u32 = 21;

/// Why the agent cannot work here; `None` if it can, as far as can be seen without loading.
pub fn refusal(choice: Choice) -> Option<String> {
    first_missing(needed(choice, &Kernel::running()))
}

/// The same of first windows alone.
pub fn window_refusal() -> Option<String> {
    first_missing(needed_for_windows(&Kernel::running()))
}

fn first_missing(findings: Vec<Finding>) -> Option<String> {
    let missing = findings.into_iter().find(|finding| !finding.is_there)?;
    Some(format!("cannot work here: no {}: {}", missing.what, missing.remark))
}

/// All that is needed for a congestion control, there or not; nothing is loaded for it.
pub fn findings(choice: Choice) -> Vec<Finding> {
    needed(choice, &Kernel::running())
}

fn needed(choice: Choice, kernel: &Kernel<'_>) -> Vec<Finding> {
    let (types, lockdown) = (types_of_kernel(kernel.types), lockdown(kernel.lockdown));
    vec![rights(), types, struct_ops(kernel.types), upon(choice.needs()), cgroups(), lockdown]
}

/// Its program reads what the kernel shows it and nothing else, so lockdown is nothing to it.
fn needed_for_windows(kernel: &Kernel<'_>) -> Vec<Finding> {
    vec![rights(), types_of_kernel(kernel.types), cgroups()]
}

pub(crate) fn finding(what: &'static str, found: Result<String, String>) -> Finding {
    let is_there = found.is_ok();
    let (Ok(remark) | Err(remark)) = found;
    Finding { what, is_there, remark }
}

fn rights() -> Finding {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    finding("rights", missing_rights(mask))
}

fn missing_rights(mask: u64) -> Result<String, String> {
    let has = |bit: u32| mask >> bit & 1 == 1 || (bit != 12 && mask >> CAP_SYS_ADMIN & 1 == 1);
    let missing: Vec<_> =
        RIGHTS.iter().filter(|(bit, _)| !has(*bit)).map(|(_, name)| *name).collect();
    match missing.as_slice() {
        [] => Ok("to load programs and attach them".to_owned()),
        names => Err(format!("run as root, or with {}", names.join(", "))),
    }
}

fn types_of_kernel(types: &Path) -> Finding {
    let name = types.display();
    let found = match types.exists() {
        true => Ok(format!("in {name}")),
        false => Err(format!("{name} is not there (CONFIG_DEBUG_INFO_BTF)")),
    };
    finding("kernel types (BTF)", found)
}

fn struct_ops(types: &Path) -> Finding {
    let name = "bpf_struct_ops_tcp_congestion_ops";
    let found = Btf::from_path(types)
        .ok()
        .and_then(|btf| btf.type_by_name::<types::Struct<'_>>(name).map(|_| ()));
    let found = found.map(|()| "programs may be a congestion control".to_owned());
    let why = "it came with Linux 5.6 (CONFIG_BPF_JIT, CONFIG_BPF_SYSCALL)";
    finding("struct_ops for TCP", found.ok_or_else(|| why.to_owned()))
}

fn upon(scheme: Scheme) -> Finding {
    let what = match scheme {
        Scheme::Cubic => "CUBIC to build upon",
        Scheme::Bbr => "BBR to build upon",
        Scheme::Session => "TCP to build upon",
    };
    finding(what, scheme.found())
}

fn cgroups() -> Finding {
    let found = cgroup_root().map(|root| format!("mounted at {}", root.display()));
    let why = "not mounted (mount -t cgroup2 none /sys/fs/cgroup/unified)";
    finding("cgroups of version 2", found.ok_or_else(|| why.to_owned()))
}

/// `attend` asks for the name of a socket's congestion control by `bpf_probe_read_kernel`, which a kernel in `confidentiality` gives
/// to no program (`bpf_base_func_proto` in the kernel's kernel/bpf/helpers.c, `LOCKDOWN_BPF_READ_KERNEL`). What `integrity`
/// forbids of BPF, to write to the memory of processes, no program of ours does. A kernel without the file knows no
/// lockdown; one that goes further shows in the trial.
fn lockdown(file: &Path) -> Finding {
    let modes = fs::read_to_string(file).unwrap_or_default();
    let found = match modes.split(['[', ']']).nth(1) {
        Some("confidentiality") => {
            Err("lockdown is at confidentiality, which forbids it to programs; \
             at integrity (kernel parameter lockdown=integrity) they may"
                .to_owned())
        }
        mode => Ok(format!("lockdown is at {}", mode.unwrap_or("none"))),
    };
    finding("reading of kernel memory (lockdown)", found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn what_is_missing_is_named() {
        assert!(missing_rights(u64::MAX).is_ok());
        // CAP_SYS_ADMIN stands for the newer two, not for CAP_NET_ADMIN.
        assert_eq!(
            missing_rights(1 << CAP_SYS_ADMIN).unwrap_err(),
            "run as root, or with CAP_NET_ADMIN"
        );
        let none = missing_rights(0).unwrap_err();
        assert_eq!(none, "run as root, or with CAP_NET_ADMIN, CAP_PERFMON, CAP_BPF");
    }

    /// A file of this test's that holds so much.
    fn file(name: &str, bytes: &[u8]) -> PathBuf {
        let name = format!("headstart-agent-check-{}-{name}", std::process::id());
        let file = std::env::temp_dir().join(name);
        fs::write(&file, bytes).unwrap();
        file
    }

    fn said_of_lockdown(modes: &str) -> Option<String> {
        let file = file("lockdown", modes.as_bytes());
        let said = first_missing(vec![lockdown(&file)]);
        fs::remove_file(file).unwrap();
        said
    }

    #[test]
    fn lockdown_forbids_what_is_needed_at_confidentiality_alone() {
        assert_eq!(said_of_lockdown("[none] integrity confidentiality\n"), None);
        assert_eq!(said_of_lockdown("none [integrity] confidentiality\n"), None);
        let why = said_of_lockdown("none integrity [confidentiality]\n").expect("a refusal");
        let begins =
            "cannot work here: no reading of kernel memory (lockdown): lockdown is at confid";
        assert!(why.starts_with(begins), "{why}");
        let nowhere = lockdown(Path::new("/nonexistent/lockdown"));
        assert!(nowhere.is_there);
        assert_eq!(nowhere.remark, "lockdown is at none");
    }

    #[test]
    fn lockdown_leaves_first_windows() {
        let file = file("locked", b"none integrity [confidentiality]");
        let kernel = Kernel { lockdown: &file, ..Kernel::running() };
        let missing = |findings: Vec<Finding>| {
            findings.iter().any(|found| found.what.contains("lockdown") && !found.is_there)
        };
        assert!(missing(needed(Choice::Auto, &kernel)));
        assert!(!missing(needed_for_windows(&kernel)));
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn a_kernel_without_types_is_refused_by_that() {
        let nowhere = Path::new("/nonexistent/vmlinux");
        let why = first_missing(vec![types_of_kernel(nowhere)]).expect("a refusal");
        let expected = "cannot work here: no kernel types (BTF): /nonexistent/vmlinux is not there (CONFIG_DEBUG_INFO_BTF)";
        assert_eq!(why, expected);
        assert!(!struct_ops(nowhere).is_there);
    }

    /// A type of its own, `int`, and nothing else (the kernel's Documentation/bpf/btf.rst).
    fn types_without_struct_ops() -> Vec<u8> {
        const INT: u32 = 1 << 24;
        let strings = b"\0int\0";
        // Magic, version 1, no flags; lengths: of the header, the types from 0 on, the strings behind them.
        let magic = [0xeb9f_u16.to_ne_bytes(), [1, 0]].concat();
        let header = [24, 0, 16, 16, strings.len() as u32];
        // The name's place, the kind, bytes, bits.
        let int = [1, INT, 4, 32];
        let words = header.into_iter().chain(int).flat_map(u32::to_ne_bytes);
        magic.into_iter().chain(words).chain(*strings).collect()
    }

    #[test]
    fn a_kernel_without_struct_ops_is_refused_by_that() {
        let file = file("types", &types_without_struct_ops());
        // They are read, and have it not.
        let types = Btf::from_path(&file).unwrap();
        assert!(types.type_by_name::<types::Int<'_>>("int").is_some());
        let why = first_missing(vec![types_of_kernel(&file), struct_ops(&file)]);
        fs::remove_file(&file).unwrap();
        let why = why.expect("a refusal");
        assert!(why.starts_with("cannot work here: no struct_ops for TCP: it came with"), "{why}");
    }
}
