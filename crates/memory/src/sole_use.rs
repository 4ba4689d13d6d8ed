//! The right to a set of remembered parameters that only one connection may use.

use std::cell::Cell;
use std::rc::Rc;

/// The right to use a set of remembered parameters, which one connection alone has (RFC 9959 §3.2).
/// Clones are of the same set.
#[derive(Clone, Debug, Default)]
pub struct SoleUse(Rc<Cell<bool>>);

impl SoleUse {
    /// Takes the right; false if another connection has it.
    pub fn take(&self) -> bool {
        !self.0.replace(true)
    }
}
