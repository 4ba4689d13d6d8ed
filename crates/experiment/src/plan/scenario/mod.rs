//! One cell made ready to run: the plan's names resolved, its numbers checked against each other.

mod net;
mod topology;

pub(crate) use net::Net;

use super::document::{Bulk, Document, Packets, Start, TextOr, Traffic, Workload, Written};
use super::error::Fault;
use netsim::{HostId, LinkId, WireSizes};
use tcp::Scheme;
use toml::Spanned;
use units::{Duration, Instant};

/// What a run without a duration may take unless the plan says otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(3600);
/// Most members of a workload.
const MOST_MEMBERS: u32 = 1_000_000;

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At this instant.
    At(Instant),
    /// When all have finished; it has failed at this instant.
    Finished(Instant),
}

/// The interval in which metrics count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) from: Instant,
    /// [`Instant::FAR_FUTURE`] for the end of the run.
    pub(crate) until: Instant,
}

impl Interval {
    pub(crate) fn contains(&self, at: Instant) -> bool {
        self.from <= at && at < self.until
    }
}

/// When members begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    Fixed(Instant),
    /// From, and how much later at most.
    Uniform(Instant, Duration),
    /// The first, and between two.
    Staggered(Instant, Duration),
}

/// One workload, its names resolved.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) traffic: Traffic,
    pub(crate) from: Vec<HostId>,
    pub(crate) to: Vec<HostId>,
    pub(crate) members: u32,
    pub(crate) begin: Begin,
    pub(crate) scheme: Scheme,
    pub(crate) receiver: Scheme,
    pub(crate) background: bool,
}

impl Group {
    /// The hosts of member `n`.
    pub(crate) fn hosts(&self, n: u32) -> (HostId, HostId) {
        let of = |hosts: &[HostId]| hosts[n as usize % hosts.len()];
        (of(&self.from), of(&self.to))
    }

    /// Whether its transfers have no end.
    pub(crate) const fn is_endless(&self) -> bool {
        match &self.traffic {
            Traffic::Bulk(Bulk { size }) => size.is_none(),
        }
    }
}

/// A cell, ready to run.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) net: Net,
    pub(crate) groups: Vec<Group>,
    pub(crate) wire_sizes: WireSizes,
    pub(crate) end: End,
    pub(crate) interval: Interval,
    pub(crate) bottleneck: Option<LinkId>,
}

impl Scenario {
    /// The scenario of a cell's document under the sweep's scheme.
    pub(super) fn new(document: &Document, scheme: &Scheme) -> Result<Self, Fault> {
        let members = document.workload.values().map(members).collect::<Result<Vec<_>, _>>()?;
        let net = topology::build(&document.topology, members.into_iter().max().unwrap_or(1));
        let workloads = document.workload.iter();
        let groups = workloads.map(|(name, plan)| group((name, plan), scheme, &net));
        let bottleneck = match &document.measure.link {
            Some(name) => Some(net.link_named(name)?),
            None => net.bottleneck,
        };
        let Packets { data_overhead, syn_data_overhead, control_bytes } = document.packets;
        let scenario = Self {
            groups: groups.collect::<Result<_, _>>()?,
            wire_sizes: WireSizes { data_overhead, syn_data_overhead, control_bytes },
            end: end(document),
            interval: interval(document),
            bottleneck,
            net,
        };
        scenario.check(document)?;
        Ok(scenario)
    }

    /// Refuses what would never end or never be measured.
    fn check(&self, document: &Document) -> Result<(), Fault> {
        let from = self.interval.from;
        let until = self.interval.until.min(match self.end {
            End::At(end) | End::Finished(end) => end,
        });
        if from >= until {
            let span = document.duration.as_ref().map_or(0..0, Spanned::span);
            let why = format!("nothing is measured: from {from} to {until}; lengthen duration");
            return Err(Fault::new(span, why));
        }
        if matches!(self.end, End::At(_)) {
            return Ok(());
        }
        let endless = |group: &&Group| !group.background && group.is_endless();
        if let Some(group) = self.groups.iter().find(endless) {
            let why = format!(
                "workload {:?} never finishes: give the plan a duration, the workload a size, or \
                 background = true",
                group.name
            );
            let named = document.workload.keys().find(|name| *name.get_ref() == group.name);
            return Err(Fault::new(named.map_or(0..0, Spanned::span), why));
        }
        if self.groups.iter().all(|group| group.background) {
            let why = "all workloads are in the background, so nothing says when to end: give the \
                       plan a duration";
            return Err(Fault::new(0..0, why));
        }
        Ok(())
    }
}

fn members(plan: &Workload) -> Result<u32, Fault> {
    let Some(count) = &plan.count else {
        return Ok(1);
    };
    match *count.get_ref() {
        n if n > MOST_MEMBERS => {
            Err(Fault::new(count.span(), format!("{n} members are above {MOST_MEMBERS}")))
        }
        n => Ok(n),
    }
}

fn group(
    (name, plan): (&Spanned<String>, &Workload),
    scheme: &Scheme,
    net: &Net,
) -> Result<Group, Fault> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.get_ref().is_empty() || !name.get_ref().bytes().all(plain) {
        let why = format!("workload {:?}: use letters, digits, - and _", name.get_ref());
        return Err(Fault::new(name.span(), why));
    }
    let sender = plan.scheme.as_ref().map_or(scheme, |Written(scheme)| scheme).clone();
    Ok(Group {
        name: name.get_ref().clone(),
        traffic: plan.traffic.clone(),
        from: net.hosts_named(&plan.from)?,
        to: net.hosts_named(&plan.to)?,
        members: members(plan)?,
        begin: begin(plan)?,
        receiver: plan.receiver.as_ref().map_or(&sender, |Written(scheme)| scheme).clone(),
        scheme: sender,
        background: plan.background,
    })
}

fn begin(plan: &Workload) -> Result<Begin, Fault> {
    let at = |time: Option<Written<Duration>>| instant(time.map_or(Duration::ZERO, |t| t.0));
    Ok(match &plan.start {
        None => Begin::Fixed(Instant::ZERO),
        Some(TextOr::Text(start)) => Begin::Fixed(instant(*start)),
        Some(TextOr::Kind(Start::Uniform(start))) => {
            let (from, until) = (at(start.from), instant(start.until.get_ref().0));
            if until <= from {
                let why = format!("until {until} is not after from {from}");
                return Err(Fault::new(start.until.span(), why));
            }
            Begin::Uniform(from, until - from)
        }
        Some(TextOr::Kind(Start::Staggered(start))) => {
            Begin::Staggered(at(start.from), start.every.0)
        }
    })
}

fn end(document: &Document) -> End {
    match &document.duration {
        Some(duration) => End::At(instant(duration.get_ref().0)),
        None => End::Finished(instant(document.time_limit.map_or(TIME_LIMIT, |limit| limit.0))),
    }
}

fn interval(document: &Document) -> Interval {
    let at = |time: Option<Written<Duration>>, default| time.map_or(default, |t| instant(t.0));
    Interval {
        from: at(document.measure.from, Instant::ZERO),
        until: at(document.measure.until, Instant::FAR_FUTURE),
    }
}

fn instant(after: Duration) -> Instant {
    Instant::ZERO + after
}
