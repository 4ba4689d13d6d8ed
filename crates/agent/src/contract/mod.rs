//! What the programs in the kernel and this side share: `bpf/contract.h`, byte by byte.
//!
//! `field` finds fields by the header's names, `key` has what maps are asked by, `path`, `settings` and `summary` what is
//! in them.

mod field;
mod key;
mod path;
mod settings;
mod summary;

pub use key::{Override, PortKey, PrefixKey};
pub use path::LearntPath;
pub use settings::{ConnectionSettings, StoppedParts};
pub use summary::ConnectionSummary;
