//! Ordinary segments digested as any segment is, to compare what both ways tell.

use std::cell::Cell;

thread_local! {
    static LONGHAND: Cell<bool> = const { Cell::new(false) };
    static ORDINARY: Cell<u64> = const { Cell::new(0) };
}

/// Runs `act`; meanwhile this thread digests ordinary segments as any.
pub fn without_shortcuts<T>(act: impl FnOnce() -> T) -> T {
    let before = LONGHAND.replace(true);
    let done = act();
    LONGHAND.set(before);
    done
}

/// Segments that this thread has digested as ordinary ones.
pub fn ordinary_segments() -> u64 {
    ORDINARY.get()
}

/// Ordinary segments have their own way.
#[inline]
pub(crate) fn shortcuts() -> bool {
    !LONGHAND.get()
}

/// A segment was an ordinary one, or not.
#[inline]
pub(crate) fn note_ordinary(is_ordinary: bool) -> bool {
    // Not by `LocalKey::set`, which is a call.
    ORDINARY.with(|count| count.set(count.get() + u64::from(is_ordinary)));
    is_ordinary
}
