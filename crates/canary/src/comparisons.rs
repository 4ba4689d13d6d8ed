//! All comparisons of an agent, and their consequences. A part of the connections is stopped once
//! warm starts are significantly slower there, retransmit too much, or retransmit in too many
//! connections. A gain is claimed once it is significant. Each connection is one more look at each
//! of its comparisons.

use crate::budget::ErrorShare;
use crate::interval::ConfidenceInterval;
use crate::lossy::LossyRatio;
use crate::networks::NetworkTrials;
use crate::part::{
    CanaryPart, LOSSES, PrefixLength, SIZES, WINDOWS, fleet_parts, size_class, window_class,
};
use crate::sequence::MIN_GROUP_CONNECTIONS;
use crate::trial::{CanaryGroup, CanaryOutcome, Trial, TrialSums};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// A connection that has closed and for whose path a window was remembered when it opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CanaryConnection {
    /// Group of the connection.
    pub group: CanaryGroup,
    /// The window that was remembered, segments.
    pub remembered: u32,
    /// The prefix of its path.
    pub network: IpNet,
    /// Class of the bytes that earlier connections of the path carried in the mean ([`SIZES`]).
    pub carried: u8,
    /// Class of the segments that they retransmitted ([`LOSSES`]).
    pub lost: u8,
    /// Bytes that its peer acknowledged.
    pub bytes: u64,
    /// Outcome of the connection.
    pub outcome: CanaryOutcome,
}

/// Order to stop warm starts in a part of the connections, since they do harm there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryStop {
    /// Connections that the action affects.
    pub part: CanaryPart,
    /// Figures that show the harm, as a sentence for the operator.
    pub why: String,
}

/// Current result of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct CanaryFinding {
    /// Connections that were compared.
    pub part: CanaryPart,
    /// Connections that were to start warm.
    pub chosen: u64,
    /// Connections of the control group.
    pub control: u64,
    /// Completion times of chosen connections, divided by those of the control group. `None` if
    /// there are too few connections.
    pub times: Option<ConfidenceInterval>,
    /// Mean retransmissions of chosen connections, divided by those of the control group. `None` if
    /// there are too few connections.
    pub retransmissions: Option<ConfidenceInterval>,
    /// Share of chosen connections that retransmitted anything, divided by that of the control
    /// group. `None` if there are too few connections.
    pub lossy: Option<LossyRatio>,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Canary {
    fewest: u64,
    all: Trial,
    windows: [Trial; WINDOWS.len() + 1],
    sizes: [Trial; SIZES.len() + 1],
    #[serde(default)]
    carried: [Trial; SIZES.len() + 1],
    #[serde(default)]
    lost: [Trial; LOSSES.len() + 1],
    #[serde(default)]
    networks: NetworkTrials,
    /// Comparisons by prefix length, in the order in which lengths were first seen.
    lengths: Vec<(PrefixLength, Trial)>,
}

impl CanaryFinding {
    /// Returns true if warm starts are significantly faster.
    pub fn is_gain(&self) -> bool {
        self.times.is_some_and(|ratio| ratio.high < 1.0)
    }

    /// Returns true if warm starts are significantly slower.
    pub fn is_slower(&self) -> bool {
        self.times.is_some_and(|ratio| ratio.low > 1.0)
    }

    /// Returns true if warm starts significantly retransmit more than `ratio` times as much, or in
    /// more than `ratio` times as many connections.
    pub fn is_lossier(&self, ratio: f64) -> bool {
        self.retransmissions.is_some_and(|of| of.low > ratio)
            || self.lossy.as_ref().is_some_and(|of| of.exceeds(ratio))
    }

    /// Returns the reason why warm starts are to stop in this part: they are significantly slower,
    /// or lossier than `off_ratio`. Returns `None` if they may go on.
    pub fn harm(&self, off_ratio: f64) -> Option<String> {
        let of = |what: &str, much: &str, ratio: ConfidenceInterval, limit: f64| {
            format!(
                "warm starts ({}) {what} {:.2} times as {much} as {} of the control group, with 95 % confidence {:.2} to {:.2} times: more than {limit}",
                self.chosen, ratio.estimate, self.control, ratio.low, ratio.high
            )
        };
        let more = self.retransmissions.filter(|ratio| ratio.low > off_ratio);
        let oftener = self.lossy.as_ref().filter(|ratio| ratio.exceeds(off_ratio));
        let slower = self.times.filter(|_| self.is_slower());
        more.map(|ratio| of("retransmitted", "much", ratio, off_ratio))
            .or_else(|| {
                let ratio = oftener?.interval();
                Some(of("retransmitted in", "many connections", ratio, off_ratio))
            })
            .or_else(|| slower.map(|ratio| of("took", "much", ratio, 1.0)))
    }
}

impl Default for Canary {
    fn default() -> Self {
        Self::new(MIN_GROUP_CONNECTIONS)
    }
}

impl Canary {
    /// Creates the comparisons without any connection. `fewest`: connections in each group of one
    /// stage before any result is reported.
    pub fn new(fewest: u64) -> Self {
        Self {
            fewest,
            all: Trial::default(),
            windows: Default::default(),
            sizes: Default::default(),
            carried: Default::default(),
            lost: Default::default(),
            networks: NetworkTrials::default(),
            lengths: Vec::new(),
        }
    }

