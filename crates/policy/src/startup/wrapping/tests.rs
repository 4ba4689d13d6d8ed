//! A wrapper forwards what its overlay leaves, and hides what the wrapped start-up did not see.

use super::*;
use crate::ack::RttEstimator;
use crate::config::ConnectionConfig;
use crate::startup::{BbrStart, LossSignal, SlowStart};
use crate::window::Cause;
use std::cell::RefCell;
use std::rc::Rc;
use units::Instant;

type Calls = Rc<RefCell<Vec<&'static str>>>;

/// An overlay whose answers the test sets.
#[derive(Clone)]
struct Scripted {
    calls: Calls,
    capabilities: StartUpCapabilities,
    turn: OverlayTurn,
    suspended: Suspended,
    phase: Option<Phase>,
}

impl Scripted {
    fn new(calls: &Calls) -> Self {
        Self {
            calls: calls.clone(),
            capabilities: StartUpCapabilities::default(),
            turn: OverlayTurn::Left,
            suspended: Suspended::default(),
            phase: None,
        }
    }
}

impl Overlay for Scripted {
    fn capabilities(&self) -> StartUpCapabilities {
        self.capabilities
    }

    fn begin(&mut self, _: &mut Window, _: &Start<'_>) -> OverlayTurn {
        self.turn
    }

    fn suspended_duties(&self) -> Suspended {
        self.suspended
    }

    fn observe(&mut self, _: &mut Window, _: &AckSample) {
        self.calls.borrow_mut().push("overlay observes");
    }

    fn on_ack(&mut self, _: &mut Window, _: &AckSample) -> Option<Phase> {
        self.phase
    }

    fn on_loss(&mut self, _: &mut Window, _: LossEvent) -> Option<Phase> {
        self.calls.borrow_mut().push("overlay answers");
        self.phase
    }
}

/// A wrapped start-up that notes its calls, and begins as the test says.
struct Wrapped {
    calls: Calls,
    capabilities: StartUpCapabilities,
    beginning: Beginning,
}

impl StartUp for Wrapped {
    fn capabilities(&self) -> StartUpCapabilities {
        self.capabilities
    }

    fn begin(&mut self, _: &mut Window, _: &Start<'_>) -> Beginning {
        self.calls.borrow_mut().push("wrapped begins");
        self.beginning
    }

    fn observe(&mut self, _: &mut Window, _: &AckSample) {
        self.calls.borrow_mut().push("wrapped observes");
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        SlowStart.on_ack(window, sample)
    }

    fn on_loss(&mut self, _: &mut Window, _: LossEvent) -> Phase {
        self.calls.borrow_mut().push("wrapped answers");
        Phase::Continue
    }
}

const ALL: StartUpCapabilities = StartUpCapabilities {
    observes: false,
    needs_rounds: true,
    rules_recovery: true,
    sees_all_acks: true,
    timer_gaps: 3,
};

fn around(overlay: Scripted, capabilities: StartUpCapabilities) -> Wrapping<Scripted> {
    let (calls, beginning) = (overlay.calls.clone(), Beginning::Whole);
    Wrapping::new(overlay, Box::new(Wrapped { calls, capabilities, beginning }))
}

fn window() -> Window {
    Window::new(1000, 10_000, u64::MAX, false)
}

fn begin(startup: &mut impl StartUp, reason: StartupReason) -> Beginning {
    let rtt = RttEstimator::new(ConnectionConfig::default().rto);
    startup.begin(&mut window(), &Start::of(reason, &rtt))
}

fn taken(calls: &Calls) -> Vec<&'static str> {
    std::mem::take(&mut calls.borrow_mut())
}

/// Rounds are for either; losses are the wrapped start-up's; kernel events the overlay's.
#[test]
fn capabilities_are_those_of_the_two() {
    let (calls, none) = (Calls::default(), StartUpCapabilities::default());
    let plain = around(Scripted::new(&calls), none).capabilities();
    assert_eq!(plain, none);
    let wrapped = around(Scripted::new(&calls), ALL).capabilities();
    let rules = StartUpCapabilities { needs_rounds: true, rules_recovery: true, ..none };
    assert_eq!(wrapped, rules);
    let own = around(Scripted { capabilities: ALL, ..Scripted::new(&calls) }, none).capabilities();
    let needs =
        StartUpCapabilities { needs_rounds: true, sees_all_acks: true, timer_gaps: 3, ..none };
    assert_eq!(own, needs);
}

