//! Counts of one sender, small while nothing is lost: connections under way have two of these.

use crate::kinds::{Retransmission, RetransmissionKind, SparedBy};
use crate::misfit::Misfit;
use crate::summary::SenderTally;

/// What most senders have none of.
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
    /// Of senders that are parked.
    pub(crate) misfit: Misfit,
}

/// Counts of one sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) packets: u32,
    pub(crate) data_packets: u32,
    pub(crate) bytes: u64,
    rare: Option<Box<RareCounts>>,
}

impl Counts {
    /// Counts of what is rare.
    pub(crate) fn rare(&mut self) -> &mut RareCounts {
        self.rare.get_or_insert_default()
    }

    /// Counts a retransmission.
    pub(crate) fn count_again(&mut self, again: &Retransmission) {
        let rare = self.rare();
        if again.len == 0 {
            rare.control_again += 1;
            return;
        }
        let kind = again.kind as usize;
        rare.retransmissions[kind] += 1;
        rare.unexpected[kind] += u32::from(!again.expected);
        if let Some(spared_by) = again.spared_by {
            rare.spared_by[spared_by as usize] += 1;
        }
    }

    /// Counts what an ACK tells beside arrivals: bytes that the capture has not shown, and that something came `twice`.
    #[inline]
    pub(crate) fn count_told(&mut self, unseen: u64, twice: bool) {
        if unseen > 0 {
            self.rare().unseen_bytes += unseen;
        }
        if twice {
            self.rare().spurious += 1;
        }
    }

    /// What is told of the sender; `misfit`: of the sender under way.
    pub(crate) fn tally(&self, misfit: Misfit) -> SenderTally {
        let rare = self.rare.as_deref().copied().unwrap_or_default();
        let mut tally = SenderTally {
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
            misfit,
        };
        tally.misfit.add(&rare.misfit);
        tally
    }
}
