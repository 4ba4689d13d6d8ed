//! A sender in few bytes, with all that it knows: unlike one that is parked it forgets nothing.

use super::{RebuiltSender, Terms, without_sack};
use crate::profile::SenderModel;
use fold::{Foldable, Folding};

/// What a fresh sender of the same kind is made from, beside its model.
#[derive(Clone, Copy, Default)]
struct Kind {
    terms: Terms,
    lacks_sack: bool,
}

fold::state!(Kind { terms, lacks_sack });

impl RebuiltSender {
    /// Visits the sender that there may be, which runs `model`.
    pub(crate) fn fold_any(
        sender: &mut Option<Box<Self>>,
        folding: &mut Folding<'_>,
        model: &SenderModel,
    ) {
        let mut kind = sender.as_ref().map(|sender| sender.kind());
        folding.each(&mut kind);
        if folding.reads() {
            *sender = kind.map(|kind| Box::new(Self::of_kind(model, kind)));
        }
        if let Some(sender) = sender {
            folding.each(&mut **sender);
        }
    }

    const fn kind(&self) -> Kind {
        Kind { terms: self.terms, lacks_sack: self.lacks_sack }
    }

    fn of_kind(model: &SenderModel, kind: Kind) -> Self {
        let mut sender = Self::new(model, kind.terms);
        if kind.lacks_sack {
            sender.lacks_sack = true;
            sender.recovery = without_sack();
        }
        sender
    }
}

impl Foldable for RebuiltSender {
    fn fold(&mut self, folding: &mut Folding<'_>) {
        self.tell_burst();
        let Self {
            path,
            recovery,
            lacks_sack: _,
            is_recovering,
            takes_plain_acks: _,
            recovery_due: _,
            burst: _,
            board,
            marks,
            terms: _,
            sampling: _,
            halve_again: _,
            nagle: _,
            small_until,
            has_probes: _,
            has_fine_clock: _,
            una,
            nxt,
            written,
            fin,
            ended,
            snd_wnd,
            max_snd_wnd,
            rto_at,
            backoff,
            syn_losses,
            syn_losses_tolerated: _,
            lost_initial_window: _,
            timed,
            timed_out_at,
            marks_answered,
            retransmit_stamp,
            outstanding_before_ack,
            last_in_flight,
            probe_pending,
            is_answered,
            edge,
            evidence,
            fit,
        } = self;
        folding.each(path);
        recovery.fold_state(folding);
        folding.each(is_recovering).each(board).each(marks).each(small_until).each(una).each(nxt);
        folding.each(written).each(fin).each(ended).each(snd_wnd).each(max_snd_wnd).each(rto_at);
        folding.each(backoff).each(syn_losses).each(timed).each(timed_out_at).each(marks_answered);
        folding.each(retransmit_stamp).each(outstanding_before_ack).each(last_in_flight);
        folding.each(probe_pending).each(is_answered).each(edge).each(evidence).each(fit);
        if folding.reads() {
            self.note_recovery();
        }
    }
}
