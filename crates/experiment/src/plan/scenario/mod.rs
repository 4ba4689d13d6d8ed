//! One cell ready to run: the plan's names are resolved, and its numbers checked against each
//! other.

mod memory;
mod net;
mod topology;
mod traffic;
mod wire;

pub(crate) use memory::Memories;
pub(crate) use net::{Distances, Net};
pub(crate) use traffic::{Activity, RoundsPlan, UserPlan};

use super::document::{
    At, MeasureSpec, Packets, Pairing, PlanDocument, StartSpec, TextOr, Workload, Written,
};
use super::error::Fault;
use super::files::Files;
use netsim::{HostId, LinkId, WireSizes};
use tcp::{LinuxVersion, Scheme};
use units::{Duration, Instant};
use wire::LinkMaker;

/// Longest run of a plan without a duration, unless the plan has a limit of its own.
const TIME_LIMIT: Duration = Duration::from_secs(3600);
/// Most members of a workload.
const MAX_MEMBERS: u32 = 1_000_000;

/// End of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The run ends at this instant.
    At(Instant),
    /// The run ends when all have finished; it fails at this instant.
    Finished(Instant),
}

/// The interval in which metrics count: `from` is in it, `until` is not.
///
/// It begins at `measure.from`. Without that key it begins when the first member of a workload
/// starts, in the background or not: nothing is sent before. It ends at `measure.until`, or when
/// the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeasuredInterval {
    pub(crate) from: Instant,
    /// [`Instant::FAR_FUTURE`] for the end of the run.
    pub(crate) until: Instant,
}

impl MeasuredInterval {
    pub(crate) fn contains(&self, at: Instant) -> bool {
        self.from <= at && at < self.until
    }
}

/// Starts of members.
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
    pub(crate) activity: Activity,
    pub(crate) from: Vec<HostId>,
    pub(crate) to: Vec<HostId>,
    pub(crate) pairing: Pairing,
    pub(crate) members: u32,
    pub(crate) begin: Begin,
    pub(crate) scheme: Scheme,
    pub(crate) receiver: Scheme,
    pub(crate) background: bool,
}

/// Files that are written besides metrics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    pub(crate) flows: bool,
    /// Links with a record of every step of every packet.
    pub(crate) packets: Vec<LinkId>,
    /// Links whose capture is written.
    pub(crate) captures: Vec<LinkId>,
    /// The first repeats, which have packets and captures.
    pub(crate) repeats: u32,
}

/// A cell, ready to run.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) net: Net,
    pub(crate) groups: Vec<Group>,
    pub(crate) wire_sizes: WireSizes,
    /// Settings of hosts' memories; the schemes' own unless the plan has some.
    pub(crate) memories: Option<Memories>,
    pub(crate) end: End,
    /// Where the plan does not say when it begins, it begins at the origin until the first start is
    /// known.
    pub(crate) interval: MeasuredInterval,
    /// Whether the plan says when the interval begins.
    pub(crate) has_warm_up: bool,
    pub(crate) bottleneck: Option<LinkId>,
    pub(crate) records: Records,
}

impl Scenario {
    /// The scenario of a cell's document under the sweep's scheme.
    pub(super) fn new(
        document: &PlanDocument,
        scheme: &Scheme,
        files: &Files,
    ) -> Result<Self, Fault> {
        let members =
            document.workload.values().map(member_count).collect::<Result<Vec<_>, _>>()?;
        let pairs = members.into_iter().max().unwrap_or(1).max(1);
        let maker = LinkMaker { files, waiting: document.measure.waiting };
        let mut net = topology::build(&document.topology, pairs, maker)?;
        for plan in &document.processing {
            net.set_processing(plan)?;
        }
        let maker = SchemeMaker {
            swept: scheme,
            parameters: document.parameters.as_ref(),
            linux: document.linux.map(|Written(version)| version),
        };
        let workloads = document.workload.iter();
        let groups = workloads.map(|(name, plan)| group(name, plan, maker, &net, files));
        let bottleneck = match &document.measure.link {
            Some(name) => Some(net.link_named(name)?),
            None => net.bottleneck,
        };
        let Packets { data_overhead, syn_data_overhead, control_bytes } = document.packets;
        let scenario = Self {
            groups: groups.collect::<Result<_, _>>()?,
            memories: document.memory.as_ref().map(|plan| Memories::of(plan, &net)).transpose()?,
            wire_sizes: WireSizes { data_overhead, syn_data_overhead, control_bytes },
            end: end(document),
            interval: interval(document),
            has_warm_up: document.measure.from.is_some(),
            bottleneck,
            records: records(&document.measure, &net)?,
            net,
        };
        scenario.check(document)?;
        Ok(scenario)
    }

