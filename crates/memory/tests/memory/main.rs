//! Memories of paths.

mod gate;
mod memories;
