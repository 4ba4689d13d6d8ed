//! The state of a path in few bytes: of one whose connection waits, in a capture with many connections.

use super::Path;
use super::planned::PlannedSending;
use fold::{Foldable, Folding};
use policy::send_plan::SendPlan;

/// What connections share cannot be folded: memories, other members, the agent's sessions.
impl Foldable for Path {
    fn fold(&mut self, folding: &mut Folding<'_>) {
        let Self {
            window,
            startup,
            congestion,
            in_startup,
            has_reset_timer: _,
            startup_observes: _,
            shows_acks: _,
            attention,
            rules: _,
            rtt,
            pacer,
            spaces: _,
            planned,
            wait,
            in_flight,
            sent_total,
            acked_total,
            segments_sent,
            last_sent,
            last_acked,
            resumed,
            begun,
            before_reduction,
            usage,
            startup_meter,
            rounds,
            meter,
            log,
            idle: _,
            restart_window,
            lost_initial_window,
            learning,
            is_observed: _,
            notes_flights: _,
            shared,
        } = self;
        let is_shared = log.is_some() || learning.is_some() || shared.is_some();
        if is_shared || attention.is_attended {
            return folding.refuse();
        }
        folding.each(window).each(in_startup).each(rtt).each(wait).each(in_flight).each(sent_total);
        folding.each(acked_total).each(segments_sent).each(last_sent).each(last_acked);
        folding.each(resumed).each(begun).each(before_reduction).each(usage).each(startup_meter);
        folding.each(rounds).each(meter).each(restart_window).each(lost_initial_window);
        folding.option(planned, || PlannedSending::new(SendPlan::none()));
        if let Some(pacer) = pacer {
            folding.each(pacer);
        }
        startup.fold_state(folding);
        congestion.fold_state(folding);
        self.note_spacing();
    }
}
