//! A run: all sites of a gateway side by side, in steps of simulated time.

use super::FleetShare;
use super::server::SimulatedServer;
use super::tally::{Kept, Tally, processor_s, resident_bytes};
use canary::comparisons::{Canary, CanaryConnection};
use canary::trial::{CanaryGroup, CanaryOutcome};
use gateway::config::options::GatewayOptions;
use gateway::config::permission::Allowed;
use gateway::config::{DaemonConfig, Rules};
use gateway::replay::site_load::SiteLoad;
use gateway::site::GatewaySite;
use gateway::site::tenant::{Speaker, Tenant};
use gateway_proto::v1::{Answer, HostComparison, Query, ReportBatch, answer};
use std::error::Error;
use std::iter::Peekable;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use units::{Duration, Instant};

/// Agents close a batch each step.
const STEP: Duration = Duration::from_millis(250);
/// Steps of a second.
const STEPS: u64 = 4;
/// Agents send their sums every ten seconds.
const STEPS_PER_COMPARISON: u64 = 10 * STEPS;
/// Networks of the load of one site ([`SiteLoad::new`]).
const NETWORKS_OF_LOAD: f64 = 106_669.0;
/// The gateway's clock starts in 2027, as it would.
const START: Instant = Instant::from_nanos(1_800_000_000_000_000_000);

pub(crate) struct Play {
    share: FleetShare,
    limit: usize,
    site: GatewaySite,
    rules: Arc<Rules>,
    allowed: Allowed,
    sites: Vec<SimulatedSite>,
    sums: HostComparison,
    tally: Tally,
}

/// A site with its servers.
struct SimulatedSite {
    tenant: Arc<Tenant>,
    load: Peekable<SiteLoad>,
    servers: Vec<SimulatedServer>,
    requests: u64,
}

/// The messages of a step, each with its site and server.
struct Step {
    now: Instant,
    questions: Vec<(usize, usize, Query)>,
    batches: Vec<(usize, usize, ReportBatch)>,
}

impl Play {
    pub(crate) fn new(share: FleetShare, limit: usize) -> Result<Self, Box<dyn Error>> {
        let tenants: String =
            (0..share.sites).map(|site| format!("[[tenant]]\nname = \"site-{site}\"\n")).collect();
        let text = format!("state = \"none\"\nmax-networks = {limit}\n{tenants}");
        let options =
            GatewayOptions::parse(&text, "gateway.toml").map_err(|why| why.to_string())?;
        let site = GatewaySite::new(&DaemonConfig::new(&options, Path::new(""), None)?, 1)?;
        let sites = site.tenants().into_iter().enumerate();
        let sites =
            sites.map(|(number, tenant)| SimulatedSite::new(share, number, tenant)).collect();
        let (rules, allowed, tally) = (site.rules(), Allowed::everything(), Tally::default());
        Ok(Self { share, limit, site, rules, allowed, sites, sums: sums(), tally })
    }

    /// Plays the whole time, and prints the run's line.
    pub(crate) async fn run(mut self) {
        let before = resident_bytes();
        let (steps, mut counted) = (self.share.seconds * STEPS, 0);
        for number in 1..=steps {
            // The first two thirds fill the memory.
            if number == steps * 2 / 3 {
                (self.tally, counted) = (Tally::default(), steps - number);
            }
            let step = self.step(START + STEP * number);
            self.answer(&step);
            self.take(&step).await;
            if number.is_multiple_of(STEPS_PER_COMPARISON) {
                self.compare(step.now);
            }
        }
        let tenants = self.site.tenants();
        let networks = |tenant: &Arc<Tenant>| tenant.memory().networks().count();
        let kept = Kept {
            limit: self.limit,
            networks: tenants.iter().map(networks).sum(),
            entries: tenants.iter().map(|tenant| tenant.memory().len()).sum(),
            bytes: resident_bytes().saturating_sub(before),
        };
        self.tally.line(counted as f64 / STEPS as f64, kept);
    }

