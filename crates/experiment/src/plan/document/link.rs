//! Links: rate, delay, queue, and faults of the wire.

use super::quantity::{At, Probability, TextOr, Threshold, Written};
use link::DelaySteps;
use link::path::QueueSize;
use schemars::JsonSchema;
use serde::Deserialize;
use units::{Duration, Rate};

/// One direction of a wire, and the differences of the other.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireSpec {
    /// Transmission rate; needed unless there is a trace.
    pub(crate) rate: Option<Written<Rate>>,
    /// A file beside the plan that the rate follows: packet-delivery opportunities in mahimahi's
    /// format, or a table whose header names times and rates. `changing` comes with headstart and
    /// needs no file.
    pub(crate) trace: Option<At<String>>,
    /// One-way propagation delay; 0 unless given.
    pub(crate) delay: Option<Written<Duration>>,
    /// The queue before the link: a limit, or a table with a discipline; without bound unless
    /// given.
    pub(crate) queue: Option<At<TextOr<QueueSize, QueueSpec>>>,
    /// Probability that a packet is lost on the wire, each independently; 0 unless given.
    pub(crate) loss: Option<Probability>,
    /// Each packet takes longer by a time drawn evenly from 0 to this, and none overtakes another;
    /// 0 unless given.
    pub(crate) ordered_jitter: Option<Written<Duration>>,
    /// Other delays from given times of the run on, like "2s:80ms/5s:40ms"; no packet overtakes
    /// another.
    pub(crate) delay_steps: Option<Written<DelaySteps>>,
    /// Model of packets out of order; in order unless given.
    pub(crate) reordering: Option<At<ReorderingSpec>>,
    /// Differences of the way back; all other properties are as above.
    pub(crate) back: Option<OneWay>,
}

/// One direction of a wire.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneWay {
    /// Transmission rate.
    pub(crate) rate: Option<Written<Rate>>,
    /// A file that the rate follows.
    pub(crate) trace: Option<At<String>>,
    /// One-way propagation delay.
    pub(crate) delay: Option<Written<Duration>>,
    /// The queue before the link.
    pub(crate) queue: Option<At<TextOr<QueueSize, QueueSpec>>>,
    /// Probability that a packet is lost on the wire.
    pub(crate) loss: Option<Probability>,
    /// Each packet takes longer by up to this, and none overtakes another.
    pub(crate) ordered_jitter: Option<Written<Duration>>,
    /// Other delays from given times of the run on.
    pub(crate) delay_steps: Option<Written<DelaySteps>>,
    /// Model of packets out of order.
    pub(crate) reordering: Option<At<ReorderingSpec>>,
}

impl WireSpec {
    /// The way there.
    pub(crate) fn forward(&self) -> OneWay {
        OneWay {
            rate: self.rate,
            trace: self.trace.clone(),
            delay: self.delay,
            queue: self.queue.clone(),
            loss: self.loss,
            ordered_jitter: self.ordered_jitter,
            delay_steps: self.delay_steps.clone(),
            reordering: self.reordering.clone(),
        }
    }

    /// The way back, with the properties of the way there where it has none of its own.
    pub(crate) fn backward(&self) -> OneWay {
        let (there, back) = (self.forward(), self.back.clone().unwrap_or_default());
        // A rate of its own replaces the other way's trace, and the reverse.
        let own = back.rate.is_some() || back.trace.is_some();
        OneWay {
            rate: if own { back.rate } else { there.rate },
            trace: if own { back.trace } else { there.trace },
            delay: back.delay.or(there.delay),
            queue: back.queue.or(there.queue),
            loss: back.loss.or(there.loss),
            ordered_jitter: back.ordered_jitter.or(there.ordered_jitter),
            // A delay of its own replaces the other way's steps, too.
            delay_steps: match back.delay {
                Some(_) => back.delay_steps,
                None => back.delay_steps.or(there.delay_steps),
            },
            reordering: back.reordering.or(there.reordering),
        }
    }
}

/// Model of packets out of order: departures are in order, arrivals are not.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind")]
pub(crate) enum ReorderingSpec {
    /// Some packets take longer.
    HoldBack(HoldBack),
    /// Every packet takes longer by another time.
    Jitter(Jitter),
}

/// Some packets, each independently, take longer.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HoldBack {
    /// Probability of a delay.
    pub(crate) probability: Probability,
    /// Additional delay.
    pub(crate) extra: Written<Duration>,
}

