//! SUSS (SIGCOMM 2024): slow start that fills up its flights, so that the window quadruples in a
//! round trip, as long as that is safe two round trips ahead.
//!
//! A flight begins with the segments that slow start would send, clocked by ACKs: the *blue* ones.
//! When the last blue one of a flight is acknowledged, the length of their train shows how full the
//! path will be. If it will not be full, the window at once gets the segments that slow start would
//! send a round trip later. These *red* segments are paced over the rest of the round trip. Up to
//! three flights are filled up. Only trains of blue ACKs end slow start, as HyStart's do.
//!
//! The authors' kernel also overwrites the receive window; this does not.

use super::hystart::HyStart;
use super::{
    Beginning, LinuxSlowStart, LossEvent, Phase, Start, StartUp, StartUpDescriptor, StartupReason,
};
use crate::ack::AckSample;
use crate::registry::values::positive;
use crate::registry::{Make, Parameter};
use crate::send_plan::{Lead, SendPlan};
use crate::window::{Cause, Window};
use units::{Duration, Instant};

/// SUSS.
pub static SUSS: StartUpDescriptor = StartUpDescriptor::new(
    "suss",
    "slow start with HyStart whose flights quadruple where ACK trains say that the path stays free",
    "Arghavani et al. 2024: SUSS; project SUSSdeveloper/SUSS",
    Make::Alone(&|setup| Box::new(Suss::new(setup.get(&MAX_GROWTH)))),
)
.with(&[&MAX_GROWTH])
.explained(&super::pages::SUSS);

static MAX_GROWTH: Parameter<u32> = Parameter::text(
    "suss_max",
    ("number", positive),
    "3",
    "suss: how many flights may be filled up",
);

/// On shorter round trips there is nothing to gain. Source: Arghavani et al. 2024.
const SHORTEST: Duration = Duration::from_millis(10);
/// ACKs at most this far apart are one train. Source: HyStart in Linux `tcp_cubic.c`.
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// Below this window, segments, no train ends slow start. Source: HyStart in Linux `tcp_cubic.c`.
const LOW_WINDOW: u64 = 16;

/// Slow start with flights that are filled up.
#[derive(Clone, Copy, Debug)]
pub struct Suss {
    most: u32,
    hystart: HyStart,
    /// `None`: it is over, or never was worth it.
    state: Option<State>,
    /// Bytes of the path sent when the last ACK came.
    sent: u64,
    /// Red segments are under way.
    red: Option<Red>,
}

/// The red part of a flight.
#[derive(Clone, Copy, Debug, Default)]
struct Red {
    /// Offset of its end, of all bytes sent on the path.
    until: u64,
    /// Bytes that the window was given for it.
    given: u64,
}

/// State of the flights so far. Offsets count all bytes sent on the path.
#[derive(Clone, Copy, Debug)]
struct State {
    initial_window: u64,
    /// The first flight is 1; its ACKs make the second.
    round: u32,
    /// End of the flight that is being acknowledged, and of its blue part.
    head: u64,
    tail: u64,
    started: Instant,
    last_in_train: Instant,
    blue: Blue,
    /// Bytes of blue segments acknowledged in this round, but for the last ACK.
    blue_acked: u64,
    /// Length of the last round's train.
    last_train: Duration,
    /// Flights were filled up without a break until now.
    fills: bool,
    filled: u32,
    /// The smallest round trip ever, and the round that brought it.
    min_rtt: Duration,
    min_in_round: u32,
    round_min: Duration,
    /// A train was too long: slow start ends above this window.
    cap: Option<u64>,
}

/// The part of a flight that ACKs are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blue {
    Yes,
    /// The last blue one.
    Last,
    No,
}

impl State {
    fn new(initial_window: u64) -> Self {
        Self {
            initial_window,
            round: 1,
            head: 0,
            tail: initial_window,
            started: Instant::ZERO,
            last_in_train: Instant::ZERO,
            blue: Blue::Yes,
            blue_acked: 0,
            last_train: Duration::ZERO,
            fills: true,
            filled: 0,
            min_rtt: Duration::MAX,
            min_in_round: 1,
            round_min: Duration::MAX,
            cap: None,
        }
    }

    /// Bytes of the blue part of the flight that this round sends.
    fn blue_bytes(&self) -> u64 {
        self.initial_window.saturating_mul(1 << (self.round - 1).min(32))
    }

    fn begin_round(&mut self, sample: &AckSample) {
        self.round += 1;
        self.head = sample.sent_total;
        (self.started, self.last_in_train) = (sample.now, sample.now);
        (self.blue, self.blue_acked) = (Blue::Yes, 0);
        self.round_min = Duration::MAX;
    }

