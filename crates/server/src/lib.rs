//! Static files by HTTP/1.1, over our own TCP.
//!
//! What is not about the transport is others' work: HTTP is hyper's, files with their types, ranges
//! and dates are tower-http's. Here is what a transport of one's own makes possible: before a
//! response is written the transport is told its size and its weight among the client's other
//! connections ([`Weights`]), and what it knew then goes along as a header (`timing`); how it
//! stands is a page (`status`).
//!
//! In the order of a request: `serve` accepts and ends connections, `respond` answers one request
//! with the help of `files`, `body` tells when an answer is over. `site` is what they share.

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
