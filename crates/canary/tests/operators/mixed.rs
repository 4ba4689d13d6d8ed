//! Mixed sites: warm starts help most connections and harm some. All connections together gain, so
//! only a comparison of parts finds the harm.

use crate::operators::{OFF_RATIO, Random, network_of};
use canary::comparisons::{Canary, CanaryConnection};
use canary::part::CanaryPart;
use canary::trial::{CanaryGroup, CanaryOutcome};
use ipnet::IpNet;

/// Share of the control group.
const CONTROL: f64 = 0.05;

/// Connections with the same behaviour.
struct Kind {
    /// Share of all connections.
    share: f64,
    /// Numbers of their networks: the first, and how many.
    networks: (usize, usize),
    /// Classes of their paths' rates and losses, and the remembered window.
    carried: u8,
    lost: u8,
    remembered: u32,
    bytes: u64,
    /// Typical time without a warm start, seconds, and the standard deviation of its logarithm.
    time_s: f64,
    scatter: f64,
    /// Share that loses something.
    lossy: f64,
    /// Factor by which warm starts change the time. Above 1 is harm.
    effect: f64,
}

/// A mixed site.
pub(crate) struct MixedSite {
    /// Its row in the table.
    pub(crate) name: &'static str,
    kinds: &'static [Kind],
    /// Parts in which most connections are harmed.
    harmed: fn(CanaryPart) -> bool,
}

/// After how many connections of the server the harm was found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HarmFound {
    /// A part of the harmed connections was stopped.
    pub(crate) stopped: Option<u32>,
    /// A class of sizes was reported as slower.
    pub(crate) told: Option<u32>,
    /// A part that gains was stopped.
    pub(crate) is_wrong: bool,
}

const SMALL: Kind = Kind {
    share: 0.83,
    networks: (0, 80),
    carried: 0,
    lost: 0,
    remembered: 40,
    bytes: 10_000,
    time_s: 0.12,
    scatter: 0.5,
    lossy: 0.002,
    effect: 0.7,
};

/// Small answers that gain, and answers of 2 MB over paths that lose, which take half as long
/// again.
pub(crate) const LOSSY_PATHS: MixedSite = MixedSite {
    name: "15 % lossy 2 MB answers take 1.5 times as long",
    kinds: &[
        SMALL,
        Kind {
            share: 0.15,
            networks: (80, 15),
            carried: 4,
            lost: 2,
            remembered: 24,
            bytes: 2_000_000,
            time_s: 2.0,
            lossy: 0.9,
            effect: 1.5,
            ..SMALL
        },
        Kind { share: 0.02, networks: (95, 5), carried: 2, bytes: 100_000, effect: 1.0, ..SMALL },
    ],
    harmed: |part| match part {
        CanaryPart::Window(n) => n == 1,
        CanaryPart::Carried(n) => n == 4,
        CanaryPart::Lost(n) => n == 2,
        CanaryPart::Network(network) => (80..95).any(|n| network == network_of(n, true)),
        _ => false,
    },
};

/// The same answers where every path has both kinds: no connection of the harmed kind is known
/// before it starts.
pub(crate) const SAME_PATHS: MixedSite = MixedSite {
    name: "the same, on the paths of the small ones",
    kinds: &[
        Kind { share: 0.85, ..SMALL },
        Kind { share: 0.15, bytes: 2_000_000, time_s: 2.0, lossy: 0.9, effect: 1.5, ..SMALL },
    ],
    harmed: |_| false,
};

/// One network in ten connections is harmed, and looks like the others.
pub(crate) const ONE_NETWORK: MixedSite = MixedSite {
    name: "one network of 10 % takes 1.5 times as long",
    kinds: &[
        Kind { share: 0.9, ..SMALL },
        Kind { share: 0.1, networks: (99, 1), effect: 1.5, ..SMALL },
    ],
    harmed: |part| part == CanaryPart::Network(network_of(99, true)),
};

impl MixedSite {
    /// Plays a server, which looks after every connection, until all that can be found is found; at
    /// most `most` connections.
    pub(crate) fn play(&self, seed: u64, most: u32) -> HarmFound {
        let (mut random, mut canary) = (Random::new(seed), Canary::default());
        let networks: Vec<_> = (0..100).map(|n| network_of(n, true)).collect();
        let mut found = HarmFound::default();
        for n in 1..=most {
            let connection = self.connection(&mut random, &networks);
            for finding in canary.add(&connection) {
                if matches!(finding.part, CanaryPart::Bytes(_)) && finding.is_slower() {
                    found.told.get_or_insert(n);
                }
                if finding.part.can_be_stopped() && finding.harm(OFF_RATIO).is_some() {
                    match (self.harmed)(finding.part) {
                        true => drop(found.stopped.get_or_insert(n)),
                        false => found.is_wrong = true,
                    }
                }
            }
            if found.told.is_some() && found.stopped.is_some() {
                break;
            }
        }
        found
    }

    fn connection(&self, random: &mut Random, networks: &[IpNet]) -> CanaryConnection {
        let mut drawn = random.uniform();
        let last = self.kinds.len() - 1;
        let at = self.kinds[..last].iter().position(|kind| {
            drawn -= kind.share;
            drawn < 0.0
        });
        let kind = &self.kinds[at.unwrap_or(last)];
        let network = kind.networks.0 + (random.uniform() * kind.networks.1 as f64) as usize;
        let is_chosen = random.uniform() >= CONTROL;
        let effect = if is_chosen { kind.effect } else { 1.0 };
        let time_s = kind.time_s * (kind.scatter * random.normal()).exp() * effect;
        let loses = random.uniform() < kind.lossy;
        let retransmissions = if loses { 1 + (random.uniform() * 20.0) as u32 } else { 0 };
        CanaryConnection {
            group: CanaryGroup { stage: 0, is_chosen },
            remembered: kind.remembered,
            network: networks[network],
            carried: kind.carried,
            lost: kind.lost,
            bytes: kind.bytes,
            outcome: CanaryOutcome { time_s, retransmissions },
        }
    }
}