    fn take_rtt(&mut self, rtt: Duration) {
        self.round_min = self.round_min.min(rtt);
        if rtt < self.min_rtt {
            (self.min_rtt, self.min_in_round) = (rtt, self.round);
        }
    }

    /// Returns the length of the train of blue ACKs, if more than one came; scaled to the whole
    /// train if some ACKs were for several segments.
    fn train(&self, now: Instant) -> Option<Duration> {
        let elapsed = u128::from(now.saturating_since(self.started).as_nanos());
        let expected = u128::from(self.blue_bytes() / 2);
        let train = (elapsed * expected).checked_div(u128::from(self.blue_acked))?;
        Some(Duration::from_nanos(u64::try_from(train).unwrap_or(u64::MAX)))
    }

    /// True if the path will still be free with four times the flight on it; `None`: SUSS is not
    /// worth trying any more.
    fn stays_free(&self, train: Duration, most: u32) -> Option<bool> {
        if self.round == 2 {
            return (self.min_rtt > SHORTEST && train < self.min_rtt / 4).then_some(true);
        }
        // The train of a whole flight, and its growth, give the next one, twice as long again.
        let whole = u128::from(train.as_nanos()) << (self.round - 2);
        let before = u128::from(self.last_train.as_nanos()) << (self.round - 3);
        let next = (whole * whole).checked_div(before).unwrap_or(u128::MAX);
        let free =
            next <= u128::from(self.min_rtt.as_nanos()) && self.round < most.saturating_add(2);
        // The round trip has grown so slowly that it will be below 9/8 of the smallest.
        let rounds = u64::from(self.round - self.min_in_round);
        let bound =
            self.min_rtt.saturating_mul(rounds + 1) + self.min_rtt.saturating_mul(rounds) / 8;
        Some(free && self.round_min.saturating_mul(rounds + 1) <= bound)
    }
}

impl Suss {
    /// Creates a start-up that fills up at most this number of flights.
    pub fn new(most: u32) -> Self {
        let (state, sent, red) = (None, 0, None);
        Self { most, hystart: HyStart::default(), state, sent, red }
    }

    /// Ends SUSS: the rest is HyStart's.
    fn end(&mut self, window: &mut Window) {
        self.state = None;
        self.hystart.watch_trains(true);
        self.end_pacing(window);
    }

    fn end_pacing(&mut self, window: &mut Window) {
        if self.red.take().is_some() {
            window.end_plan();
        }
    }

    /// Ends the red part. The authors' kernel raises the window as red segments leave, so segments
    /// that did not leave were never in the window; it keeps `least`, bytes.
    fn end_red(&mut self, window: &mut Window, least: u64) {
        let Some(red) = self.red else { return };
        let unsent = red.until.saturating_sub(self.sent).min(red.given);
        let used = window.cwnd().saturating_sub(unsent);
        let kept = used.max(least.min(window.cwnd()));
        if kept < window.cwnd() {
            window.set_cwnd(kept, Cause::Seed);
        }
        self.end_pacing(window);
    }

    /// Decides on the next flight when the last blue segment of a flight is acknowledged.
    fn decide_next_flight(
        &mut self,
        window: &mut Window,
        mut state: State,
        sample: &AckSample,
    ) -> Option<State> {
        state.blue = Blue::Last;
        state.tail = state.head + state.blue_bytes();
        let free = match state.train(sample.now).filter(|_| state.fills) {
            Some(train) => {
                let free = state.stays_free(train, self.most)?;
                state.last_train = train;
                free && self.add_red_part(window, &state, sample, train)
            }
            None => false,
        };
        state.fills = free;
        state.filled += u32::from(free);
        Some(state)
    }

    /// Gives the window the red part of the flight, if there is time for it in the round trip.
    fn add_red_part(
        &mut self,
        window: &mut Window,
        state: &State,
        sample: &AckSample,
        train: Duration,
    ) -> bool {
        let shift = state.round - 1;
        let blue = state.blue_bytes();
        let red = (blue << shift) - blue;
        // Bytes for which ACKs of red segments still make room in this round.
        let red_acked = ((blue / 2) << (shift - 1)) - blue / 2;
        let rest = Duration::from_nanos(state.min_rtt.as_nanos() >> shift);
        if rest <= train {
            return false;
        }
        let given = red - red_acked;
        window.set_cwnd(window.cwnd() + given, Cause::Seed);
        let time = state.min_rtt.saturating_sub(rest);
        let gap = time / (red / window.mss()).max(1);
        // The segments that this ACK itself releases are blue: two for each segment of slow start.
        let segments = u32::try_from(2 * sample.delivered.div_ceil(window.mss())).unwrap_or(0);
        let until = sample.now + rest.saturating_sub(train) / 2;
        let lead = Some(Lead { segments, until });
        window.follow_plan(SendPlan { lead, ..SendPlan::spaced(1, gap) });
        self.red = Some(Red { until: state.head + blue + red, given });
        true
    }

