//! Ordinary segments digested as any segment is, to compare what both ways tell.

use std::cell::Cell;

thread_local! {
    static LONGHAND: Cell<bool> = const { Cell::new(false) };
}

/// Runs `act`; meanwhile this thread digests ordinary segments as any.
pub fn without_shortcuts<T>(act: impl FnOnce() -> T) -> T {
    let before = LONGHAND.replace(true);
    let done = act();
    LONGHAND.set(before);
    done
}

/// Ordinary segments have their own way.
#[inline]
pub(crate) fn shortcuts() -> bool {
    !LONGHAND.get()
}