    /// Refuses scenarios that would never end or never be measured.
    fn check(&self, document: &PlanDocument) -> Result<(), Fault> {
        let from = self.interval.from;
        let until = self.interval.until.min(match self.end {
            End::At(end) | End::Finished(end) => end,
        });
        if from >= until {
            let span = document.duration.as_ref().map_or(0..0, At::span);
            let why = format!("nothing is measured: from {from} to {until}; lengthen duration");
            return Err(Fault::new(span, why));
        }
        if matches!(self.end, End::At(_)) {
            return Ok(());
        }
        let endless = |group: &&Group| !group.background && group.activity.is_endless();
        if let Some(group) = self.groups.iter().find(endless) {
            let why = format!(
                "workload {:?} never finishes: give the plan a duration, the workload a size, or \
                 background = true",
                group.name
            );
            let named = document.workload.keys().find(|name| ***name == group.name);
            return Err(Fault::new(named.map_or(0..0, At::span), why));
        }
        if self.groups.iter().all(|group| group.background) {
            let why = "all workloads are in the background, so nothing says when to end: give the \
                       plan a duration";
            return Err(Fault::new(0..0, why));
        }
        Ok(())
    }
}

/// Returns the number of members of a workload: 1 unless the plan has one; 0 is allowed.
fn member_count(plan: &Workload) -> Result<u32, Fault> {
    let Some(count) = &plan.count else {
        return Ok(1);
    };
    match **count {
        n if n > MAX_MEMBERS => {
            Err(Fault::new(count.span(), format!("{n} members are above {MAX_MEMBERS}")))
        }
        n => Ok(n),
    }
}

/// Maker of the schemes of workloads.
#[derive(Clone, Copy)]
struct SchemeMaker<'a> {
    /// The sweep's, for workloads without one of their own.
    swept: &'a Scheme,
    /// Parameters of all.
    parameters: Option<&'a At<String>>,
    /// Version of Linux that all follow.
    linux: Option<LinuxVersion>,
}

impl SchemeMaker<'_> {
    /// Returns the workload's `own` scheme, or else the swept one. The plan's parameters come right
    /// behind its name, then the workload's, then its own; one that comes twice is a fault.
    fn build_scheme(self, plan: &Workload, own: Option<&Written<Scheme>>) -> Result<Scheme, Fault> {
        let mut scheme = own.map_or(self.swept, |Written(scheme)| scheme).clone();
        // Each is inserted right behind the name, so the plan's, inserted last, come first.
        for parameters in [plan.parameters.as_ref(), self.parameters].into_iter().flatten() {
            if !parameters.is_empty() {
                let text = scheme.name();
                let (name, rest) = text.split_at(text.find('+').unwrap_or(text.len()));
                scheme = Scheme::parse(&format!("{name}+{}{rest}", **parameters))
                    .map_err(|error| Fault::new(parameters.span(), error))?;
            }
        }
        Ok(self.linux.map_or(scheme.clone(), |version| scheme.with_linux(version)))
    }
}

