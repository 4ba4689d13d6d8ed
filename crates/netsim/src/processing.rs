//! Processing delay: what a host's own work adds before a packet is on its first link.
//!
//! Without it, senders that start together in equal surroundings stay in step for ever, and which
//! of two packets finds the last place in a queue is settled once and for all (Floyd & Jacobson 1992
//! on phase effects). ns-2 has the same as `overhead_`.

use crate::streams::stream;
use crate::{HostId, Topology};
use rand_core::RngCore;
use rand_pcg::Pcg32;
use units::{Duration, Instant};

/// Every host's processing delay.
#[derive(Debug, Default)]
pub(crate) struct Processing(Vec<Option<Delay>>);

/// One host's: uniform up to `longest`, in order.
#[derive(Debug)]
struct Delay {
    longest: Duration,
    stream: Pcg32,
    /// When the packet before is done.
    ready: Instant,
}

impl Processing {
    /// By what the topology says of its hosts, each drawing from `processing/<host>`.
    pub(crate) fn new(topology: &Topology, seed: u64) -> Self {
        let hosts = (0..topology.host_count() as u32).map(HostId);
        let delays = hosts.map(|host| {
            let longest = topology.processing(host);
            (!longest.is_zero()).then(|| {
                let stream = stream(seed, &format!("processing/{}", topology.host_name(host)));
                Delay { longest, stream, ready: Instant::ZERO }
            })
        });
        let delays: Vec<_> = delays.collect();
        Self(if delays.iter().any(Option::is_some) { delays } else { Vec::new() })
    }

    /// True if no host has any.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// When a packet that `host` sends now is on its way; `None`: at once.
    pub(crate) fn departure(&mut self, host: HostId, now: Instant) -> Option<Instant> {
        let delay = self.0.get_mut(host.index())?.as_mut()?;
        let span = u128::from(delay.longest.as_nanos()) + 1;
        let nanos = (u128::from(delay.stream.next_u64()) * span) >> 64;
        delay.ready = delay.ready.max(now + Duration::from_nanos(nanos as u64));
        Some(delay.ready)
    }
}
