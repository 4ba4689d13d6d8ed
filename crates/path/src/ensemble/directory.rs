//! Which ensemble a connection belongs to.

use super::PathId;
use rustc_hash::FxHashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// What members of one ensemble have in common: the host at the other end, and the scheme.
pub type Destination = (IpAddr, Arc<str>);

/// The shared paths of a host, by destination.
#[derive(Debug, Default)]
pub struct Directory {
    paths: FxHashMap<Destination, PathId>,
}

impl Directory {
    /// The path to `to` that connections share at present.
    pub fn path(&self, to: &Destination) -> Option<PathId> {
        self.paths.get(to).copied()
    }

    /// From now on connections to `to` share `path`.
    pub fn begin(&mut self, to: Destination, path: PathId) {
        self.paths.insert(to, path);
    }

    /// Nobody shares the path to `to` any more.
    pub fn end(&mut self, to: &Destination) {
        self.paths.remove(to);
    }
}
