//! Parameters of the receiving half: its windows, and the times of its ACKs.

use super::{LONGEST_TICK, SchemeParameter, parameter};
use crate::config::AckPolicy;
use crate::registry::values::{between, choose, duration, on_off};
use crate::scheme::LinuxVersion;
use units::{Duration, parse_bytes};

/// A receiver that cannot take half a small segment is not one to race.
const SMALLEST_WINDOW: u32 = 64;

fn buffer(text: &str) -> Result<u32, String> {
    let bytes = parse_bytes(text).map_err(|e| e.to_string())?;
    let bytes = u32::try_from(bytes).map_err(|_| "is too large".to_owned())?;
    if bytes < 2 * SMALLEST_WINDOW {
        return Err(format!("must be at least {}B", 2 * SMALLEST_WINDOW));
    }
    Ok(bytes)
}

pub(super) const RECEIVER: &[SchemeParameter] = &[
    parameter!("rwnd", "size, like 64kB", "fixed receive window", |r, v| {
        let bytes = parse_bytes(v).map_err(|e| e.to_string())?;
        let bytes = u32::try_from(bytes).map_err(|_| "is too large".to_owned())?;
        if bytes < SMALLEST_WINDOW {
            return Err(format!("must be at least {SMALLEST_WINDOW}B"));
        }
        r.config.receive.max_window = bytes;
        r.config.receive.initial_window = bytes;
        r.config.receive.autotune = false;
        Ok(())
    }),
    parameter!(
        "rcvbuf",
        "size, like 128kB",
        "first receive buffer, of which half is offered, 64 KiB at most (Linux tcp_rmem[1])",
        |r, v| {
            let bytes = buffer(v)?;
            r.config.receive.first_buffer = bytes;
            r.config.receive.initial_window = (bytes / 2).min(65_535);
            r.config.receive.autotune = true;
            Ok(())
        }
    ),
    parameter!(
        "rcvbuf_max",
        "size, like 6MB",
        "largest receive window, which the window scale follows (Linux tcp_rmem[2])",
        |r, v| buffer(v).map(|bytes| r.config.receive.max_window = bytes)
    ),
    parameter!(
        "ack",
        "all|adaptive|duration",
        "receiver: ACK every segment, as Linux, or every \
                second within the duration",
        |r, v| {
            r.config.receive.ack = match v {
                "all" => AckPolicy::Immediate,
                "adaptive" => AckPolicy::Adaptive,
                other => AckPolicy::Delayed { timeout: duration(other)? },
            };
            Ok(())
        }
    ),
    parameter!(
        "linux",
        "6.12|6.18|7.0",
        "version of Linux (default: 6.18). Since 6.16 a receive window grows to 32 MiB in place of 6 MiB. Since 6.19 a receiver \
                holds back ACKs behind a gap for 33 % of a round trip in place of 5 %",
        |r, v| choose(v, &LinuxVersion::ALL).map(|version| version.apply(r, false))
    ),
    parameter!("dsack", "on|off", "receiver: report duplicates", |r, v| {
        on_off(v).map(|on| r.config.receive.dsack = on)
    }),
    parameter!(
        "repeated_last",
        "at-once|delay",
        "receiver: when to ACK a repetition of the last segment in order",
        |r, v| {
            let choices = [("at-once", false), ("delay", true)];
            choose(v, &choices).map(|d| r.config.receive.delay_repeated_last = d)
        }
    ),
    parameter!(
        "ack_tick",
        "duration",
        "receiver: granularity of the clock that ends the delay of ack=adaptive; 0s: exact",
        |r, v| { between(v, Duration::ZERO, LONGEST_TICK).map(|d| r.config.receive.ack_tick = d) }
    ),
];
