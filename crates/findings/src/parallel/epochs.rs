//! Loss epochs of a host (§3.2.2, §3.2.3): from a loss on one of its connections until all data
//! outstanding then, on all of them, is acknowledged.

use super::line::{CountLine, LineFit};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use units::Instant;

/// Number of rows by open connections; the last has hosts with as many or more.
const ROWS: usize = 32;
/// Number of steps of the share of the outstanding window (§3.2.3: 0.05).
const SHARES: usize = 20;

/// Loss epochs of hosts with this many open connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct EpochRow {
    /// Open connections; 32 stands for 32 and more.
    pub open: usize,
    /// Number of epochs.
    pub epochs: u64,
    /// Mean number of connections with data outstanding when the epoch started.
    pub outstanding: f64,
    /// Mean number of connections with a loss in the epoch (Figure 7).
    pub hit: f64,
    /// Part of the host's outstanding window that is left if all connections with a loss halve
    /// theirs (Figure 8).
    pub left_by_fast_recovery: f64,
    /// Part that is left if all connections with a loss reduce theirs to one segment.
    pub left_by_timeout: f64,
    /// Part that one connection with all of the window would have left by halving it.
    pub one_by_fast_recovery: f64,
    /// Part that one connection would have left by reducing it to one segment.
    pub one_by_timeout: f64,
}

/// Connections with approximately this share of their host's outstanding window (Figures 9 and 10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ShareStep {
    /// The share, in `0..=1`; its step extends 0.025 to either side.
    pub share: f64,
    /// Number of connections.
    pub connections: u64,
    /// Number of these connections with a loss in the epoch.
    pub hit: u64,
    /// Expected number of connections with a loss if losses hit segments at random: the sum of
    /// `1 - (1 - x)^k` for k losses.
    pub ideal: f64,
}

/// Results about loss epochs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EpochFindings {
    /// Number of epochs.
    pub epochs: u64,
    /// Rows by the number of open connections; numbers without epochs are left out.
    pub by_open: Vec<EpochRow>,
    /// The line through all epochs: connections with a loss, by connections open (the paper's: 0.50
    /// n + 0.1).
    pub hit_by_open: Option<LineFit>,
    /// Steps of the share of the outstanding window, of epochs with two connections or more.
    pub by_share: Vec<ShareStep>,
}

/// A connection in an epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// Its number.
    pub(crate) connection: u64,
    /// Next new offset when the epoch started.
    pub(crate) end: u64,
    /// Bytes outstanding then.
    pub(crate) outstanding: u64,
    /// Payload of a full segment.
    pub(crate) mss: u64,
    /// Segments lost.
    pub(crate) losses: u32,
    /// True once all of this data is acknowledged.
    pub(crate) done: bool,
}

/// A loss epoch that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossEpoch {
    /// The host whose connections these are.
    pub client: IpAddr,
    /// Time at which the first loss was found.
    pub began: Instant,
    /// Time at which all data outstanding then is acknowledged.
    pub ended: Instant,
    /// Number of open connections.
    pub open: u64,
    /// Number of these connections with data outstanding when it started.
    pub outstanding: u64,
    /// Number of these connections with a loss in it.
    pub hit: u64,
    /// Segments lost.
    pub losses: u64,
    /// Data outstanding when it started, bytes.
    pub outstanding_bytes: u64,
    /// Part of these bytes on connections with a loss.
    pub hit_bytes: u64,
}

/// An open loss epoch.
#[derive(Clone, Debug)]
pub(crate) struct Epoch {
    client: IpAddr,
    began: Instant,
    members: Vec<Member>,
    waiting: usize,
}

impl Epoch {
    /// Starts an epoch of these connections of `client`.
    pub(crate) fn new(client: IpAddr, began: Instant, mut members: Vec<Member>) -> Self {
        members.iter_mut().for_each(|member| member.done = member.outstanding == 0);
        let waiting = members.iter().filter(|member| !member.done).count();
        Self { client, began, members, waiting }
    }

    /// Returns the epoch, which is over; `None` if nothing was outstanding.
    pub(crate) fn epoch_at(&self, ended: Instant) -> Option<LossEpoch> {
        let sum = |of: fn(&Member) -> u64| self.members.iter().map(of).sum::<u64>();
        let outstanding_bytes = sum(|member| member.outstanding);
        (outstanding_bytes > 0).then(|| LossEpoch {
            client: self.client,
            began: self.began,
            ended: ended.max(self.began),
            open: self.members.len() as u64,
            outstanding: sum(|member| u64::from(member.outstanding > 0)),
            hit: sum(|member| u64::from(member.losses > 0)),
            losses: sum(|member| member.losses.into()),
            outstanding_bytes,
            hit_bytes: sum(|member| if member.losses > 0 { member.outstanding } else { 0 }),
        })
    }