fn group(
    name: &At<String>,
    plan: &Workload,
    schemes: SchemeMaker<'_>,
    net: &Net,
    files: &Files,
) -> Result<Group, Fault> {
    if !is_plain(name) {
        let why = format!("workload {:?}: use letters, digits, - and _", **name);
        return Err(Fault::new(name.span(), why));
    }
    let (from, to) = (net.hosts_named(&plan.from)?, net.hosts_named(&plan.to)?);
    let apart = || {
        let mut distances = net.distances();
        from.iter().any(|from| to.iter().any(|to| distances.are_apart(*from, *to)))
    };
    if plan.pairing == Pairing::Random && !apart() {
        let why = "random pairing needs hosts with a link between them that is no side link";
        return Err(Fault::new(plan.from.span(), why));
    }
    if plan.pairing == Pairing::Parallel {
        refuse_own_ends(plan, &from, &to)?;
    }
    let sender = schemes.build_scheme(plan, plan.scheme.as_ref())?;
    let receiver = match &plan.receiver {
        Some(own) => schemes.build_scheme(plan, Some(own))?,
        None => sender.clone(),
    };
    Ok(Group {
        name: String::clone(name),
        activity: Activity::of(&plan.traffic, files)?,
        from,
        to,
        pairing: plan.pairing,
        members: member_count(plan)?,
        begin: begin(plan)?,
        receiver,
        scheme: sender,
        background: plan.background,
    })
}

/// Whether a name can be part of a file's name wherever it is.
fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !name.is_empty() && name.bytes().all(plain)
}

/// Refuses members that would send from a host to itself.
fn refuse_own_ends(plan: &Workload, from: &[HostId], to: &[HostId]) -> Result<(), Fault> {
    let pairs = from.iter().cycle().zip(to.iter().cycle()).take(member_count(plan)? as usize);
    match pairs.enumerate().find(|(_, (from, to))| from == to) {
        None => Ok(()),
        Some((member, _)) => {
            let why = format!("member {member} would send from a host to itself: pair others");
            Err(Fault::new(plan.to.span(), why))
        }
    }
}

fn begin(plan: &Workload) -> Result<Begin, Fault> {
    let at =
        |time: Option<Written<Duration>>| instant_after_start(time.map_or(Duration::ZERO, |t| t.0));
    Ok(match plan.start.as_deref() {
        None => Begin::Fixed(Instant::ZERO),
        Some(TextOr::Text(start)) => Begin::Fixed(instant_after_start(*start)),
        Some(TextOr::Kind(StartSpec::Uniform(start))) => {
            let (from, until) = (at(start.from), instant_after_start(start.until.0));
            if until <= from {
                let why = format!("until {until} is not after from {from}");
                return Err(Fault::new(start.until.span(), why));
            }
            Begin::Uniform(from, until - from)
        }
        Some(TextOr::Kind(StartSpec::Staggered(start))) => {
            Begin::Staggered(at(start.from), start.every.0)
        }
    })
}

fn end(document: &PlanDocument) -> End {
    match &document.duration {
        Some(duration) => End::At(instant_after_start(duration.0)),
        None => End::Finished(instant_after_start(
            document.time_limit.map_or(TIME_LIMIT, |limit| limit.0),
        )),
    }
}

fn records(measure: &MeasureSpec, net: &Net) -> Result<Records, Fault> {
    let links = |names: &[At<String>]| {
        names.iter().map(|name| net.link_named(name)).collect::<Result<Vec<_>, _>>()
    };
    Ok(Records {
        flows: measure.flows.unwrap_or(true),
        packets: links(&measure.packets)?,
        captures: links(&measure.captures)?,
        repeats: measure.recorded_repeats.unwrap_or(1),
    })
}

fn interval(document: &PlanDocument) -> MeasuredInterval {
    let at = |time: Option<Written<Duration>>, default| {
        time.map_or(default, |t| instant_after_start(t.0))
    };
    MeasuredInterval {
        from: at(document.measure.from, Instant::ZERO),
        until: at(document.measure.until, Instant::FAR_FUTURE),
    }
}

fn instant_after_start(after: Duration) -> Instant {
    Instant::ZERO + after
}