    /// Lets the servers serve until `now`.
    fn step(&mut self, now: Instant) -> Step {
        let mut step = Step { now, questions: Vec::new(), batches: Vec::new() };
        for (place, site) in self.sites.iter_mut().enumerate() {
            while let Some(request) = site.load.next_if(|request| request.at <= now) {
                let IpAddr::V4(client) = request.client else { continue };
                site.requests += 1;
                // A load balancer that knows no visitor.
                let chosen = site.requests.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
                let server = chosen as usize % site.servers.len();
                let question = site.servers[server].serve(client.to_bits() >> 8);
                step.questions.extend(question.map(|query| (place, server, query)));
            }
            for (server, batch) in site.servers.iter_mut().map(SimulatedServer::batch).enumerate() {
                step.batches.extend(batch.map(|batch| (place, server, batch)));
            }
        }
        step
    }

    fn speaker<'a>(&'a self, site: &'a SimulatedSite, server: usize) -> Speaker<'a> {
        let identity = &site.servers[server].identity;
        Speaker { identity, allowed: &self.allowed, rules: &self.rules }
    }

    fn answer(&mut self, step: &Step) {
        let begun = processor_s();
        let answers: Vec<Answer> = step
            .questions
            .iter()
            .map(|(place, server, query)| {
                let site = &self.sites[*place];
                let result = match site.tenant.answer(step.now, self.speaker(site, *server), query)
                {
                    Ok(estimate) => answer::Result::Estimate(estimate),
                    Err(why) => answer::Result::None(why.into()),
                };
                Answer { id: query.id, result: Some(result) }
            })
            .collect();
        self.tally.questions.processor_s += processor_s() - begun;
        step.questions.iter().for_each(|(_, _, query)| self.tally.questions.add(query));
        answers.iter().for_each(|answer| self.tally.note_answer(answer));
    }

    async fn take(&mut self, step: &Step) {
        let begun = processor_s();
        let mut acks = Vec::with_capacity(step.batches.len());
        for (place, server, batch) in &step.batches {
            let site = &self.sites[*place];
            let speaker = self.speaker(site, *server);
            acks.push(site.tenant.take(step.now, speaker, batch, &self.site.counts).await);
        }
        let taken = processor_s();
        self.site.tell_changes(step.now);
        self.tally.batches.processor_s += taken - begun;
        self.tally.changes.processor_s += processor_s() - taken;
        for ((_, _, batch), ack) in step.batches.iter().zip(acks) {
            let ack = ack.expect("a batch makes sense");
            assert_eq!(ack.taken as usize, batch.reports.len(), "{ack:?}");
            self.tally.reports += u64::from(ack.taken);
            self.tally.batches.add(batch);
            self.tally.acks.add(&ack);
        }
    }

    /// All servers send their sums.
    fn compare(&mut self, now: Instant) {
        for place in 0..self.sites.len() {
            for server in 0..self.share.servers {
                let begun = processor_s();
                let site = &self.sites[place];
                let found = site.tenant.compare(now, self.speaker(site, server), &self.sums);
                self.tally.comparisons.processor_s += processor_s() - begun;
                self.tally.comparisons.add(&self.sums);
                self.tally.findings.add(&found.expect("sums of connections"));
            }
        }
    }
}

impl SimulatedSite {
    fn new(share: FleetShare, number: usize, tenant: Arc<Tenant>) -> Self {
        let servers = 0..share.servers;
        let load = SiteLoad::new(number as u64, START, share.networks / NETWORKS_OF_LOAD)
            .at_rate(share.connections * share.servers as f64);
        Self {
            servers: servers.map(|server| SimulatedServer::new(&tenant.name, server)).collect(),
            load: load.peekable(),
            tenant,
            requests: 0,
        }
    }
}

/// Returns the sums of a server with 4,000 connections to 40 networks, one of twenty in the control
/// group.
fn sums() -> HostComparison {
    let mut canary = Canary::default();
    for n in 0..4000_u32 {
        let network = ipnet::Ipv4Net::new_assert([192, 0, (n % 40) as u8, 0].into(), 24);
        let time_s = 0.1 * (1.0 + f64::from(n * 37 % 97) / 97.0);
        canary.add(&CanaryConnection {
            group: CanaryGroup { stage: 0, is_chosen: n % 20 > 0 },
            remembered: 10 + n % 90,
            network: network.into(),
            carried: 40,
            lost: 0,
            bytes: 10_000 + u64::from(n) * 100,
            outcome: CanaryOutcome { time_s, retransmissions: 0 },
        });
    }
    HostComparison::of(&canary.sums())
}
