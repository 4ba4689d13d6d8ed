//! Checks the kernel and the process's rights for the needs of the agent.

use super::load_options::cgroup_root;
use crate::kernel::assumptions::Part;
use crate::kernel::congestion::{ControlChoice, HsControl};
use crate::kernel::facts::{CAP_SYS_ADMIN, Facts, Types, effective_rights};
use serde::Serialize;

/// One thing that is needed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Name of the need.
    pub what: &'static str,
    /// True if the kernel has it.
    pub is_there: bool,
    /// Observation, or what to do about it.
    pub remark: String,
}

/// Rights by their numbers (capability.h): what loading and attaching takes.
const RIGHTS: [(u32, &str); 3] = [(12, "CAP_NET_ADMIN"), (38, "CAP_PERFMON"), (39, "CAP_BPF")];

/// Returns the reason why the agent cannot work here; `None` if it can, as far as can be seen
/// without loading.
pub fn refusal(choice: ControlChoice) -> Option<String> {
    first_missing(&required_findings(choice, &Facts::running()))
        .map(|why| format!("cannot work here: {why}"))
}

/// Returns the reason why first windows alone cannot work here; `None` if they can.
pub fn window_refusal() -> Option<String> {
    let missing = first_missing(&needed_for_windows(&Facts::running()));
    missing.map(|why| format!("cannot work here: {why}"))
}

/// Returns the first missing need, and why it is missing.
pub(crate) fn first_missing(findings: &[Finding]) -> Option<String> {
    let missing = findings.iter().find(|finding| !finding.is_there)?;
    Some(format!("no {}: {}", missing.what, missing.remark))
}

/// Returns all that is needed for a congestion control, there or not; nothing is loaded for it.
pub(crate) fn required_findings(choice: ControlChoice, facts: &Facts) -> Vec<Finding> {
    let mut needed = needed_for_windows(facts);
    needed.extend([
        struct_ops(facts),
        check_kernel_support(Part::Wrap, facts),
        check_basis(choice.required_control(), facts),
        lockdown(facts),
    ]);
    needed
}

/// Needs for first windows alone. Their program reads only what the kernel passes to it, so
/// lockdown does not matter.
pub(crate) fn needed_for_windows(facts: &Facts) -> Vec<Finding> {
    vec![
        check_rights(),
        types_of_kernel(facts),
        check_kernel_support(Part::Windows, facts),
        cgroups(),
    ]
}

/// Returns the optional features: the other congestion controls, and abilities of the kernel.
pub(crate) fn optional(choice: ControlChoice, facts: &Facts) -> Vec<Finding> {
    let Ok(types) = &facts.types else { return Vec::new() };
    let others = HsControl::ALL.into_iter().filter(|scheme| *scheme != choice.required_control());
    let mut found: Vec<_> = others.map(|scheme| check_basis(scheme, facts)).collect();
    found.push(check_handshake_counting(types));
    for finding in &mut found {
        if !finding.is_there {
            finding.remark = format!("not needed: {}", finding.remark);
        }
    }
    found
}

pub(crate) fn finding(what: &'static str, found: Result<String, String>) -> Finding {
    let is_there = found.is_ok();
    let (Ok(remark) | Err(remark)) = found;
    Finding { what, is_there, remark }
}

fn check_rights() -> Finding {
    finding("rights", missing_rights(effective_rights()))
}

/// Checks that the process has the capabilities of `mask`. CAP_SYS_ADMIN stands for all but
/// CAP_NET_ADMIN.
fn missing_rights(mask: u64) -> Result<String, String> {
    let has = |bit: u32| mask >> bit & 1 == 1 || (bit != 12 && mask >> CAP_SYS_ADMIN & 1 == 1);
    let missing: Vec<_> =
        RIGHTS.iter().filter(|(bit, _)| !has(*bit)).map(|(_, name)| *name).collect();
    match missing.as_slice() {
        [] => Ok("to load programs and attach them".to_owned()),
        names => Err(format!("run as root, or with {}", names.join(", "))),
    }
}

