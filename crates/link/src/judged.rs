//! The plain link with checks at arrival: RED may refuse or mark packets, statistics may be kept,
//! ties may be gone. Departures are still known at arrival.

use crate::medium::{Draws, independent_stream};
use crate::red::{Judgement, Red, RedArrival};
use crate::{Discipline, Fifo, LinkConfig, LinkCounters, LinkFate, Occupancy, PacketInfo};
use crate::{LinkVerdict, Statistics, Ties};
use rand_pcg::Pcg32;
use units::{Duration, Instant, Rate};

/// A [`Fifo`] with random early detection, statistics or the other rule for ties.
#[derive(Clone, Debug)]
pub struct Judged {
    fifo: Fifo,
    red: Option<Red>,
    statistics: Option<Statistics>,
    /// Time by which a departure may follow an arrival and still precede it: a nanosecond where
    /// ties are gone.
    tie: Duration,
}

impl Judged {
    pub(crate) fn new(config: &LinkConfig, stream: &Pcg32) -> Self {
        let red = match config.discipline() {
            Discipline::Red(red) => {
                Some(Red::new(&red, config, independent_stream(stream, Draws::Red)))
            }
            _ => None,
        };
        Self {
            fifo: Fifo::new(config, stream),
            red,
            statistics: config.statistics().then(Statistics::default),
            tie: match config.ties() {
                Ties::StillIn => Duration::ZERO,
                Ties::Gone => Duration::from_nanos(1),
            },
        }
    }

    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.fifo.set_rate(rate);
    }

    /// Offers a packet at `now`, not earlier than any offer before.
    pub fn offer(&mut self, now: Instant, packet: &PacketInfo) -> LinkVerdict {
        let judgement = self.decide_fate(now, packet);
        if judgement == Judgement::Drop {
            return LinkVerdict { fate: self.fifo.drop_packet(packet.bytes), marked: false };
        }
        let start = self.fifo.free_at().max(now);
        let fate = self.fifo.offer_beside(now, now + self.tie, packet.bytes);
        if let Some(statistics) = &mut self.statistics {
            statistics.transmitted(now, start, fate, packet.bytes);
        }
        let marked = judgement == Judgement::Mark && fate != LinkFate::Dropped;
        if marked {
            self.fifo.count_mark(packet.bytes);
        }
        if let (LinkFate::Dropped, Some(red)) = (fate, &mut self.red) {
            red.on_overflow();
        }
        LinkVerdict { fate, marked }
    }

    fn decide_fate(&mut self, now: Instant, packet: &PacketInfo) -> Judgement {
        let Some(red) = &mut self.red else {
            return Judgement::Take;
        };
        let horizon = now + self.tie;
        let idle_since = (self.fifo.occupancy(horizon).packets == 0).then(|| self.fifo.free_at());
        let waiting = self.fifo.waiting(horizon);
        red.decide_fate(&RedArrival { now, idle_since, waiting }, packet)
    }

    /// Packets and bytes in the queue at `now`, the packet in service included.
    pub fn occupancy(&mut self, now: Instant) -> Occupancy {
        self.fifo.occupancy(now + self.tie)
    }

    /// Totals so far.
    pub const fn counters(&self) -> &LinkCounters {
        self.fifo.counters()
    }

    /// Waiting times so far, if they are measured.
    pub const fn statistics(&self) -> Option<&Statistics> {
        self.statistics.as_ref()
    }

    /// The average queue that decides RED's probability, in the unit of its thresholds.
    pub fn red_average(&self) -> Option<f64> {
        self.red.as_ref().map(Red::average)
    }
}
