//! File descriptors: connections never use those that the gateway needs for its own files, above
//! all for the list of revoked certificates.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Minimum number of descriptors for the gateway's own files: the list, certificates at a reload,
/// the snapshot, the shared store, the log.
const RESERVE: usize = 64;

/// Raises the process's limit of descriptors to the hard one (getrlimit(2)).
pub(crate) fn raise_limit() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // Without that permission the limit stays, and fewer connections are accepted.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// Returns the number of descriptors that the process may have.
pub(crate) fn limit() -> usize {
    let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(u64::MAX, |(soft, _)| soft);
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// Returns how many of `wanted` connections there are descriptors for, if the process may have
/// `limit` and needs `others` for other connections: at least 1. An eighth of the limit is kept in
/// reserve, since refused connections close a moment later.
pub(crate) fn affordable(wanted: usize, others: usize, limit: usize) -> usize {
    let reserve = RESERVE.max(limit / 8);
    wanted.min(limit.saturating_sub(reserve + others)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reserve of 65,536 descriptors is 8,192, of 2,048 it is 256, and of 128 it is 64.
    #[test]
    fn connections_leave_the_reserve_alone() {
        assert_eq!(affordable(4096, 1152, 65_536), 4096);
        assert_eq!(affordable(100_000, 1152, 65_536), 65_536 - 8192 - 1152);
        assert_eq!(affordable(4096, 1152, 2048), 2048 - 256 - 1152);
        assert_eq!(affordable(4096, 40, 128), 24);
        assert_eq!(affordable(4096, 1152, 1024), 1);
        assert_eq!(affordable(4096, 1152, usize::MAX), 4096);
    }
}
