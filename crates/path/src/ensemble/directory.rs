//! Maps destinations to shared paths.

use super::PathId;
use rustc_hash::FxHashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// The key that members of one ensemble share: the host at the other end, and the scheme.
pub type Destination = (IpAddr, Arc<str>);

/// The shared paths of a host, by destination.
#[derive(Debug, Default)]
pub struct Directory {
    paths: FxHashMap<Destination, PathId>,
}

impl Directory {
    /// Returns the path to `to` that connections share at present.
    pub fn path(&self, to: &Destination) -> Option<PathId> {
        self.paths.get(to).copied()
    }

    /// Makes connections to `to` share `path` from now on.
    pub fn begin(&mut self, to: Destination, path: PathId) {
        self.paths.insert(to, path);
    }

    /// Forgets the path to `to`, which has no user any more.
    pub fn end(&mut self, to: &Destination) {
        self.paths.remove(to);
    }
}