    /// Sets the least number of connections for a result.
    pub const fn set_fewest(&mut self, fewest: u64) {
        self.fewest = fewest;
    }

    /// Forgets the comparisons of networks that an order to forget `prefix` concerns
    /// ([`crate::networks::is_of`]). Sums over many networks stay.
    pub fn forget(&mut self, prefix: Option<IpNet>) {
        self.networks.forget(prefix);
    }

    /// Adds a connection. Returns its comparisons, as they are now.
    pub fn add(&mut self, connection: &CanaryConnection) -> Vec<CanaryFinding> {
        let CanaryConnection { group, network, outcome, .. } = *connection;
        let (parts, fewest) = (self.parts_of(connection), self.fewest);
        self.networks.add(network, group, &outcome, fewest);
        for part in parts {
            if let Some(trial) = self.trial_mut(part) {
                trial.add(group, &outcome, fewest);
            }
        }
        let parts = parts.into_iter().chain([CanaryPart::Network(network)]);
        parts.filter_map(|part| self.finding(part)).collect()
    }

    /// Returns all comparisons that have connections, as they are now. The order is: all, by
    /// window, by the paths' history, by prefix length, by network, by bytes.
    pub fn findings(&self) -> Vec<CanaryFinding> {
        let classes = |trials: &[Trial]| 0..u8::try_from(trials.len()).unwrap_or(u8::MAX);
        let windows = classes(&self.windows).map(CanaryPart::Window);
        let carried = classes(&self.carried).map(CanaryPart::Carried);
        let lost = classes(&self.lost).map(CanaryPart::Lost);
        let lengths = self.lengths.iter().map(|(length, _)| CanaryPart::Length(*length));
        let networks = self.networks.networks().into_iter().map(CanaryPart::Network);
        let sizes = classes(&self.sizes).map(CanaryPart::Bytes);
        let parts = windows.chain(carried).chain(lost).chain(lengths).chain(networks).chain(sizes);
        let parts = parts.filter_map(|part| self.finding(part));
        let parts = parts.filter(|finding| finding.chosen + finding.control > 0);
        self.finding(CanaryPart::All).into_iter().chain(parts).collect()
    }

    /// Returns the sums of the parts that a fleet compares, which have connections.
    pub fn sums(&self) -> Vec<(CanaryPart, TrialSums)> {
        let sums = fleet_parts().filter_map(|part| Some((part, self.trial(part)?.0.sums())));
        sums.filter(|(_, sums)| sums.chosen + sums.control > 0).collect()
    }

    /// Ends all stages: the earlier comparisons were by an agent that has ended.
    pub fn end_stages(&mut self) {
        let fewest = self.fewest;
        self.all.end_all(fewest);
        let classes = self.windows.iter_mut().chain(&mut self.sizes);
        let classes = classes.chain(&mut self.carried).chain(&mut self.lost);
        let lengths = self.lengths.iter_mut().map(|(_, trial)| trial);
        let trials = classes.chain(lengths).chain(self.networks.trials_mut());
        trials.for_each(|trial| trial.end_all(fewest));
    }

    /// Returns the current result of a comparison. Returns `None` for a prefix length that was
    /// never seen, and for a network that cannot be compared yet.
    pub fn finding(&self, part: CanaryPart) -> Option<CanaryFinding> {
        let (trial, share) = self.trial(part)?;
        Some(CanaryFinding {
            part,
            chosen: trial.chosen(),
            control: trial.control(),
            times: trial.time_ratio(self.fewest).map(|ratio| share.times().ratio(ratio)),
            retransmissions: trial
                .retransmission_ratio(self.fewest)
                .map(|ratio| share.retransmissions().ratio(ratio)),
            lossy: trial.lossy_stages(self.fewest).ratio(share.loss_ratio_error()),
        })
    }

    /// Returns the parts of a connection but for its network. Adds a prefix length that is new.
    fn parts_of(&mut self, connection: &CanaryConnection) -> [CanaryPart; 6] {
        let length = PrefixLength::of(connection.network);
        if self.place_of(length).is_none() {
            self.lengths.push((length, Trial::default()));
        }
        [
            CanaryPart::All,
            CanaryPart::Window(window_class(connection.remembered)),
            CanaryPart::Carried(connection.carried),
            CanaryPart::Lost(connection.lost),
            CanaryPart::Length(length),
            CanaryPart::Bytes(size_class(connection.bytes)),
        ]
    }

    fn place_of(&self, length: PrefixLength) -> Option<usize> {
        self.lengths.iter().position(|(other, _)| *other == length)
    }

