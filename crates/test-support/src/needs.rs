//! Needs of tests. Files, rights and programs of the machine decide whether a test is skipped.
//! The program under test does not decide it: its faults would pass as skips.

use crate::skipped;
use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;

/// Something that a machine may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need<'a> {
    /// A program in `PATH`.
    Program(&'a str),
    /// A file, a folder or a device.
    File(&'a str),
    /// The right to packet sockets: `CAP_NET_RAW`.
    PacketSockets,
    /// The right to network namespaces and to mounts in them: `CAP_NET_ADMIN` and `CAP_SYS_ADMIN`.
    Namespaces,
    /// The right to TUN devices, and `/dev/net/tun`.
    Tun,
    /// Control groups of version 2, mounted.
    Cgroups,
    /// A kernel that lets programs read its memory: lockdown's level `confidentiality` forbids it.
    KernelMemory,
    /// A congestion control of the kernel, built in, loaded, or to be loaded as a module.
    CongestionControl(&'a str),
}

/// Numbers of capabilities (`linux/capability.h`).
const NET_ADMIN: Right = Right { bit: 12, name: "CAP_NET_ADMIN" };
const NET_RAW: Right = Right { bit: 13, name: "CAP_NET_RAW" };
const SYS_ADMIN: Right = Right { bit: 21, name: "CAP_SYS_ADMIN" };

#[derive(Clone, Copy)]
struct Right {
    bit: u32,
    name: &'static str,
}

/// Needs of tests of real packets: a link between two namespaces.
pub const EMULATION: [Need<'static>; 2] = [Need::Namespaces, Need::Tun];

/// Needs of tests that start an agent for a server behind an emulated link.
pub const AGENT: [Need<'static>; 5] = [
    Need::Namespaces,
    Need::Tun,
    Need::File("/sys/kernel/btf/vmlinux"),
    Need::Cgroups,
    Need::KernelMemory,
];

/// True if the machine has all of `needs`. If it lacks one, the test is [`skipped`] for it.
pub fn has(needs: &[Need<'_>]) -> bool {
    let lacking = needs.iter().find_map(|need| need.lacking());
    if let Some(why) = &lacking {
        skipped(why);
    }
    lacking.is_none()
}

impl Need<'_> {
    /// Says what the machine lacks for it.
    fn lacking(self) -> Option<String> {
        match self {
            Self::Program(name) => {
                let path = env::var_os("PATH").unwrap_or_default();
                (!is_program(&path, name)).then(|| format!("no {name} in PATH"))
            }
            Self::File(path) => (!Path::new(path).exists()).then(|| format!("no {path}")),
            Self::PacketSockets => lacking_right(&[NET_RAW]),
            Self::Namespaces => lacking_right(&[NET_ADMIN, SYS_ADMIN]),
            Self::Tun => {
                let device = || File::options().read(true).write(true).open("/dev/net/tun");
                let is_there = || device().is_err().then(|| "no TUN devices".to_owned());
                lacking_right(&[NET_ADMIN]).or_else(is_there)
            }
            Self::Cgroups => {
                let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
                let is_there =
                    mounts.lines().any(|mount| mount.split(' ').nth(2) == Some("cgroup2"));
                (!is_there).then(|| "no control groups of version 2 are mounted".to_owned())
            }
            Self::KernelMemory => {
                let lockdown = fs::read_to_string("/sys/kernel/security/lockdown");
                let is_locked = lockdown.is_ok_and(|levels| levels.contains("[confidentiality]"));
                is_locked.then(|| "lockdown forbids to read kernel memory".to_owned())
            }
            Self::CongestionControl(name) => {
                (!has_control(name)).then(|| format!("no congestion control {name} in the kernel"))
            }
        }
    }
}

/// True if a folder of `path` has an executable file of that name.
fn is_program(path: &OsStr, name: &str) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let is_executable =
        |file: fs::Metadata| file.is_file() && file.permissions().mode() & 0o111 != 0;
    env::split_paths(path).any(|folder| fs::metadata(folder.join(name)).is_ok_and(is_executable))
}

/// The first of `rights` that this process lacks.
fn lacking_right(rights: &[Right]) -> Option<String> {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    not_held(rights, effective(&status)).map(|right| format!("no {}, run as root", right.name))
}

/// The first of `rights` whose bit `held` lacks.
fn not_held(rights: &[Right], held: u64) -> Option<Right> {
    rights.iter().copied().find(|right| held & (1 << right.bit) == 0)
}

/// Capabilities in effect, of `/proc/thread-self/status`; none if it does not say.
fn effective(status: &str) -> u64 {
    let bits = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

/// True if the kernel has it, or a module of its name to load.
fn has_control(name: &str) -> bool {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let loaded = read("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let release = read("/proc/sys/kernel/osrelease");
    let modules = read(&format!("/lib/modules/{}/modules.dep", release.trim()));
    loaded.split_whitespace().any(|control| control == name)
        || modules.contains(&format!("/tcp_{name}.ko"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_an_executable_file_in_a_folder_of_the_path() {
        let folder = env::temp_dir().join(format!("headstart-needs-{}", std::process::id()));
        fs::create_dir_all(folder.join("folder")).unwrap();
        fs::write(folder.join("text"), "").unwrap();
        let path = env::join_paths([Path::new("/nowhere"), Path::new("/bin"), &folder]).unwrap();
        assert!(is_program(&path, "sh"));
        assert!(!is_program(&path, "folder") && !is_program(&path, "text"));
        assert!(!is_program(OsStr::new("/nowhere"), "sh"));
        fs::remove_dir_all(folder).unwrap();
    }

    /// 0x3000 has bits 12 and 13.
    #[test]
    fn rights_are_those_in_effect() {
        let status = "CapPrm:\t00000000ffffffff\nCapEff:\t0000000000003000\nCapBnd:\t0\n";
        assert_eq!(effective(status), 1 << NET_ADMIN.bit | 1 << NET_RAW.bit);
        assert_eq!(effective("Name:\tsh\n"), 0);
        let lacking = not_held(&[NET_ADMIN, SYS_ADMIN], effective(status));
        assert_eq!(lacking.map(|right| right.name), Some("CAP_SYS_ADMIN"));
        assert!(not_held(&[NET_RAW, NET_ADMIN], effective(status)).is_none());
    }

    #[test]
    fn what_is_lacking_is_named() {
        let lacking = |need: Need<'_>| need.lacking();
        assert_eq!(lacking(Need::File("/")), None);
        assert_eq!(lacking(Need::File("/no such file")).unwrap(), "no /no such file");
        assert_eq!(
            lacking(Need::Program("no-such-program")).unwrap(),
            "no no-such-program in PATH"
        );
        let why = "no congestion control of-dreams in the kernel";
        assert_eq!(lacking(Need::CongestionControl("of-dreams")).unwrap(), why);
        // Every Linux has Reno built in (net/ipv4/tcp_cong.c).
        assert_eq!(lacking(Need::CongestionControl("reno")), None);
    }
}
