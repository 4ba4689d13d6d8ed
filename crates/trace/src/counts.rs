//! Counters of one sender, small while nothing is lost: each open connection has two of them.

use crate::fit_error::FitError;
use crate::kinds::{Retransmission, RetransmissionKind, SparedBy};
use crate::summary::SenderCounters;

/// Counters that stay zero for most senders.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RareCounts {
    retransmissions: [u32; RetransmissionKind::COUNT],
    unexpected: [u32; RetransmissionKind::COUNT],
    spared_by: [u32; SparedBy::COUNT],
    pub(crate) control_again: u32,
    pub(crate) probes: u32,
    pub(crate) spurious: u32,
    pub(crate) reordered: u32,
    pub(crate) unseen_bytes: u64,
    /// Fit error of the compressed senders.
    pub(crate) fit_error: FitError,
}

/// Counters of one sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) packets: u32,
    pub(crate) data_packets: u32,
    pub(crate) bytes: u64,
    rare: Option<Box<RareCounts>>,
}

impl Counts {
    /// Returns the rare counters, and creates them if need be.
    pub(crate) fn rare_counters(&mut self) -> &mut RareCounts {
        self.rare.get_or_insert_default()
    }

    /// Counts a retransmission.
    pub(crate) fn count_retransmission(&mut self, retransmission: &Retransmission) {
        let rare = self.rare_counters();
        if retransmission.len == 0 {
            rare.control_again += 1;
            return;
        }
        let kind = retransmission.kind as usize;
        rare.retransmissions[kind] += 1;
        rare.unexpected[kind] += u32::from(!retransmission.expected);
        if let Some(spared_by) = retransmission.spared_by {
            rare.spared_by[spared_by as usize] += 1;
        }
    }

    /// Counts two facts that an ACK reveals: `unseen` bytes that the capture has not shown, and a
    /// duplicate (`twice`).
    #[inline]
    pub(crate) fn count_reported(&mut self, unseen: u64, twice: bool) {
        if unseen > 0 {
            self.rare_counters().unseen_bytes += unseen;
        }
        if twice {
            self.rare_counters().spurious += 1;
        }
    }

    /// Returns the counters for a report; `fit_error` is of the sender that is still in memory.
    pub(crate) fn counters(&self, fit_error: FitError) -> SenderCounters {
        let rare = self.rare.as_deref().copied().unwrap_or_default();
        let mut counters = SenderCounters {
            packets: self.packets.into(),
            data_packets: self.data_packets.into(),
            bytes: self.bytes,
            unseen_bytes: rare.unseen_bytes,
            retransmissions: rare.retransmissions.map(u64::from),
            control_again: rare.control_again.into(),
            unexpected: rare.unexpected.map(u64::from),
            spared_by: rare.spared_by.map(u64::from),
            probes: rare.probes.into(),
            spurious: rare.spurious.into(),
            reordered: rare.reordered.into(),
            fit_error,
        };
        counters.fit_error.add(&rare.fit_error);
        counters
    }
}
