//! Workloads as applications: adds them, and reads off their results.

use super::flows::SharedFlows;
use super::rows::FlowId;
use crate::plan::document::Pairing;
use crate::plan::scenario::{Activity, Begin, Distances, Group, Net, RoundsPlan, UserPlan};
use netsim::{
    AppId, Application, Browsing, BrowsingSpec, BulkSpec, BulkTransfer, Cbr, CbrSpec, FlowRecord,
    HostId, OnOff, OnOffSpec, PageSpec, PairChoice, PoissonFlows, PoissonSpec, RoundPair, Rounds,
    RoundsSpec, Simulation, Telnet, TelnetSpec, User, UserSpec, stream,
};
use rand_core::Rng;
use std::rc::Rc;
use std::sync::Arc;
use tcp::scheme::Transfers;
use units::{Duration, Instant};
use workload::{LoaderConfig, Page};

/// One application of a workload: a member, or all members in one.
pub(super) struct WorkloadApp {
    /// Number of the workload.
    pub(super) group: usize,
    /// The first member it plays.
    first: usize,
    /// Number of its members.
    members: usize,
    /// Index of the transfer, if a member plays one of several at once.
    part: usize,
    /// Start of the first of them.
    pub(super) start: Instant,
    app: AppId,
}

/// State that all workloads of a run share.
pub(super) struct RunState<'a> {
    pub(super) net: &'a Net,
    pub(super) seed: u64,
    pub(super) flows: &'a SharedFlows,
}

/// Adds a workload's applications; `index` is its number.
pub(super) fn add(
    simulation: &mut Simulation,
    index: usize,
    group: &Group,
    &RunState { net, seed, flows }: &RunState<'_>,
) -> Vec<WorkloadApp> {
    let mut distances = net.distances();
    let members = (0..group.members).map(|n| Member::new(group, n, &mut distances, seed));
    let members: Vec<Member<'_>> = members.collect();
    let actor = |first: usize, app| {
        let start = members[first].begin;
        WorkloadApp { group: index, first, members: 1, part: 0, start, app }
    };
    match &group.activity {
        Activity::Rounds(plan) => {
            let count = members.len();
            let all = members.first().map(|first| {
                let app = add_application(
                    simulation,
                    group,
                    first.begin,
                    rounds_application(plan, group, &members),
                );
                WorkloadApp { members: count, ..actor(0, app) }
            });
            all.into_iter().collect()
        }
        Activity::Bulk { weights, .. } => {
            let each = members.iter().enumerate();
            let each = each.flat_map(|(first, member)| {
                let parts = member.bulk(seed).into_iter().enumerate();
                let parts = parts.map(|(part, spec)| {
                    let weight = weights.iter().cycle().nth(part);
                    let mut app = BulkTransfer::new(spec);
                    if let Some(&weight) = weight {
                        app = app.with_weight(Duration::ZERO, weight);
                    }
                    let app = add_application(simulation, group, member.begin, app);
                    WorkloadApp { part, ..actor(first, app) }
                });
                parts.collect::<Vec<_>>()
            });
            each.collect()
        }
        Activity::Poisson { .. } => {
            let each = members.iter().enumerate().map(|(first, member)| {
                let sink = sink(flows, index, first);
                let app =
                    PoissonFlows::with_sink(poisson(group, &member.name, &mut distances), sink);
                actor(first, add_application(simulation, group, member.begin, app))
            });
            each.collect()
        }
        Activity::User(plan) => {
            let each = members.iter().enumerate().map(|(first, member)| {
                let app = User::with_sink(member.user(plan), sink(flows, index, first));
                actor(first, add_application(simulation, group, member.begin, app))
            });
            each.collect()
        }
        _ => {
            let each = members.iter().enumerate();
            each.map(|(first, member)| actor(first, member.add(simulation))).collect()
        }
    }
}

/// A member with its hosts and its beginning.
struct Member<'a> {
    group: &'a Group,
    /// Its name, for random streams.
    name: String,
    from: HostId,
    to: HostId,
    begin: Instant,
}

