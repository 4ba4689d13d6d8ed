//! The link: one of three kinds behind one interface, by its configuration.

use crate::{
    Discipline, Fifo, Judged, LinkConfig, LinkCounters, LinkError, Occupancy, Served, Statistics,
    Ties,
};
use rand_pcg::Pcg32;
use units::{Instant, Rate};

/// One direction of a wire with the queue before it.
#[derive(Clone, Debug)]
pub struct Link {
    config: Box<LinkConfig>,
    stage: Stage,
}

/// Kind of link, which decides how a driver has to treat it.
#[derive(Clone, Debug)]
pub enum Stage {
    /// Drop-tail at a constant rate: asked once, it answers.
    Fifo(Fifo),
    /// It looks at more than sizes, and answers at once.
    Judged(Box<Judged>),
    /// It answers when it serves.
    Served(Box<Served>),
}

impl Link {
    /// An idle link. Losses and whatever else is left to chance are drawn from `stream`, which no
    /// one else may use.
    pub fn new(config: LinkConfig, stream: Pcg32) -> Self {
        let plain = config.discipline() == Discipline::DropTail
            && config.ties() == Ties::StillIn
            && !config.statistics();
        let stage = match (config.knows_departures(), plain) {
            (true, true) => Stage::Fifo(Fifo::new(&config, &stream)),
            (true, false) => Stage::Judged(Box::new(Judged::new(&config, &stream))),
            (false, _) => Stage::Served(Box::new(Served::new(&config, &stream))),
        };
        Self { config: Box::new(config), stage }
    }

    /// The link itself, to offer packets to.
    #[inline]
    pub const fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }

    /// From now on the link is of this rate, unless it follows a trace. A packet with a time of
    /// departure keeps it.
    ///
    /// # Errors
    /// If the rate is zero.
    pub fn set_rate(&mut self, rate: Rate) -> Result<(), LinkError> {
        self.config.set_rate(rate)?;
        match &mut self.stage {
            Stage::Fifo(fifo) => fifo.set_rate(rate),
            Stage::Judged(judged) => judged.set_rate(rate),
            Stage::Served(served) => served.set_rate(rate),
        }
        Ok(())
    }

    /// Whether it is a [`Stage::Fifo`].
    pub const fn is_plain(&self) -> bool {
        matches!(self.stage, Stage::Fifo(_))
    }

    /// Packets and bytes in the queue at `now`, the packet in service included.
    pub fn occupancy(&mut self, now: Instant) -> Occupancy {
        match &mut self.stage {
            Stage::Fifo(fifo) => fifo.occupancy(now),
            Stage::Judged(judged) => judged.occupancy(now),
            Stage::Served(served) => served.occupancy(now),
        }
    }

    /// Totals so far.
    pub const fn counters(&self) -> &LinkCounters {
        match &self.stage {
            Stage::Fifo(fifo) => fifo.counters(),
            Stage::Judged(judged) => judged.counters(),
            Stage::Served(served) => served.counters(),
        }
    }

    /// Waiting times so far, if the configuration requests them.
    pub const fn statistics(&self) -> Option<&Statistics> {
        match &self.stage {
            Stage::Fifo(_) => None,
            Stage::Judged(judged) => judged.statistics(),
            Stage::Served(served) => served.statistics(),
        }
    }

    /// Configuration of the link.
    pub const fn config(&self) -> &LinkConfig {
        &self.config
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkFate, QueueLimit};
    use units::Duration;

    #[test]
    fn another_rate_holds_for_what_comes_after() {
        let config = LinkConfig::new(Rate::from_mbps(8), Duration::ZERO, QueueLimit::Unlimited);
        let mut link = Link::new(config.unwrap(), Pcg32::new(1, 1));
        let mut departs = |rate: Option<u64>| {
            if let Some(mbps) = rate {
                link.set_rate(Rate::from_mbps(mbps)).unwrap();
            }
            let Stage::Fifo(fifo) = link.stage() else { panic!("a plain link") };
            match fifo.offer(Instant::ZERO, 1000) {
                LinkFate::Delivered { departs, .. } => departs.as_nanos() / 1_000_000,
                other => panic!("{other:?}"),
            }
        };
        // 1000 bytes take 1 ms at 8 Mbit/s, 4 ms at 2; the first keeps its time.
        assert_eq!([departs(None), departs(Some(2)), departs(None)], [1, 5, 9]);
        assert_eq!(link.set_rate(Rate::from_bps(0)), Err(LinkError::ZeroRate));
        assert_eq!(link.config().rate(), Rate::from_mbps(2));
    }
}
