//! Disables the fast path, to compare its results with those of the slow path.

use std::cell::Cell;

thread_local! {
    static FORCE_SLOW_PATH: Cell<bool> = const { Cell::new(false) };
    static FAST_PATH_SEGMENTS: Cell<u64> = const { Cell::new(0) };
}

/// Runs `act`; meanwhile this thread digests all segments on the slow path.
pub fn without_fast_path<T>(act: impl FnOnce() -> T) -> T {
    let before = FORCE_SLOW_PATH.replace(true);
    let done = act();
    FORCE_SLOW_PATH.set(before);
    done
}

/// Returns the number of segments that this thread has digested on the fast path.
pub fn fast_path_segments() -> u64 {
    FAST_PATH_SEGMENTS.get()
}

/// Returns true if the fast path is enabled on this thread.
#[inline]
pub(crate) fn is_fast_path_enabled() -> bool {
    !FORCE_SLOW_PATH.get()
}

/// Counts a segment if it took the fast path, and returns its argument.
#[inline]
pub(crate) fn note_fast_path(is_fast_path: bool) -> bool {
    // `LocalKey::set` would be a function call here.
    FAST_PATH_SEGMENTS.with(|count| count.set(count.get() + u64::from(is_fast_path)));
    is_fast_path
}
