//! Behind the queue: aggregation, propagation delay and its variation, random loss and reordering.

use crate::aggregation::Gate;
use crate::delay_steps::SteppedDelay;
use crate::ordered_delay::OrderedDelay;
use crate::reordering::Reorderer;
use crate::{LinkConfig, LinkCounters, LinkFate, Loss};
use rand_core::Rng;
use rand_pcg::Pcg32;
use units::{Duration, Instant};

/// Propagation of a packet whose last bit is on the wire.
#[derive(Clone, Debug)]
pub(crate) struct Medium {
    delay: Duration,
    /// Most links have none, and then one look says so.
    hazards: Option<Box<Hazards>>,
}

#[derive(Clone, Debug)]
struct Hazards {
    loss: Option<Loss>,
    gate: Option<Gate>,
    stepped: Option<SteppedDelay>,
    ordered: Option<OrderedDelay>,
    reorderer: Option<Reorderer>,
}

/// The draws of one link come from streams of their own, so that asking for reordering does not
/// shift its losses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Draws {
    Reordering = 2,
    Red = 3,
    FlowHash = 4,
    OrderedDelay = 5,
}

/// A stream beside `stream` for something else on the same link.
pub(crate) fn independent_stream(stream: &Pcg32, draws: Draws) -> Pcg32 {
    let seed = stream.clone().next_u64();
    Pcg32::new(seed, draws as u64)
}

impl Medium {
    pub(crate) fn new(config: &LinkConfig, stream: &Pcg32) -> Self {
        let loss = (config.loss() > 0.0).then(|| Loss::new(config.loss(), stream.clone()));
        let reordering = config.reordering();
        let reorderer = reordering
            .map(|kind| Reorderer::new(kind, independent_stream(stream, Draws::Reordering)));
        let gate = config.aggregation().map(Gate::opening_every);
        let ordered = config.ordered_jitter();
        let ordered = ordered
            .map(|up_to| OrderedDelay::new(up_to, independent_stream(stream, Draws::OrderedDelay)));
        let stepped = config.delay_steps();
        let stepped = stepped.map(|steps| SteppedDelay::new(steps.clone(), config.delay()));
        let any = loss.is_some()
            || reorderer.is_some()
            || gate.is_some()
            || stepped.is_some()
            || ordered.is_some();
        let hazards = any.then(|| Box::new(Hazards { loss, gate, stepped, ordered, reorderer }));
        Self { delay: config.delay(), hazards }
    }

    /// Carries a packet of `bytes` that departs at `departs`; a loss is recorded.
    #[inline]
    pub(crate) fn carry(
        &mut self,
        departs: Instant,
        bytes: u32,
        counters: &mut LinkCounters,
    ) -> LinkFate {
        match &mut self.hazards {
            None => LinkFate::Delivered { departs, arrives: departs + self.delay },
            Some(hazards) => hazards.carry(departs, self.delay, bytes, counters),
        }
    }
}

impl Hazards {
    fn carry(
        &mut self,
        departs: Instant,
        delay: Duration,
        bytes: u32,
        counters: &mut LinkCounters,
    ) -> LinkFate {
        if self.loss.as_mut().is_some_and(Loss::strikes) {
            counters.count_lost(bytes);
            return LinkFate::Lost { departs };
        }
        let extra = self.reorderer.as_mut().map_or(Duration::ZERO, Reorderer::extra_delay);
        let leaves = self.gate.as_ref().map_or(departs, |gate| gate.opens(departs));
        let stepped = self.stepped.as_mut();
        let soonest = stepped.map_or(leaves + delay, |stepped| stepped.arrival_time(leaves));
        let arrives =
            self.ordered.as_mut().map_or(soonest, |ordered| ordered.arrival_time(soonest));
        LinkFate::Delivered { departs, arrives: arrives + extra }
    }
}
