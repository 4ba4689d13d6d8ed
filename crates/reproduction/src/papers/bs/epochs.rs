//! The clients of a proxy that lose in each loss epoch, found packet by packet, and the shares that
//! follow.
//!
//! A connection's loss epoch lasts from the drop of a segment until that segment's retransmission.
//! Then the connection's share of the window decreases, once for all drops of the epoch. Epochs of
//! connections to one host that overlap are one epoch of the host, in which several clients lose.

use super::super::claim::{Experiment, Quick};
use super::super::reading::{PacketStep, Readings, RunRecords};
use std::collections::BTreeMap;

pub(super) const EPOCHS: Experiment = Experiment {
    name: "BS-3-epochs",
    plan: include_str!("../../../../../plans/papers/BS-3-epochs.toml"),
    read: count,
    quick: Quick { repeats: 10, keep: &[] },
};

/// The sender, and the hosts with one and with two transfers.
const SENDER: &str = "s0";
const ONE: &str = "d0";
const TWO: &str = "d1";
/// Start of the measurement, seconds; earlier epochs are left out.
const FROM: f64 = 20.0;

/// Times of the first drop and of the retransmission, seconds.
type Epoch = (f64, f64);

/// One connection's epochs.
#[derive(Default)]
struct Losses {
    /// Drop time and offset of the segment that is not yet retransmitted.
    open: Option<(f64, u64)>,
    epochs: Vec<Epoch>,
}

impl Losses {
    /// Handles a step of a packet at the bottleneck. An epoch lasts from a drop until the lost data
    /// passes again.
    fn on_step(&mut self, step: &PacketStep) {
        let Some(offset) = step.offset else { return };
        match (self.open, step.step.as_str()) {
            (Some((dropped, lost)), "enter" | "drop") if lost == offset => {
                self.epochs.push((dropped, step.time));
                // Dropped again, its retransmission is of the next epoch.
                self.open = (step.step == "drop").then_some((step.time, offset));
            }
            (None, "drop") => self.open = Some((step.time, offset)),
            _ => {}
        }
    }
}

/// Sets, for both hosts, the loss epochs and the share of the window that each takes away.
fn count(run: &RunRecords<'_>, readings: &mut Readings) {
    let mut losses: BTreeMap<(String, u16), Losses> = BTreeMap::new();
    for step in run.packet_steps().filter(|step| step.from == SENDER) {
        let Some(port) = step.source_port else { continue };
        losses.entry((step.to.clone(), port)).or_default().on_step(&step);
    }
    let of = |host: &str| -> Vec<Vec<Epoch>> {
        let own = losses.iter().filter(|((to, _), _)| to == host);
        let counted = |epoch: &&Epoch| epoch.1 >= FROM;
        own.map(|(_, losses)| losses.epochs.iter().filter(counted).copied().collect()).collect()
    };
    let losers = losers_of_epochs(of(TWO).concat());
    let (ones, twos) = (of(ONE).concat().len() as f64, losers.len() as f64);
    let both = losers.iter().filter(|&&clients| clients > 1).count() as f64 / twos;
    // A client's loss takes a quarter of the window, and the other's as much.
    let taken = 0.25 * (1.0 - both) + 0.5 * both;
    readings.set("epochs", twos / ones);
    readings.set("both", 100.0 * both);
    readings.set("taken", 100.0 * taken);
    // Between epochs the windows grow by 2 and 1 segments per round trip, and in epochs they lose
    // as much. Before an epoch they are 2 / taken and 1 / 0.5 times the time between epochs; the
    // mean is lower by half of the loss.
    let mean = |grown: f64, taken: f64| grown / taken * (1.0 - taken / 2.0);
    readings.set("follows", mean(2.0 / twos, taken) / mean(1.0 / ones, 0.5));
}

/// Returns the number of clients that lose in each epoch of a host.
fn losers_of_epochs(mut epochs: Vec<Epoch>) -> Vec<usize> {
    epochs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut hosts: Vec<(f64, usize)> = Vec::new();
    for (dropped, again) in epochs {
        match hosts.last_mut() {
            Some((end, losers)) if dropped < *end => *losers += 1,
            _ => hosts.push((again, 1)),
        }
    }
    hosts.into_iter().map(|(_, losers)| losers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(time: f64, step: &str, offset: u64) -> PacketStep {
        PacketStep {
            time,
            link: "bottleneck".into(),
            step: step.into(),
            from: SENDER.into(),
            to: TWO.into(),
            source_port: Some(1),
            offset: Some(offset),
            payload: Some(1000),
        }
    }

    #[test]
    fn an_epoch_lasts_from_a_drop_until_that_segment_goes_again() {
        let mut losses = Losses::default();
        for (time, what, offset) in [
            (1.0, "enter", 0),
            (1.1, "drop", 1000),
            (1.2, "drop", 2000),
            (1.3, "enter", 1000),
            (1.4, "enter", 2000),
            (2.0, "drop", 3000),
            (2.1, "drop", 3000),
            (2.2, "enter", 3000),
        ] {
            losses.on_step(&step(time, what, offset));
        }
        assert_eq!(losses.epochs, [(1.1, 1.3), (2.0, 2.1), (2.1, 2.2)]);
    }

    #[test]
    fn overlapping_epochs_of_clients_are_one_of_their_host() {
        assert_eq!(
            losers_of_epochs(vec![(1.0, 1.2), (3.0, 3.2), (1.1, 1.3), (4.0, 4.1)]),
            [2, 1, 1]
        );
    }
}
