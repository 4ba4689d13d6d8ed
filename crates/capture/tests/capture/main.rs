//! Captures read: by formats and link types beside Wireshark's tools, damaged, merged, piped, live.

mod build;
mod carriers;
mod cases;
mod corpus;

mod damaged;
mod formats;
mod links;
mod live;
mod merging;
mod piped;
mod tools;
mod tshark;
