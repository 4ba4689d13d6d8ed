//! The machine without its BPF: time, locks, the log, Unix sockets and addresses.
//!
//! Every module may use it. It knows nothing of connections, of paths or of the programs in the
//! kernel, and imports no other module.

pub(crate) mod addresses;
pub mod clock;
pub(crate) mod lock;
pub(crate) mod log;
pub(crate) mod unix_socket;
