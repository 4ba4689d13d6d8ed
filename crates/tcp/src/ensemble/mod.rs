//! Who shares a path, and who sends next on it.
//!
//! Connections to one destination may form an ensemble with one window (Savage et al. 1999;
//! RFC 9040). Here a connection is on its own: an ensemble of one, which is what ordinary TCP is.

use crate::tuple::FourTuple;

/// A path's number within its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId(pub u32);

/// Decides which path a new connection belongs to.
pub trait Ensemble {
    /// The path that a connection to `tuple` joins; `None`: a path of its own.
    fn join(&mut self, tuple: &FourTuple) -> Option<PathId>;

    /// Is told that a connection's path was made or joined.
    fn on_joined(&mut self, tuple: &FourTuple, path: PathId);

    /// Is told that a connection left; true if the path has no member any more.
    fn on_left(&mut self, tuple: &FourTuple, path: PathId) -> bool;
}

/// Every connection has a path of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Independent;

impl Ensemble for Independent {
    fn join(&mut self, _: &FourTuple) -> Option<PathId> {
        None
    }
    fn on_joined(&mut self, _: &FourTuple, _: PathId) {}
    fn on_left(&mut self, _: &FourTuple, _: PathId) -> bool {
        true
    }
}