fn types_of_kernel(facts: &Facts) -> Finding {
    let found = facts.types.as_ref().map(|_| format!("of Linux {}", facts.release));
    finding("kernel types (BTF)", found.map_err(Clone::clone))
}

/// Checks that the kernel lets programs be a congestion control.
fn struct_ops(facts: &Facts) -> Finding {
    let has = |types: &Types| types.all.has_number("BPF_MAP_TYPE_STRUCT_OPS");
    let found = match facts.types.as_ref().is_ok_and(has) {
        true => Ok("programs may be a congestion control".to_owned()),
        false => Err("it came with Linux 5.6 (CONFIG_BPF_JIT, CONFIG_BPF_SYSCALL)".to_owned()),
    };
    finding("struct_ops for TCP", found)
}

/// Checks the fields, helpers, operations and kinds of maps that programs use.
fn check_kernel_support(part: Part, facts: &Facts) -> Finding {
    let what = match part {
        Part::Windows => "kernel support for first windows",
        _ => "kernel support for congestion controls",
    };
    let missing =
        facts.types.as_ref().map_or_else(|_| Vec::new(), |types| types.missing_needs(part));
    let found = match missing.as_slice() {
        [] => Ok("fields, helpers, maps".to_owned()),
        names => Err(format!("{} has no {}", facts.kernel(), names.join(", no "))),
    };
    finding(what, found)
}

/// Checks that the kernel has the congestion control on which this one is based.
fn check_basis(scheme: HsControl, facts: &Facts) -> Finding {
    let what = match scheme {
        HsControl::Cubic => "CUBIC to build upon",
        HsControl::Bbr => "BBR to build upon",
        HsControl::Session => "TCP to build upon",
    };
    finding(what, scheme.found_in(facts).map_err(|absence| absence.to_string()))
}

/// Checks that the kernel lets programs count pending handshakes.
fn check_handshake_counting(types: &Types) -> Finding {
    let found = match types.counts_handshakes() {
        true => Ok("connections that open at once share what is remembered".to_owned()),
        false => {
            Err("of connections that open at once the first takes what is remembered (Linux 6.2)"
                .to_owned())
        }
    };
    finding("counting of handshakes", found)
}

fn cgroups() -> Finding {
    let found = cgroup_root().map(|root| format!("mounted at {}", root.display()));
    let why = "not mounted (mount -t cgroup2 none /sys/fs/cgroup/unified)";
    finding("cgroups of version 2", found.ok_or_else(|| why.to_owned()))
}