    fn member(&mut self, seat: u32, connection: u64) -> Option<&mut Member> {
        self.members.get_mut(seat as usize).filter(|member| member.connection == connection)
    }

    /// Notes that the connection in `seat` lost the segment that begins at `start`.
    pub(crate) fn on_loss(&mut self, seat: u32, connection: u64, start: u64) {
        if let Some(member) = self.member(seat, connection).filter(|member| start < member.end) {
            member.losses += 1;
        }
    }

    /// Notes that all data below `una` is acknowledged on the connection in `seat`; returns true if
    /// the epoch is over.
    pub(crate) fn on_ack(&mut self, seat: u32, connection: u64, una: u64) -> bool {
        let waiting = self.member(seat, connection);
        if let Some(member) = waiting.filter(|member| !member.done && una >= member.end) {
            member.done = true;
            self.waiting -= 1;
        }
        self.waiting == 0
    }
}

/// A sum of numbers in `0..=1`, in units of 2^-60: sums of whole numbers do not depend on their
/// order.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct PartSum(u128);

impl PartSum {
    const UNITS: f64 = (1_u64 << 60) as f64;

    fn add(&mut self, part: f64) {
        self.0 += (part * Self::UNITS).round() as u128;
    }

    fn total(self) -> f64 {
        self.0 as f64 / Self::UNITS
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct RowSums {
    epochs: u64,
    outstanding: u64,
    hit: u64,
    left_by_fast_recovery: PartSum,
    left_by_timeout: PartSum,
    one_by_timeout: PartSum,
}

/// Sums of a [`ShareStep`].
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct ShareSums {
    connections: u64,
    hit: u64,
    ideal: PartSum,
}

/// Adds up epochs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EpochCounters {
    rows: [RowSums; ROWS],
    line: CountLine,
    shares: [ShareSums; SHARES + 1],
}

impl EpochCounters {
    /// Adds an epoch that is over.
    pub(crate) fn add(&mut self, epoch: &Epoch) {
        let members = &epoch.members;
        let sum = |of: fn(&Member) -> u64| members.iter().map(of).sum::<u64>() as f64;
        let total = sum(|member| member.outstanding);
        if total <= 0.0 {
            return;
        }
        let hit = members.iter().filter(|member| member.losses > 0).count() as u64;
        let lost = sum(|member| if member.losses > 0 { member.outstanding } else { 0 });
        let segments = sum(|member| match member.losses {
            0 => 0,
            _ => member.mss.min(member.outstanding),
        });
        let row = &mut self.rows[members.len().clamp(1, ROWS) - 1];
        row.epochs += 1;
        row.outstanding += members.iter().filter(|member| member.outstanding > 0).count() as u64;
        row.hit += hit;
        row.left_by_fast_recovery.add(1.0 - lost / 2.0 / total);
        row.left_by_timeout.add(1.0 - (lost - segments) / total);
        let mss = members.iter().map(|member| member.mss).max().unwrap_or(0) as f64;
        row.one_by_timeout.add(mss.min(total) / total);
        self.line.add(members.len() as u64, hit);
        if members.len() > 1 {
            self.add_shares(members, total);
        }
    }

    /// Adds each member's share of the outstanding data, and whether it lost a segment. In the
    /// ideal case each loss hits a member with the probability of its share.
    fn add_shares(&mut self, members: &[Member], total: f64) {
        let losses: u32 = members.iter().map(|member| member.losses).sum();
        for member in members {
            let share = member.outstanding as f64 / total;
            let step = &mut self.shares[(share * SHARES as f64).round() as usize];
            step.connections += 1;
            step.hit += u64::from(member.losses > 0);
            step.ideal.add(1.0 - (1.0 - share).powi(losses.min(1 << 20) as i32));
        }
    }