/// Every packet takes longer by a time drawn evenly from 0 to `up_to`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Jitter {
    /// The longest.
    pub(crate) up_to: Written<Duration>,
}

/// Discipline of a queue: which packets it drops, marks and sends next.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(tag = "kind")]
pub(crate) enum QueueSpec {
    /// First in, first out; packets that do not fit are dropped.
    #[serde(rename = "droptail")]
    DropTail(Plain),
    /// First in, first out; where there is no room, the low-priority packet nearest to the tail is
    /// dropped (TCP Fast Start §3.3).
    #[serde(rename = "pdrop")]
    PriorityDrop(Plain),
    /// Random early detection (Floyd & Jacobson 1993).
    #[serde(rename = "red")]
    Red(Red),
    /// Controlled delay (RFC 8289).
    #[serde(rename = "codel")]
    CoDel(CoDel),
    /// Fair queueing with controlled delay (RFC 8290).
    #[serde(rename = "fq_codel")]
    FqCoDel(FqCoDel),
    /// Pure acknowledgements before everything else.
    #[serde(rename = "acks-first")]
    AcksFirst(Plain),
}

/// A queue without parameters.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plain {
    /// Limit of its contents; without bound unless given.
    pub(crate) limit: Option<Written<QueueSize>>,
}

/// Random early detection; the defaults are the start-up papers'.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Red {
    /// Limit of its contents; without bound unless given.
    pub(crate) limit: Option<Written<QueueSize>>,
    /// Average at which striking begins: a share of the limit (0.15 unless given), or packets
    /// ("5p"), or bytes ("5kB").
    pub(crate) min: Option<Threshold>,
    /// Average at which the probability is `max_p`; 0.6 unless given.
    pub(crate) max: Option<Threshold>,
    /// Weight of the present queue in its average; 0.02 unless given.
    pub(crate) weight: Option<f64>,
    /// Probability at `max`; 0.1 unless given.
    pub(crate) max_p: Option<f64>,
    /// From `max` to its double the probability rises on to 1; false unless given.
    pub(crate) gentle: Option<bool>,
    /// Mark packets that are ECN-capable instead of dropping them; true unless given.
    pub(crate) ecn: Option<bool>,
    /// Mark also where the average is above `max`; true unless given.
    pub(crate) mark_above_max: Option<bool>,
    /// Space strikes as ns-2's `wait_` does; false unless given.
    pub(crate) wait: Option<bool>,
    /// Bytes of the packets by which idle time is measured; 1000 unless given.
    pub(crate) mean_packet: Option<u32>,
    /// Where there is no room, a low-priority packet is dropped first; false unless given.
    pub(crate) low_priority_first: Option<bool>,
}

/// Controlled delay.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CoDel {
    /// Limit of its contents; without bound unless given.
    pub(crate) limit: Option<Written<QueueSize>>,
    /// Standing waiting time that is acceptable; 5ms unless given.
    pub(crate) target: Option<Written<Duration>>,
    /// Time for which a standing queue is permitted; 100ms unless given.
    pub(crate) interval: Option<Written<Duration>>,
    /// Bytes of the largest packet; 1514 unless given.
    pub(crate) mtu: Option<u32>,
    /// Mark packets that are ECN-capable instead of dropping them; true unless given.
    pub(crate) ecn: Option<bool>,
}

/// Fair queueing with controlled delay.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FqCoDel {
    /// Limit of its contents; without bound unless given.
    pub(crate) limit: Option<Written<QueueSize>>,
    /// Standing waiting time that is acceptable; 5ms unless given.
    pub(crate) target: Option<Written<Duration>>,
    /// Time for which a standing queue is permitted; 100ms unless given.
    pub(crate) interval: Option<Written<Duration>>,
    /// Bytes of the largest packet; 1514 unless given.
    pub(crate) mtu: Option<u32>,
    /// Mark packets that are ECN-capable instead of dropping them; true unless given.
    pub(crate) ecn: Option<bool>,
    /// Bytes that a queue may send in its turn; 1514 unless given.
    pub(crate) quantum: Option<u32>,
    /// Queues that flows are hashed to; 1024 unless given.
    pub(crate) queues: Option<u32>,
    /// Most packets dropped at once where there is no room; 64 unless given.
    pub(crate) drop_batch: Option<u32>,
}