impl<'a> Member<'a> {
    fn new(group: &'a Group, number: u32, distances: &mut Distances<'_>, seed: u64) -> Self {
        let name = format!("{}/{number}", group.name);
        let (from, to) = hosts(group, number, distances, seed);
        let begin = begin(group, number, seed);
        Self { group, name, from, to, begin }
    }

    /// Its transfers that begin together: one with the bytes of all if its scheme wants a single
    /// connection.
    fn bulk(&self, seed: u64) -> Vec<BulkSpec> {
        let Activity::Bulk { size, parallel, close, .. } = &self.group.activity else {
            return Vec::new();
        };
        let mut stream = stream(seed, &format!("workload/{}/size", self.name));
        let mut draw = || size.as_ref().map(|size| size.sample_count(&mut stream));
        let mut sizes: Vec<Option<u64>> = (0..*parallel).map(|_| draw()).collect();
        if self.group.scheme.transfers() == Transfers::Sequential {
            sizes = vec![sizes.into_iter().sum()];
        }
        let spec = |bytes| BulkSpec {
            from: self.from,
            to: self.to,
            bytes,
            scheme: self.group.scheme.clone(),
            receiver: self.group.receiver.clone(),
            close: *close,
        };
        sizes.into_iter().map(spec).collect()
    }

    fn user(&self, plan: &UserPlan) -> UserSpec {
        UserSpec {
            name: self.name.clone(),
            from: self.from,
            to: self.to,
            objects: plan.objects.clone(),
            bytes: plan.size.clone(),
            pause: plan.pause.clone(),
            think: plan.think.clone(),
            pages: plan.pages,
            scheme: self.group.scheme.clone(),
            receiver: self.group.receiver.clone(),
        }
    }

    fn add(&self, simulation: &mut Simulation) -> AppId {
        let Self { group, from, to, begin, .. } = *self;
        let (scheme, receiver) = (group.scheme.clone(), group.receiver.clone());
        match &group.activity {
            Activity::Page { page, config, visits, think, one_way } => {
                let spec = BrowsingSpec {
                    name: self.name.clone(),
                    pages: vec![page_spec(self, page, config)],
                    think: think.clone(),
                    visits: Some(*visits),
                    one_way: *one_way,
                };
                add_application(simulation, group, begin, Browsing::new(spec))
            }
            Activity::Telnet { gaps, bytes, count } => {
                let (name, gaps) = (self.name.clone(), gaps.clone());
                let (bytes, count) = (*bytes, *count);
                let spec = TelnetSpec { name, from, to, gaps, bytes, count, scheme, receiver };
                add_application(simulation, group, begin, Telnet::new(spec))
            }
            Activity::Cbr { interval, wire_bytes, count } => {
                let (wire_bytes, interval, count) = (*wire_bytes, *interval, *count);
                let spec = CbrSpec { from, to, wire_bytes, interval, count };
                add_application(simulation, group, begin, Cbr::new(spec))
            }
            Activity::OnOff { rate, wire_bytes, on, off } => {
                let (name, rate, wire_bytes) = (self.name.clone(), *rate, *wire_bytes);
                let (on, off) = (on.clone(), off.clone());
                let spec = OnOffSpec { name, from, to, wire_bytes, rate, on, off };
                add_application(simulation, group, begin, OnOff::new(spec))
            }
            Activity::Bulk { .. }
            | Activity::Rounds(_)
            | Activity::Poisson { .. }
            | Activity::User(_) => {
                unreachable!("the caller adds these in its own way")
            }
        }
    }
}

/// A page on the workload's servers, in turn, for the member's browser.
fn page_spec(member: &Member<'_>, page: &Arc<Page>, config: &LoaderConfig) -> PageSpec {
    let group = member.group;
    let first = group.from.iter().position(|host| *host == member.from).unwrap_or(0);
    let servers =
        (first..first + page.hosts().len()).map(|n| host_round_robin(&group.from, n as u64));
    PageSpec {
        page: Arc::clone(page),
        config: race::loader_for(config, &group.scheme),
        client: member.to,
        servers: servers.collect(),
        client_scheme: race::as_browsers_use_it(&group.receiver),
        server_scheme: race::as_browsers_use_it(&group.scheme),
    }
}

