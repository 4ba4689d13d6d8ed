//! Locks that outlive a panic: one thread's failure does not end the others.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `guarded`, also if another thread has panicked while it held the lock. All guarded data is
/// whole after every change.
pub(crate) fn lock<T>(guarded: &Mutex<T>) -> MutexGuard<'_, T> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}