/// Checks lockdown. `attend` reads the name of a socket's congestion control by
/// `bpf_probe_read_kernel`, which a kernel in `confidentiality` denies to all programs
/// (`bpf_base_func_proto` in the kernel's kernel/bpf/helpers.c, `LOCKDOWN_BPF_READ_KERNEL`). A
/// kernel in `integrity` forbids BPF to write to the memory of processes, which no program of ours
/// does. A kernel without the file knows no lockdown; a stricter one shows in the trial.
fn lockdown(facts: &Facts) -> Finding {
    let found = match facts.lockdown.as_str() {
        "confidentiality" => Err("lockdown is at confidentiality, which forbids it to programs; \
             at integrity (kernel parameter lockdown=integrity) they may"
            .to_owned()),
        mode => Ok(format!("lockdown is at {mode}")),
    };
    finding("reading of kernel memory (lockdown)", found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::btf::synthetic;
    use crate::kernel::facts::Places;
    use std::fs;
    use std::path::{Path, PathBuf};

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

    /// A folder of this test's, which goes with it.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("headstart-agent-check-{}-{name}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }

        /// A kernel that says so much of itself.
        fn facts(&self, types: &[u8], lockdown: &str) -> Facts {
            let (release, modes) = (self.0.join("release"), self.0.join("lockdown"));
            fs::write(self.0.join("vmlinux"), types).unwrap();
            fs::write(&release, "9.9\n").unwrap();
            fs::write(&modes, lockdown).unwrap();
            Facts::of(&Places { types: &self.0, lockdown: &modes, release: &release })
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn said_of_lockdown(modes: &str) -> Option<String> {
        let folder = Folder::new("lockdown");
        first_missing(&[lockdown(&folder.facts(&[], modes))])
    }

    #[test]
    fn lockdown_forbids_what_is_needed_at_confidentiality_alone() {
        assert_eq!(said_of_lockdown("[none] integrity confidentiality\n"), None);
        assert_eq!(said_of_lockdown("none [integrity] confidentiality\n"), None);
        let why = said_of_lockdown("none integrity [confidentiality]\n").expect("a refusal");
        let begins = "no reading of kernel memory (lockdown): lockdown is at confid";
        assert!(why.starts_with(begins), "{why}");
        let nowhere = Places { lockdown: Path::new("/nonexistent/lockdown"), ..Places::running() };
        let nowhere = lockdown(&Facts::of(&nowhere));
        assert!(nowhere.is_there);
        assert_eq!(nowhere.remark, "lockdown is at none");
    }

    #[test]
    fn lockdown_leaves_first_windows() {
        let folder = Folder::new("locked");
        let facts = folder.facts(&synthetic::complete(), "none integrity [confidentiality]");
        let missing = |findings: Vec<Finding>| {
            findings.iter().any(|found| found.what.contains("lockdown") && !found.is_there)
        };
        assert!(missing(required_findings(ControlChoice::Auto, &facts)));
        assert!(!missing(needed_for_windows(&facts)));
    }

    #[test]
    fn a_kernel_without_types_is_refused_by_that() {
        let nowhere = Places { types: Path::new("/nonexistent"), ..Places::running() };
        let facts = Facts::of(&nowhere);
        let why = first_missing(&[types_of_kernel(&facts)]).expect("a refusal");
        let expected =
            "no kernel types (BTF): /nonexistent/vmlinux is not there (CONFIG_DEBUG_INFO_BTF)";
        assert_eq!(why, expected);
        assert!(!struct_ops(&facts).is_there);
        assert!(optional(ControlChoice::Auto, &facts).is_empty());
    }

    /// Types of its own, `int`, and nothing else: they are read, and have it not.
    #[test]
    fn a_kernel_without_struct_ops_is_refused_by_that() {
        let folder = Folder::new("types");
        let facts = folder.facts(&synthetic::SyntheticTypes::default().bytes(), "");
        let why = first_missing(&[types_of_kernel(&facts), struct_ops(&facts)]);
        let why = why.expect("a refusal");
        assert!(why.starts_with("no struct_ops for TCP: it came with"), "{why}");
    }

    /// All assumptions as bytes of a kernel's types: nothing is missing, and a renamed item is
    /// named, once.
    #[test]
    fn what_a_kernel_renames_is_named_and_nothing_else_is_missing() {
        let folder = Folder::new("renamed");
        let missing = |types: &[u8]| -> Vec<String> {
            let facts = folder.facts(types, "[none]");
            let found = [
                required_findings(ControlChoice::Auto, &facts),
                optional(ControlChoice::Auto, &facts),
            ]
            .concat();
            // Whether the one that tests has rights, or cgroups, is not the kernel's.
            let of_kernel = |finding: &&Finding| {
                !finding.is_there && !["rights", "cgroups of version 2"].contains(&finding.what)
            };
            found.iter().filter(of_kernel).map(|finding| finding.remark.clone()).collect()
        };
        assert_eq!(missing(&synthetic::complete()), [""; 0]);
        let renamed = synthetic::kernel_without("tcp_reno_ssthresh");
        assert_eq!(
            missing(&renamed),
            ["not needed: this kernel (9.9) has no function tcp_reno_ssthresh"]
        );
        let renamed = synthetic::kernel_without("srtt_us");
        assert_eq!(missing(&renamed), ["this kernel (9.9) has no field tcp_sock.srtt_us"]);
        let renamed = synthetic::kernel_without("cubictcp_state");
        assert_eq!(missing(&renamed), ["this kernel (9.9) has no function cubictcp_state"]);
    }
}