    /// Returns the comparison of a part with its share of the error. Returns `None` for a prefix
    /// length that was never seen, and for a network that cannot be compared yet.
    fn trial(&self, part: CanaryPart) -> Option<(&Trial, ErrorShare)> {
        match part {
            CanaryPart::All => Some((&self.all, ErrorShare::ALL)),
            CanaryPart::Window(n) => class(&self.windows, n),
            CanaryPart::Carried(n) => class(&self.carried, n),
            CanaryPart::Lost(n) => class(&self.lost, n),
            CanaryPart::Bytes(n) => class(&self.sizes, n),
            CanaryPart::Network(network) => {
                let (trial, rank) = self.networks.ranked_trial(network)?;
                Some((trial, ErrorShare::of_nth(rank)))
            }
            CanaryPart::Length(length) => {
                let place = self.place_of(length)?;
                Some((&self.lengths.get(place)?.1, ErrorShare::of_nth(place as u64)))
            }
        }
    }

    /// Returns the comparison of a part. Returns `None` for a network: [`NetworkTrials::add`] adds
    /// to those.
    fn trial_mut(&mut self, part: CanaryPart) -> Option<&mut Trial> {
        match part {
            CanaryPart::All => Some(&mut self.all),
            CanaryPart::Window(class) => self.windows.get_mut(usize::from(class)),
            CanaryPart::Carried(class) => self.carried.get_mut(usize::from(class)),
            CanaryPart::Lost(class) => self.lost.get_mut(usize::from(class)),
            CanaryPart::Bytes(class) => self.sizes.get_mut(usize::from(class)),
            CanaryPart::Network(_) => None,
            CanaryPart::Length(length) => {
                let place = self.place_of(length)?;
                self.lengths.get_mut(place).map(|(_, trial)| trial)
            }
        }
    }
}

/// Returns class `n` of a division into classes, with its share of the error.
fn class(of: &[Trial], n: u8) -> Option<(&Trial, ErrorShare)> {
    Some((of.get(usize::from(n))?, ErrorShare::of_class(of.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `n`th of a side: times lie around `time_s` by a tenth, and each tenth one retransmits
    /// `retransmissions` segments.
    fn connection(n: u32, is_chosen: bool, time_s: f64, retransmissions: u32) -> CanaryConnection {
        let factor = if n.is_multiple_of(2) { 1.1 } else { 1.0 / 1.1 };
        let outcome = CanaryOutcome {
            time_s: time_s * factor,
            retransmissions: if n.is_multiple_of(10) { retransmissions } else { 0 },
        };
        let group = CanaryGroup { stage: 0, is_chosen };
        let network = "192.0.2.0/24".parse().unwrap();
        CanaryConnection {
            group,
            remembered: 30,
            network,
            carried: 2,
            lost: 3,
            bytes: 1000,
            outcome,
        }
    }

    fn after(count: u32, time_s: f64, retransmissions: u32) -> Canary {
        let mut canary = Canary::default();
        for n in 0..count {
            canary.add(&connection(n, false, 1.0, 1));
            canary.add(&connection(n, true, time_s, retransmissions));
        }
        canary
    }

    #[test]
    fn each_connection_counts_in_each_of_its_parts() {
        let findings = after(200, 0.5, 1).findings();
        let parts = findings.iter().map(|finding| finding.part.to_string()).collect::<Vec<_>>();
        let expected = [
            "all",
            "window to 32",
            "path carried to 262144",
            "path lost beyond",
            "IPv4 /24",
            "network 192.0.2.0/24",
            "bytes to 16384",
        ];
        assert_eq!(parts, expected);
        for finding in &findings {
            assert_eq!((finding.chosen, finding.control), (200, 200));
            assert!(finding.is_gain() && finding.harm(2.0).is_none(), "{finding:?}");
        }
        // The more comparisons share an error, the less each may have: wider intervals.
        let widths = findings.iter().map(|f| f.times.unwrap()).map(|ratio| ratio.high / ratio.low);
        let widths: Vec<_> = widths.collect();
        // All, then the first of lengths and networks, then one of four classes, then one of five.
        let [all, window, carried, lost, length, network, bytes] = widths[..] else { panic!() };
        assert!(all < length && length == network && network < lost && lost < window);
        assert!(window == carried && carried == bytes);
    }

    #[test]
    fn slower_is_harm_and_so_are_retransmissions_beyond_the_limit() {
        let slower = after(200, 1.5, 1).finding(CanaryPart::All).unwrap();
        let why = slower.harm(2.0).unwrap();
        assert!(why.starts_with("warm starts (200) took 1.50 times as much as 200 of"), "{why}");
        // A tenth of 4,000 connections retransmits 8 segments where one was before: eight times as
        // much, and surely more than twice, not than eight times.
        let lossier = after(4000, 1.0, 8).finding(CanaryPart::All).unwrap();
        let why = lossier.harm(2.0).unwrap();
        assert!(why.contains("retransmitted 8.00 times as much"), "{why}");
        assert_eq!(lossier.harm(8.0), None);
        let same = after(200, 1.0, 1).finding(CanaryPart::All).unwrap();
        assert!(same.harm(1.0).is_none() && !same.is_gain());
    }

    #[test]
    fn few_connections_decide_nothing_however_bad_they_are() {
        let finding = after(99, 10.0, 20).finding(CanaryPart::All).unwrap();
        assert_eq!((finding.times, finding.retransmissions, finding.harm(1.0)), (None, None, None));
    }
}
