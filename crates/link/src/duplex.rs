//! A pair of values, one for each direction of a wire, since most properties of one direction exist
//! for both.

/// Both directions of a wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duplex<T> {
    /// Towards the receivers, the client, the right.
    pub forward: T,
    /// The way back.
    pub reverse: T,
}

impl<T: Clone> Duplex<T> {
    /// The same both ways.
    pub fn symmetric(one: T) -> Self {
        Self { forward: one.clone(), reverse: one }
    }
}