/// A wrapped start-up rules no losses while the overlay suspends it. It rules none either after the
/// overlay has taken a new path or an idle time.
#[test]
fn a_start_up_that_was_passed_over_rules_no_losses() {
    let calls = Calls::default();
    let rules = |wrapping: &Wrapping<Scripted>| wrapping.capabilities().rules_recovery;
    let ruling = Suspended { ruling: true, ..Suspended::default() };
    assert!(!rules(&around(Scripted { suspended: ruling, ..Scripted::new(&calls) }, ALL)));
    for (reason, left) in
        [(StartupReason::NewPath, false), (StartupReason::Idle, false), (StartupReason::Loss, true)]
    {
        let mut wrapping =
            around(Scripted { turn: OverlayTurn::Taken, ..Scripted::new(&calls) }, ALL);
        begin(&mut wrapping, reason);
        assert_eq!(rules(&wrapping), left, "{reason:?}");
        assert!(taken(&calls).is_empty());
        wrapping.overlay.turn = OverlayTurn::Left;
        begin(&mut wrapping, StartupReason::Idle);
        assert_eq!(rules(&wrapping), left, "an idle time that is left changes nothing");
        begin(&mut wrapping, StartupReason::NewPath);
        assert!(rules(&wrapping));
        assert_eq!(taken(&calls), ["wrapped begins", "wrapped begins"]);
    }
}

/// Either may await the transfer, but a wrapped start-up that was passed over does not.
#[test]
fn a_transfer_is_awaited_by_either() {
    let calls = Calls::default();
    for (turn, beginning, expected) in [
        (OverlayTurn::Left, Beginning::Whole, Beginning::Whole),
        (OverlayTurn::Left, Beginning::AwaitsTransfer, Beginning::AwaitsTransfer),
        (OverlayTurn::AwaitsTransfer, Beginning::Whole, Beginning::AwaitsTransfer),
        (OverlayTurn::Taken, Beginning::AwaitsTransfer, Beginning::Whole),
    ] {
        let inner = Wrapped { calls: calls.clone(), capabilities: ALL, beginning };
        let overlay = Scripted { turn, ..Scripted::new(&calls) };
        let mut wrapping = Wrapping::new(overlay, Box::new(inner));
        assert_eq!(begin(&mut wrapping, StartupReason::NewPath), expected);
        // The overlay takes the start after idle: the wrapped start-up awaits nothing any more.
        wrapping.overlay.turn = OverlayTurn::Taken;
        assert_eq!(begin(&mut wrapping, StartupReason::Idle), Beginning::Whole);
    }
}

/// The overlay awaits the transfer. The wrapped start-up began with the handshake, and goes on.
#[test]
fn a_wrapped_start_up_begins_once_on_a_new_path() {
    let calls = Calls::default();
    let overlay = Scripted { turn: OverlayTurn::AwaitsTransfer, ..Scripted::new(&calls) };
    let mut wrapping = around(overlay, ALL);
    begin(&mut wrapping, StartupReason::NewPath);
    begin(&mut wrapping, StartupReason::NewPath);
    assert_eq!(taken(&calls), ["wrapped begins"]);
}

#[test]
fn a_suspended_start_up_sees_no_acks() {
    let calls = Calls::default();
    let sample = AckSample::of(Instant::ZERO, 1000);
    for (observing, seen) in
        [(false, vec!["wrapped observes", "overlay observes"]), (true, vec!["overlay observes"])]
    {
        let suspended = Suspended { observing, ..Suspended::default() };
        let mut wrapping = around(Scripted { suspended, ..Scripted::new(&calls) }, ALL);
        wrapping.observe(&mut window(), &sample);
        assert_eq!(taken(&calls), seen);
    }
}

/// The overlay alone answers a timeout or a partial ACK, if it has an answer. Both see all other
/// events.
#[test]
fn losses_come_to_both() {
    let calls = Calls::default();
    let loss_signal = LossEvent::LossSignal(LossSignal::PartialAck);
    let mut wrapping = around(Scripted::new(&calls), ALL);
    assert_eq!(wrapping.on_loss(&mut window(), loss_signal), Phase::Continue);
    assert_eq!(taken(&calls), ["overlay answers", "wrapped answers"]);
    for event in [LossEvent::Reduced, LossEvent::Undone] {
        wrapping.on_loss(&mut window(), event);
        assert_eq!(taken(&calls), ["wrapped answers", "overlay answers"]);
    }
    wrapping.overlay.phase = Some(Phase::FallBack);
    assert_eq!(wrapping.on_loss(&mut window(), loss_signal), Phase::FallBack);
    assert_eq!(taken(&calls), ["overlay answers"]);
}

/// A model that the wrapped start-up made is handed over, unless the overlay ended the start-up or
/// took its beginning.
#[test]
fn only_a_model_that_was_fed_is_handed_over() {
    let sample = AckSample::of(Instant::ZERO, 1000);
    let model = |turn, phase| {
        let overlay = Scripted { turn, phase, ..Scripted::new(&Calls::default()) };
        let mut inner = BbrStart::default();
        begin(&mut inner, StartupReason::NewPath);
        let mut wrapping = Wrapping::new(overlay, Box::new(inner));
        begin(&mut wrapping, StartupReason::Idle);
        let mut window = window();
        window.set_ssthresh(u64::MAX, Cause::Seed);
        wrapping.on_ack(&mut window, &sample);
        wrapping.hand_over().is_some()
    };
    assert!(model(OverlayTurn::Left, None));
    assert!(!model(OverlayTurn::Taken, None));
    assert!(!model(OverlayTurn::Left, Some(Phase::Done)));
    assert!(model(OverlayTurn::Left, Some(Phase::Continue)));
}
