//! Folds the state of a value into few bytes, and unfolds it into a fresh value of the same configuration.
//!
//! A type says once which of its fields are state ([`state!`]). [`Folding`] visits these fields in their order, and either
//! writes them or replaces them, so no writer can disagree with its reader. Configuration is not visited: it is in the
//! fresh value. The bytes are for this process alone: no versions, no checks of what was read.

#![no_std]

extern crate alloc;

mod macros;
mod standard;
mod words;

pub use words::Folding;

/// A state that can be folded into bytes.
pub trait Foldable {
    /// Visits each field that is state, in a fixed order.
    ///
    /// While `folding` writes, nothing may change. While it reads, `self` is fresh: it has the configuration of the value
    /// that was folded. Afterwards it has the state of that value, too.
    fn fold(&mut self, folding: &mut Folding<'_>);
}
