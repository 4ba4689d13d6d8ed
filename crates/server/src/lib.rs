//! Static files by HTTP/1.1, over our own TCP.
//!
//! Other crates do all that is not about the transport: HTTP is hyper's, files with their types,
//! ranges and dates are tower-http's. This crate uses the advantages of a transport of one's own.
//! Before a response is written the transport learns its size and its weight among the client's
//! other connections ([`Weights`]). A header has the transport's state at that time (`timing`), and
//! a page its current state (`status`).
//!
//! In the order of a request: `serve` accepts and ends connections, `respond` answers one request
//! with the help of `files`, `body` reports the end of an answer. `site` is their shared state.

mod access;
mod answer;
mod body;
mod files;
mod regard;
mod respond;
mod serve;
mod site;
mod status;
mod timing;
mod weights;

pub use access::StatusAccess;
pub use body::EndedResponse;
pub use files::check_folder;
pub use regard::check_weights;
pub use serve::{Ended, HttpServer, ServerOptions};
pub use status::STATUS_PATH;
pub use weights::{Weights, WeightsError};
