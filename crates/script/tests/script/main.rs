//! Scripts: how they are read, played and judged.

mod any;
mod calls;
mod common;
mod judged;
mod mismatch;
mod parse;
mod run;
mod segments;
mod settings;
