//! Packets: written, read, and refused where they are malformed.

mod malformed;
mod round_trip;
