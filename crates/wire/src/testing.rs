//! Body of the fuzz target for bytes from outside.

use crate::{Packet, parse, parse_offloaded, write, write_echo_reply};

/// Reads any `bytes`; an accepted packet, written again and read again, has to be the same.
pub fn play(bytes: &[u8]) {
    drop(parse(bytes));
    let mut out = Vec::new();
    match parse_offloaded(bytes) {
        Ok(Packet::Tcp(packet, payload)) => {
            if write(&packet, payload, &mut out).is_err() {
                // Unknown options and padding are not written, so it is never longer; but a packet
                // of IPv6 may exceed the length field of IPv4, whose header counts itself.
                assert!(payload.len() > 65_000, "{packet:?}");
                return;
            }
            assert_eq!(parse(&out), Ok(Packet::Tcp(packet, payload)));
        }
        Ok(Packet::Echo(echo)) if write_echo_reply(&echo, &mut out).is_ok() => {
            assert!(out.len() >= echo.body.len());
        }
        _ => {}
    }
}