    /// Ends slow start at a train of blue ACKs as long as half the smallest round trip, computed
    /// for a flight that is not filled up.
    fn watch_train(&self, window: &Window, state: &mut State, now: Instant) {
        let watched = state.cap.is_none()
            && state.blue != Blue::No
            && window.cwnd() / window.mss() >= LOW_WINDOW
            && now.saturating_since(state.last_in_train) <= TRAIN_GAP;
        if !watched {
            return;
        }
        state.last_in_train = now;
        let train = now.saturating_since(state.started).saturating_mul(1 << state.filled);
        if train > state.min_rtt / 2 {
            let more = state.blue_acked.saturating_mul((1 << state.filled) - 1);
            state.cap = Some(window.cwnd().saturating_add(more));
        }
    }

    /// Follows the flights.
    fn track_flights(
        &mut self,
        window: &mut Window,
        mut state: State,
        sample: &AckSample,
    ) -> Option<State> {
        if state.blue == Blue::Last {
            state.blue = Blue::No;
        }
        if sample.acked_total > state.head {
            state.begin_round(sample);
            self.end_red(window, sample.in_flight);
        }
        if let Some(rtt) = sample.rtt {
            state.take_rtt(rtt);
        }
        if state.cap.is_none() && state.blue == Blue::Yes && sample.acked_total >= state.tail {
            state = self.decide_next_flight(window, state, sample)?;
        }
        self.watch_train(window, &mut state, sample.now);
        if state.blue != Blue::No {
            state.blue_acked += sample.delivered;
        }
        if state.cap.is_some_and(|cap| window.cwnd() > cap) {
            self.end_red(window, sample.in_flight);
            if state.filled > 1 {
                window.set_cwnd(sample.in_flight.max(2 * window.mss()), Cause::HyStart);
            }
            window.set_ssthresh(window.cwnd(), Cause::HyStart);
            return None;
        }
        Some(state)
    }
}

impl StartUp for Suss {
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> Beginning {
        match start.reason {
            StartupReason::NewPath if start.initial_window >= window.mss() => {
                self.state = Some(State::new(start.initial_window));
                self.hystart.watch_trains(false);
            }
            StartupReason::NewPath => {}
            StartupReason::Idle => {
                self.end_red(window, start.initial_window);
                self.end(window);
            }
            StartupReason::Loss => self.end(window),
        }
        self.hystart.begin(window, start)
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.sent = sample.sent_total;
        self.hystart.observe(window, sample);
        if sample.acked_total >= sample.sent_total {
            // There was no more to send.
            self.end_red(window, 0);
        }
        let Some(state) = self.state.filter(|_| sample.acked > 0) else { return };
        let after = if window.below_ssthresh() && sample.cwnd_limited {
            self.track_flights(window, state, sample)
        } else {
            None
        };
        match after {
            Some(state) => self.state = Some(state),
            None => {
                self.end_red(window, sample.in_flight);
                self.end(window);
            }
        }
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        let red = self.state.is_some_and(|state| state.blue == Blue::No) && self.red.is_some();
        if red && window.below_ssthresh() {
            return Phase::Continue;
        }
        LinuxSlowStart.on_ack(window, sample)
    }

    /// If a flight was not sent completely, only its sent part counts.
    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Phase {
        if event != LossEvent::Reduced {
            return Phase::Continue;
        }
        if let Some(red) = self.red {
            let unsent = red.until.saturating_sub(self.sent).min(window.cwnd());
            let (used, whole) = (u128::from(window.cwnd() - unsent), u128::from(window.cwnd()));
            let ssthresh = u128::from(window.ssthresh()) * used / whole.max(1);
            window.set_ssthresh(u64::try_from(ssthresh).unwrap_or(u64::MAX), window.last_cause());
        }
        self.end(window);
        Phase::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For any number of flights, a train of 1 ms that grows to 2 ms fills the next flight, too.
    #[test]
    fn any_number_of_flights_may_be_filled_up() {
        let (ms, mut state) = (Duration::from_millis, State::new(10_000));
        state.round = 3;
        (state.min_rtt, state.round_min, state.last_train) = (ms(100), ms(100), ms(1));
        assert_eq!(state.stays_free(ms(1), u32::MAX), Some(true));
    }
}
