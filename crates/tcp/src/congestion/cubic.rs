//! CUBIC (RFC 9438) in the kernel's fixed-point form.

/// CUBIC.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cubic;
