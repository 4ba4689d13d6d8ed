//! Ready-made applications, one file each; loading pages has a directory of its own.
//!
//! Applications that move bytes by TCP use a [`channel`]. It is a connection that carries transfers
//! from its opener to the other end, and keeps the record of the current one. Applications that
//! draw random numbers have a name, and draw from streams `app/<name>/...`.

mod bulk;
mod cbr;
mod channel;
mod conn_index;
mod flow_log;
mod on_off;
mod poisson;
mod rounds;
mod telnet;
mod user;

pub use bulk::{BulkSpec, BulkTransfer};
pub use cbr::{Cbr, CbrSpec};
pub use flow_log::FlowTotals;
pub use on_off::{OnOff, OnOffSpec};
pub use poisson::{PairChoice, PoissonFlows, PoissonSpec};
pub use rounds::{RoundPair, Rounds, RoundsSpec};
pub use telnet::{Telnet, TelnetSpec};
pub use user::{User, UserSpec};