/// All members of a workload of rounds in one application.
fn rounds_application(plan: &RoundsPlan, group: &Group, members: &[Member<'_>]) -> Rounds {
    let pairs = members.iter().map(|member| RoundPair {
        from: member.from,
        to: member.to,
        scheme: group.scheme.clone(),
        receiver: group.receiver.clone(),
    });
    Rounds::new(RoundsSpec {
        name: group.name.clone(),
        pairs: pairs.collect(),
        rounds: plan.rounds,
        bytes: plan.size.clone(),
        start: plan.jitter.clone(),
        first_start: plan.first_jitter.clone(),
        idle: plan.idle,
        every: plan.every,
    })
}

/// Arrivals between all pairs of a workload's hosts.
fn poisson(group: &Group, name: &str, distances: &mut Distances<'_>) -> PoissonSpec {
    let Activity::Poisson { gaps, size, count } = &group.activity else {
        unreachable!("the caller has looked");
    };
    let (choice, pairs) = match group.pairing {
        Pairing::Parallel => {
            let most = group.from.len().max(group.to.len()) as u64;
            let pair = |n| (host_round_robin(&group.from, n), host_round_robin(&group.to, n));
            (PairChoice::RoundRobin, (0..most).map(pair).collect())
        }
        Pairing::Random => (PairChoice::Random, pairs_apart(group, distances)),
    };
    PoissonSpec {
        name: name.to_owned(),
        pairs,
        choice,
        gaps: gaps.clone(),
        bytes: size.clone(),
        count: *count,
        scheme: group.scheme.clone(),
        receiver: group.receiver.clone(),
    }
}

/// All pairs with a link between them that is no side link.
fn pairs_apart(group: &Group, distances: &mut Distances<'_>) -> Vec<(HostId, HostId)> {
    let pairs = group.from.iter().flat_map(|from| group.to.iter().map(|to| (*from, *to)));
    pairs.filter(|(from, to)| distances.are_apart(*from, *to)).collect()
}

/// Numbers a member's transfers when they complete.
fn sink(flows: &SharedFlows, group: usize, member: usize) -> impl FnMut(&FlowRecord) + 'static {
    let flows = Rc::clone(flows);
    let mut number = 0;
    move |flow| {
        flows.borrow_mut().push(FlowId { group, member, number }, flow, Some(0));
        number += 1;
    }
}

/// The n-th host, from the first again at the end.
fn host_round_robin(hosts: &[HostId], n: u64) -> HostId {
    hosts[(n % hosts.len() as u64) as usize]
}

fn add_application(
    simulation: &mut Simulation,
    group: &Group,
    begin: Instant,
    app: impl Application,
) -> AppId {
    match group.background {
        true => simulation.add_background(begin, app),
        false => simulation.add(begin, app),
    }
}

/// The hosts of a member; drawn from a stream of its own if they are random.
fn hosts(group: &Group, number: u32, distances: &mut Distances<'_>, seed: u64) -> (HostId, HostId) {
    if group.pairing == Pairing::Parallel {
        return (
            host_round_robin(&group.from, u64::from(number)),
            host_round_robin(&group.to, u64::from(number)),
        );
    }
    let mut stream = stream(seed, &format!("workload/{}/{number}/hosts", group.name));
    loop {
        let (from, to) = (
            host_round_robin(&group.from, stream.next_u64()),
            host_round_robin(&group.to, stream.next_u64()),
        );
        if distances.are_apart(from, to) {
            return (from, to);
        }
    }
}

/// Start of a member; drawn from a stream of its own, so that members shift no others.
fn begin(group: &Group, number: u32, seed: u64) -> Instant {
    match group.begin {
        Begin::Fixed(at) => at,
        Begin::Staggered(from, every) => from + every * u64::from(number),
        Begin::Uniform(from, width) => {
            let mut stream = stream(seed, &format!("workload/{}/{number}/start", group.name));
            let nanos = (u128::from(stream.next_u64()) * u128::from(width.as_nanos())) >> 64;
            from + Duration::from_nanos(nanos as u64)
        }
    }
}

