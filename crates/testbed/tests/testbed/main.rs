//! Simulation, endpoint and kernel on the same paths.

mod agree;
mod harm;
mod quick;
mod truth;

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The processors, which tests of real time share. `quick` has narrow bounds and two threads of
/// its own, so it runs alone.
static PROCESSORS: RwLock<()> = RwLock::new(());

fn shared() -> RwLockReadGuard<'static, ()> {
    PROCESSORS.read().unwrap_or_else(PoisonError::into_inner)
}

fn alone() -> RwLockWriteGuard<'static, ()> {
    PROCESSORS.write().unwrap_or_else(PoisonError::into_inner)
}