    /// Adds other epochs.
    pub(crate) fn add_all(&mut self, other: &Self) {
        for (row, more) in self.rows.iter_mut().zip(&other.rows) {
            row.epochs += more.epochs;
            row.outstanding += more.outstanding;
            row.hit += more.hit;
            row.left_by_fast_recovery.0 += more.left_by_fast_recovery.0;
            row.left_by_timeout.0 += more.left_by_timeout.0;
            row.one_by_timeout.0 += more.one_by_timeout.0;
        }
        self.line.add_all(&other.line);
        for (step, more) in self.shares.iter_mut().zip(&other.shares) {
            step.connections += more.connections;
            step.hit += more.hit;
            step.ideal.0 += more.ideal.0;
        }
    }

    /// Returns the findings of the epochs so far.
    pub(crate) fn findings(&self) -> EpochFindings {
        let rows = self.rows.iter().zip(1..).filter(|(sums, _)| sums.epochs > 0);
        let share = |step: usize| step as f64 / SHARES as f64;
        let shares = self.shares.iter().enumerate();
        EpochFindings {
            epochs: self.rows.iter().map(|row| row.epochs).sum(),
            by_open: rows.map(|(sums, open)| sums.epoch_row(open)).collect(),
            hit_by_open: self.line.fit_line(),
            by_share: shares.map(|(n, sums)| sums.step(share(n))).collect(),
        }
    }
}

impl ShareSums {
    fn step(&self, share: f64) -> ShareStep {
        let Self { connections, hit, ideal } = *self;
        ShareStep { share, connections, hit, ideal: ideal.total() }
    }
}

impl RowSums {
    /// Returns the means over the epochs of hosts with `open` connections.
    fn epoch_row(&self, open: usize) -> EpochRow {
        let epochs = self.epochs as f64;
        EpochRow {
            open,
            epochs: self.epochs,
            outstanding: self.outstanding as f64 / epochs,
            hit: self.hit as f64 / epochs,
            left_by_fast_recovery: self.left_by_fast_recovery.total() / epochs,
            left_by_timeout: self.left_by_timeout.total() / epochs,
            one_by_fast_recovery: 0.5,
            one_by_timeout: self.one_by_timeout.total() / epochs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(connection: u64, outstanding: u64) -> Member {
        Member { connection, end: 1 + outstanding, outstanding, mss: 1000, losses: 0, done: false }
    }

    /// The connection with 3 kB of the outstanding 3, 1 and 0 kB loses two segments. Halved, 2.5 of
    /// 4 kB are left; reduced to one segment, 1 + 1 of 4. One connection would have 2 or 1 of 4
    /// left. The ideal: 1 - (1/4)^2 for the first, 1 - (3/4)^2 for the second.
    #[test]
    fn an_epoch_by_hand() {
        let client = IpAddr::from([192, 0, 2, 1]);
        let began = Instant::from_nanos(5);
        let mut epoch =
            Epoch::new(client, began, vec![member(7, 3_000), member(8, 1_000), member(9, 0)]);
        epoch.on_loss(0, 7, 1);
        epoch.on_loss(0, 7, 2_001);
        // These were sent after the start, or by another connection that had the slot before: they
        // are not part of this epoch.
        epoch.on_loss(0, 7, 3_001);
        epoch.on_loss(1, 7, 1);
        assert!(!epoch.on_ack(0, 7, 3_000) && !epoch.on_ack(0, 7, 3_001));
        assert!(epoch.on_ack(1, 8, 1_001));
        let expected = LossEpoch {
            client,
            began,
            ended: Instant::from_nanos(9),
            open: 3,
            outstanding: 2,
            hit: 1,
            losses: 2,
            outstanding_bytes: 4_000,
            hit_bytes: 3_000,
        };
        assert_eq!(epoch.epoch_at(Instant::from_nanos(9)), Some(expected));
        assert_eq!(Epoch::new(client, began, vec![member(9, 0)]).epoch_at(began), None);
        let mut counters = EpochCounters::default();
        counters.add(&epoch);
        let found = counters.findings();
        let expected = EpochRow {
            open: 3,
            epochs: 1,
            outstanding: 2.0,
            hit: 1.0,
            left_by_fast_recovery: 0.625,
            left_by_timeout: 0.5,
            one_by_fast_recovery: 0.5,
            one_by_timeout: 0.25,
        };
        assert_eq!(found.by_open, [expected]);
        let step = |n: usize| {
            (found.by_share[n].connections, found.by_share[n].hit, found.by_share[n].ideal)
        };
        assert_eq!(step(15), (1, 1, 0.9375));
        assert_eq!(step(5), (1, 0, 0.4375));
        assert_eq!(step(0), (1, 0, 0.0));
    }
}
