//! Disables the fast path, to compare its results with those of the slow path.

use std::cell::Cell;

thread_local! {
    static LONGHAND: Cell<bool> = const { Cell::new(false) };
    static ORDINARY: Cell<u64> = const { Cell::new(0) };
}

/// Runs `act`; meanwhile this thread digests all segments on the slow path.
pub fn without_shortcuts<T>(act: impl FnOnce() -> T) -> T {
    let before = LONGHAND.replace(true);
    let done = act();
    LONGHAND.set(before);
    done
}

/// Returns the number of segments that this thread has digested on the fast path.
pub fn ordinary_segments() -> u64 {
    ORDINARY.get()
}

/// Returns true if the fast path is enabled on this thread.
#[inline]
pub(crate) fn shortcuts() -> bool {
    !LONGHAND.get()
}

/// Counts a segment if it took the fast path.
#[inline]
pub(crate) fn note_ordinary(is_ordinary: bool) -> bool {
    // `LocalKey::set` would be a function call here.
    ORDINARY.with(|count| count.set(count.get() + u64::from(is_ordinary)));
    is_ordinary
}
