//! Locks that outlive a panic: one thread's failure does not end the others.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// All that is guarded is whole after every change, whatever else panicked.
pub(crate) fn lock<T>(guarded: &Mutex<T>) -> MutexGuard<'_, T> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}