impl WorkloadApp {
    /// The transfers that no sink has taken: those so far of applications that keep them, and those
    /// under way. The actor received `received` bytes in the measured interval.
    pub(super) fn flows(&self, simulation: &Simulation, received: u64) -> Vec<FinishedTransfer> {
        let app = self.app;
        let own = |flows: &[FlowRecord]| self.transfer_records(flows.iter(), 0, Some(received));
        if let Some(bulk) = simulation.application::<BulkTransfer>(app) {
            return own(bulk.flows());
        }
        if let Some(browsing) = simulation.application::<Browsing>(app) {
            return own(&browsing.flows());
        }
        if let Some(telnet) = simulation.application::<Telnet>(app) {
            return own(telnet.flows());
        }
        if let Some(rounds) = simulation.application::<Rounds>(app) {
            // Bytes of an ended round that were not received were reset.
            let mut all = self.transfer_records(rounds.flows().iter(), 0, Some(0));
            let round = rounds.flows().len();
            let started = rounds.under_way();
            all.extend(
                started.map(|(n, flow)| FinishedTransfer::new(self.id_of(round + n), flow, None)),
            );
            return all;
        }
        if let Some(poisson) = simulation.application::<PoissonFlows>(app) {
            let mut flows: Vec<&FlowRecord> = poisson.under_way().collect();
            flows.sort_by_key(|flow| flow.started_at);
            return self.transfer_records(flows.into_iter(), poisson.totals().flows, None);
        }
        let user = simulation.application::<User>(app);
        user.map_or_else(Vec::new, |user| {
            self.transfer_records(user.under_way().into_iter(), user.totals().flows, None)
        })
    }

    /// Transfers in order, starting with number `first`.
    fn transfer_records<'f>(
        &self,
        flows: impl Iterator<Item = &'f FlowRecord>,
        first: u64,
        received: Option<u64>,
    ) -> Vec<FinishedTransfer> {
        let flows = (first as usize..).zip(flows);
        flows.map(|(nth, flow)| FinishedTransfer::new(self.id_of(nth), flow, received)).collect()
    }

    /// Identifies its `nth` transfer in order.
    const fn id_of(&self, nth: usize) -> FlowId {
        FlowId {
            group: self.group,
            member: self.first + nth % self.members,
            number: self.part + nth / self.members,
        }
    }

    /// Payload bytes received so far, as far as is known: a transfer of a workload of many counts
    /// when its last byte is delivered.
    pub(super) fn received(&self, simulation: &Simulation) -> u64 {
        let app = self.app;
        if let Some(bulk) = simulation.application::<BulkTransfer>(app) {
            return bulk.received();
        }
        if let Some(telnet) = simulation.application::<Telnet>(app) {
            return telnet.received();
        }
        if let Some(poisson) = simulation.application::<PoissonFlows>(app) {
            return poisson.totals().bytes + delivered_bytes(poisson.under_way());
        }
        if let Some(user) = simulation.application::<User>(app) {
            return user.totals().bytes + delivered_bytes(user.under_way().into_iter());
        }
        if let Some(rounds) = simulation.application::<Rounds>(app) {
            return rounds.received();
        }
        let Some(browsing) = simulation.application::<Browsing>(app) else { return 0 };
        delivered_bytes(browsing.flows().iter())
    }
}

/// Bytes of the transfers whose last byte is delivered; the last ACK may still be under way.
fn delivered_bytes<'f>(flows: impl Iterator<Item = &'f FlowRecord>) -> u64 {
    flows.filter(|flow| flow.received_at.is_some()).map(|flow| flow.bytes).sum()
}

/// A transfer that an application hands on when the run ends.
pub(super) struct FinishedTransfer {
    pub(super) id: FlowId,
    pub(super) flow: FlowRecord,
    /// Bytes of it received in the measured interval; `None` if that is not known.
    pub(super) received: Option<u64>,
}

impl FinishedTransfer {
    const fn new(id: FlowId, flow: &FlowRecord, received: Option<u64>) -> Self {
        Self { id, flow: *flow, received }
    }
}
