//! The emulator from outside: properties read from packets, a pipe without a clock, real time
//! within the process, and real packets between namespaces.

mod headers;
mod namespaces;
mod packets;
mod pipe;
mod ports;
