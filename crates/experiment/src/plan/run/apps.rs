//! Workloads as applications: adding them, and reading off what became of them.

use crate::plan::document::Pairing;
use crate::plan::scenario::{Activity, Begin, Group, Net};
use netsim::{
    AppId, Application, BulkSpec, BulkTransfer, Cbr, CbrSpec, FlowRecord, HostId, OnOff, OnOffSpec,
    RoundPair, Rounds, RoundsSpec, Simulation, Telnet, TelnetSpec, stream,
};
use rand_core::RngCore;
use units::{Duration, Instant};

/// One application of a workload: a member, or all members in one.
pub(super) struct Actor {
    /// Which workload, by its number.
    pub(super) group: usize,
    /// The first member it plays.
    first: usize,
    /// How many.
    members: usize,
    app: AppId,
}

/// Adds a workload's applications; `index` is its number.
pub(super) fn add(
    simulation: &mut Simulation,
    (index, group): (usize, &Group),
    (net, seed): (&Net, u64),
) -> Vec<Actor> {
    let members: Vec<Member<'_>> =
        (0..group.members).map(|number| Member::new(group, number, (net, seed))).collect();
    if let Activity::Rounds { .. } = &group.activity {
        let count = members.len();
        let rounds = members.first().map(|first| (first.begin, rounds(group, &members)));
        let actor = rounds.map(|(at, app)| (0, count, seat(simulation, group, (at, app))));
        let actor = actor.map(|(first, members, app)| Actor { group: index, first, members, app });
        return actor.into_iter().collect();
    }
    let each = members.iter().enumerate().map(|(first, member)| {
        let app = member.add(simulation, seed);
        Actor { group: index, first, members: 1, app }
    });
    each.collect()
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
    fn new(group: &'a Group, number: u32, (net, seed): (&Net, u64)) -> Self {
        let name = format!("{}/{number}", group.name);
        let (from, to) = hosts(group, number, (net, seed));
        let begin = begin(group, number, seed);
        Self { group, name, from, to, begin }
    }

    fn add(&self, simulation: &mut Simulation, seed: u64) -> AppId {
        let Self { group, from, to, begin, .. } = *self;
        let (scheme, receiver) = (group.scheme.clone(), group.receiver.clone());
        match &group.activity {
            Activity::Bulk { size, close } => {
                let bytes = size.as_ref().map(|size| {
                    size.sample_count(&mut stream(seed, &format!("workload/{}/size", self.name)))
                });
                let close = *close;
                let spec = BulkSpec { from, to, bytes, scheme, receiver, close };
                seat(simulation, group, (begin, BulkTransfer::new(spec)))
            }
            Activity::Telnet { gaps, bytes, count } => {
                let (name, gaps) = (self.name.clone(), gaps.clone());
                let (bytes, count) = (*bytes, *count);
                let spec = TelnetSpec { name, from, to, gaps, bytes, count, scheme, receiver };
                seat(simulation, group, (begin, Telnet::new(spec)))
            }
            Activity::Cbr { interval, wire_bytes, count } => {
                let (wire_bytes, interval, count) = (*wire_bytes, *interval, *count);
                let spec = CbrSpec { from, to, wire_bytes, interval, count };
                seat(simulation, group, (begin, Cbr::new(spec)))
            }
            Activity::OnOff { rate, wire_bytes, on, off } => {
                let (name, rate, wire_bytes) = (self.name.clone(), *rate, *wire_bytes);
                let (on, off) = (on.clone(), off.clone());
                let spec = OnOffSpec { name, from, to, wire_bytes, rate, on, off };
                seat(simulation, group, (begin, OnOff::new(spec)))
            }
            Activity::Rounds { .. } => unreachable!("all members of rounds are one application"),
        }
    }
}

/// All members of a workload of rounds in one application.
fn rounds(group: &Group, members: &[Member<'_>]) -> Rounds {
    let Activity::Rounds { size, rounds, jitter, idle } = &group.activity else {
        unreachable!("the caller has looked");
    };
    let pairs = members.iter().map(|member| RoundPair {
        from: member.from,
        to: member.to,
        scheme: group.scheme.clone(),
        receiver: group.receiver.clone(),
    });
    Rounds::new(RoundsSpec {
        name: group.name.clone(),
        pairs: pairs.collect(),
        rounds: *rounds,
        bytes: size.clone(),
        start: jitter.clone(),
        idle: *idle,
    })
}

fn seat(
    simulation: &mut Simulation,
    group: &Group,
    (begin, app): (Instant, impl Application),
) -> AppId {
    match group.background {
        true => simulation.add_background(begin, app),
        false => simulation.add(begin, app),
    }
}

/// The hosts of a member; drawn from a stream of its own if they are random.
fn hosts(group: &Group, number: u32, (net, seed): (&Net, u64)) -> (HostId, HostId) {
    let of = |hosts: &[HostId], n: u64| hosts[(n % hosts.len() as u64) as usize];
    if group.pairing == Pairing::Parallel {
        return (of(&group.from, u64::from(number)), of(&group.to, u64::from(number)));
    }
    let mut stream = stream(seed, &format!("workload/{}/{number}/hosts", group.name));
    loop {
        let (from, to) = (of(&group.from, stream.next_u64()), of(&group.to, stream.next_u64()));
        if net.is_apart(from, to) {
            return (from, to);
        }
    }
}

/// When a member begins; drawn from a stream of its own, so that members shift no others.
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

impl Actor {
    /// The transfers so far.
    pub(super) fn flows<'a>(&self, simulation: &'a Simulation) -> &'a [FlowRecord] {
        let app = self.app;
        if let Some(bulk) = simulation.application::<BulkTransfer>(app) {
            return bulk.flows();
        }
        if let Some(rounds) = simulation.application::<Rounds>(app) {
            return rounds.flows();
        }
        simulation.application::<Telnet>(app).map_or(&[], Telnet::flows)
    }

    /// The member whose `nth` transfer in order this is, and which of its own it is.
    pub(super) const fn place(&self, nth: usize) -> (usize, usize) {
        (self.first + nth % self.members, nth / self.members)
    }

    /// Payload bytes received so far, as far as is known: a transfer of a workload of many counts
    /// when it is over.
    pub(super) fn received(&self, simulation: &Simulation) -> u64 {
        if let Some(bulk) = simulation.application::<BulkTransfer>(self.app) {
            return bulk.received();
        }
        let over = self.flows(simulation).iter().filter(|flow| flow.received_at.is_some());
        over.map(|flow| flow.bytes).sum()
    }
}
