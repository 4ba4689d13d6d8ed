//! Endpoints in this process, and beside clients on the sockets of the kernel.

mod common;
mod crowd;
mod expert;
mod fast_open;
mod limits;
mod lossy;
mod marks;
mod packets;
mod streams;
