//! A plan's wires as links.

use crate::plan::document::{
    At, CoDel, FqCoDel, OneWay, QueueSpec, Red, ReorderingSpec, TextOr, Threshold, WireSpec,
    Written,
};
use crate::plan::error::Fault;
use crate::plan::files::Files;
use link::path::QueueSize;
use link::recording::{RecordedDirection, RecordedLink};
use link::{CoDelConfig, Discipline, FqCoDelConfig, LinkConfig, RateTrace, RedConfig, Thresholds};
use netsim::Duplex;
use std::ops::Range;
use std::sync::Arc;
use units::Duration;

/// Inputs of links besides their own keys.
#[derive(Clone, Copy)]
pub(super) struct LinkMaker<'a> {
    pub(super) files: &'a Files,
    /// Links measure waiting times.
    pub(super) waiting: bool,
}

impl LinkMaker<'_> {
    /// Both directions of a wire that stands at `span`.
    pub(super) fn both_directions(
        self,
        wire: &WireSpec,
        span: Range<usize>,
    ) -> Result<Duplex<LinkConfig>, Fault> {
        Ok(Duplex {
            forward: self.one_direction(&wire.forward(), span.clone())?,
            reverse: self.one_direction(&wire.backward(), span)?,
        })
    }

    /// One direction.
    pub(super) fn one_direction(
        self,
        plan: &OneWay,
        span: Range<usize>,
    ) -> Result<LinkConfig, Fault> {
        let (size, discipline) = plan.queue.as_ref().map_or_else(Default::default, |q| queue(q));
        let delay = plan.delay.map_or(Duration::ZERO, |Written(delay)| delay);
        let (rate, trace) = match (&plan.rate, &plan.trace) {
            (Some(Written(rate)), None) => (*rate, None),
            (None, Some(name)) => {
                let trace = self.trace(name)?;
                (trace.mean_rate(), Some(trace))
            }
            _ => return Err(Fault::new(span, "a link has either a rate or a trace")),
        };
        let limit = size.unwrap_or(QueueSize::Unlimited).limit(rate, Duration::ZERO);
        let fault = |error| Fault::new(span.clone(), error);
        let mut link = LinkConfig::new(rate, delay, limit).map_err(fault)?;
        if let Some(loss) = plan.loss {
            link = link.with_loss(loss.0).map_err(fault)?;
        }
        let queue_span = plan.queue.as_ref().map_or(span.clone(), |queue| queue.span());
        link = link
            .with_discipline(discipline.unwrap_or_default())
            .map_err(|error| Fault::new(queue_span, error))?;
        if let Some(Written(up_to)) = plan.ordered_jitter {
            link = link.with_ordered_jitter(up_to);
        }
        if let Some(Written(steps)) = &plan.delay_steps {
            link = link.with_delay_steps(steps.clone());
        }
        if let Some(plan) = &plan.reordering {
            let span = plan.span();
            let reordered = link.with_reordering(reordering(plan));
            link = reordered.map_err(|error| Fault::new(span, error))?;
        }
        if let Some(trace) = trace {
            link = link.with_rate_trace(trace);
        }
        Ok(if self.waiting { link.with_statistics() } else { link })
    }

    /// The trace that a plan names.
    fn trace(self, name: &At<String>) -> Result<Arc<RateTrace>, Fault> {
        let text = self.files.text(name)?.to_owned();
        let read = RecordedLink::read(name, RecordedDirection::Down, &|_| Ok(text.clone()));
        let recorded = read.map_err(|error| Fault::new(name.span(), error))?;
        Ok(Arc::clone(recorded.trace()))
    }
}

fn reordering(plan: &ReorderingSpec) -> link::Reordering {
    match plan {
        ReorderingSpec::HoldBack(plan) => {
            link::Reordering::HoldBack { probability: plan.probability.0, extra: plan.extra.0 }
        }
        ReorderingSpec::Jitter(plan) => link::Reordering::Jitter(plan.up_to.0),
    }
}

/// Limit and discipline; `None` where the plan leaves them open.
fn queue(plan: &TextOr<QueueSize, QueueSpec>) -> (Option<QueueSize>, Option<Discipline>) {
    let (limit, discipline) = match plan {
        TextOr::Text(limit) => return (Some(*limit), None),
        TextOr::Kind(QueueSpec::DropTail(plan)) => (plan.limit, Discipline::DropTail),
        TextOr::Kind(QueueSpec::PriorityDrop(plan)) => (plan.limit, Discipline::PriorityDrop),
        TextOr::Kind(QueueSpec::AcksFirst(plan)) => (plan.limit, Discipline::AcksFirst),
        TextOr::Kind(QueueSpec::Red(plan)) => (plan.limit, Discipline::Red(red(plan))),
        TextOr::Kind(QueueSpec::CoDel(plan)) => (plan.limit, Discipline::CoDel(codel(plan))),
        TextOr::Kind(QueueSpec::FqCoDel(plan)) => (plan.limit, Discipline::FqCoDel(fq_codel(plan))),
    };
    (limit.map(|limit| limit.0), Some(discipline))
}

fn red(plan: &Red) -> RedConfig {
    let default = RedConfig::default();
    RedConfig {
        thresholds: thresholds(plan).unwrap_or(default.thresholds),
        weight: plan.weight.unwrap_or(default.weight),
        max_p: plan.max_p.unwrap_or(default.max_p),
        gentle: plan.gentle.unwrap_or(default.gentle),
        ecn: plan.ecn.unwrap_or(default.ecn),
        mark_above_max: plan.mark_above_max.unwrap_or(default.mark_above_max),
        wait: plan.wait.unwrap_or(default.wait),
        mean_packet: plan.mean_packet.unwrap_or(default.mean_packet),
        low_priority_first: plan.low_priority_first.unwrap_or(default.low_priority_first),
    }
}

/// Both thresholds in one unit. If the units differ, neither can be meant: the queue then refuses
/// them.
fn thresholds(plan: &Red) -> Option<Thresholds> {
    let (min, max) = match (plan.min, plan.max) {
        (None, None) => return None,
        (min, max) => {
            (min.unwrap_or(Threshold::Share(0.15)), max.unwrap_or(Threshold::Share(0.60)))
        }
    };
    Some(match (min, max) {
        (Threshold::Share(min), Threshold::Share(max)) => Thresholds::Shares { min, max },
        (Threshold::Packets(min), Threshold::Packets(max)) => Thresholds::Packets { min, max },
        (Threshold::Bytes(min), Threshold::Bytes(max)) => Thresholds::Bytes { min, max },
        _ => Thresholds::Shares { min: f64::NAN, max: f64::NAN },
    })
}

fn codel(plan: &CoDel) -> CoDelConfig {
    let default = CoDelConfig::default();
    CoDelConfig {
        target: plan.target.map_or(default.target, |target| target.0),
        interval: plan.interval.map_or(default.interval, |interval| interval.0),
        mtu: plan.mtu.unwrap_or(default.mtu),
        ecn: plan.ecn.unwrap_or(default.ecn),
    }
}

fn fq_codel(plan: &FqCoDel) -> FqCoDelConfig {
    let default = FqCoDelConfig::default();
    let each = CoDel {
        limit: None,
        target: plan.target,
        interval: plan.interval,
        mtu: plan.mtu,
        ecn: plan.ecn,
    };
    FqCoDelConfig {
        codel: codel(&each),
        quantum: plan.quantum.unwrap_or(default.quantum),
        queues: plan.queues.unwrap_or(default.queues),
        drop_batch: plan.drop_batch.unwrap_or(default.drop_batch),
    }
}
