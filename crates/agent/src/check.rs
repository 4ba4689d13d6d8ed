//! What of the kernel and of our rights the agent needs, and whether it is there.

use crate::kernel::{Load, cgroup_root};
use crate::mode;
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

const VMLINUX: &str = "/sys/kernel/btf/vmlinux";
const LOCKDOWN: &str = "/sys/kernel/security/lockdown";
/// Rights by their numbers (capability.h): what loading and attaching takes.
const RIGHTS: [(u32, &str); 3] = [(12, "CAP_NET_ADMIN"), (38, "CAP_PERFMON"), (39, "CAP_BPF")];
const CAP_SYS_ADMIN: u32 = 21;

/// Looks at everything; loads the programs to see whether the kernel takes them, and lets them go. The last finding is
/// whether the agent can work, and how.
pub fn all(load: &Load) -> Vec<Finding> {
    let mut findings = needed(load.settings.control);
    findings.push(lockdown());
    findings.push(trial(load));
    findings
}

/// Why the agent cannot work here; `None` if it can, as far as can be seen without loading.
pub fn refusal(choice: Choice) -> Option<String> {
    first_missing(needed(choice))
}

/// The same of first windows alone.
pub fn window_refusal() -> Option<String> {
    first_missing(vec![rights(), types_of_kernel(), cgroups()])
}

fn first_missing(findings: Vec<Finding>) -> Option<String> {
    let missing = findings.into_iter().find(|finding| !finding.is_there)?;
    Some(format!("cannot work here: no {}: {}", missing.what, missing.remark))
}

fn needed(choice: Choice) -> Vec<Finding> {
    let upon = upon(choice.needs());
    vec![rights(), types_of_kernel(), struct_ops(), upon, cgroups()]
}

fn finding(what: &'static str, found: Result<String, String>) -> Finding {
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

fn types_of_kernel() -> Finding {
    let found = match Path::new(VMLINUX).exists() {
        true => Ok(format!("in {VMLINUX}")),
        false => Err(format!("{VMLINUX} is not there (CONFIG_DEBUG_INFO_BTF)")),
    };
    finding("kernel types (BTF)", found)
}

fn struct_ops() -> Finding {
    let name = "bpf_struct_ops_tcp_congestion_ops";
    let found = Btf::from_vmlinux()
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

/// Lockdown by itself forbids nothing that is needed; a kernel that goes further shows in the trial.
fn lockdown() -> Finding {
    let mode = fs::read_to_string(LOCKDOWN).unwrap_or_default();
    let mode = mode.split(['[', ']']).nth(1).unwrap_or("none");
    finding("lockdown", Ok(mode.to_owned()))
}

fn trial(load: &Load) -> Finding {
    let found = match mode::load(load) {
        Ok((loaded, None)) => {
            Ok(format!("mode {}; the kernel takes them, they are gone again", loaded.mode()))
        }
        Ok((loaded, Some(why))) => Ok(format!("mode {} alone: {why}", loaded.mode())),
        // The verifier's reasons are long; whoever starts the agent gets them all.
        Err(why) => Err(why.lines().next().unwrap_or_default().to_owned()),
    };
    finding("programs", found)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
