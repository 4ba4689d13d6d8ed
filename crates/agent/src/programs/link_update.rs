//! Replaces what a BPF link runs, in one step, so that at no instant nothing or both run:
//! `BPF_LINK_UPDATE` of bpf(2).
//!
//! libbpf-rs has this call only for links that the process made itself, and not for congestion
//! controls. An agent that takes over from another one has links from that one, as file
//! descriptors. This module holds the workspace's only unsafe code, one system call; the rest of
//! the crate denies it, and all other crates forbid it.

use nix::errno::Errno;
use nix::libc;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// `BPF_LINK_UPDATE` of the kernel's `enum bpf_cmd` (include/uapi/linux/bpf.h).
const LINK_UPDATE: libc::c_long = 29;

/// `link_update` of `union bpf_attr`, all 16 bytes of it.
#[repr(C)]
struct LinkUpdate {
    link: u32,
    /// A program, or a map that is a congestion control.
    new: u32,
    flags: u32,
    /// Looked at only if `flags` ask for that.
    old: u32,
}

/// Makes `link` run `new` from now on: a program of the same type or, for a link of `struct_ops`, a
/// map of the same type. A congestion control keeps its name, and connections that have it keep the
/// old one (Linux 6.4).
///
/// # Errors
/// `ENOLINK` if the link's cgroup has gone, `EINVAL` if `new` does not fit, otherwise the kernel's
/// error.
pub(super) fn replace(link: impl AsFd, new: impl AsFd) -> io::Result<()> {
    let number = |file: &dyn AsFd| file.as_fd().as_raw_fd().cast_unsigned();
    let update = LinkUpdate { link: number(&link), new: number(&new), flags: 0, old: 0 };
    // SAFETY: the kernel reads the given number of bytes, all of them in `update`, which outlives
    // the call, and writes none. Both numbers are of files that are open for as long as `link` and
    // `new` live.
    let code = unsafe {
        libc::syscall(libc::SYS_bpf, LINK_UPDATE, &raw const update, size_of::<LinkUpdate>())
    };
    Errno::result(code).map(|_| ()).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    /// An open file that is no link: `EINVAL` of `bpf_link_get_from_fd`; `EPERM` for a process that
    /// may not call bpf(2) at all.
    #[test]
    fn what_is_no_link_is_refused() {
        let file = File::open("/dev/null").unwrap();
        let why = replace(&file, &file).unwrap_err().raw_os_error();
        assert!([Some(libc::EINVAL), Some(libc::EPERM)].contains(&why), "{why:?}");
    }
}
