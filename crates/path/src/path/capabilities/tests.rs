//! A path asks its policies for nothing but what they are capable of.

use crate::path::Path;
use memory::WindowPool;
use policy::ack::{AckSample, RttEstimator};
use policy::bbr::{Model, ModelledPath};
use policy::config::ConnectionConfig;
use policy::congestion::{
    CongestionControl, CongestionEvent, ControllerCapabilities, LoweredWindow, ModellingControl,
};
use policy::recovery::{Reduction, Report};
use policy::startup::{
    BbrStart, Beginning, HostAccess, KernelEvents, LossEvent, LossSignal, OpenedBy, PendingData,
    Phase, SharedHostState, Situation, Start, StartUp, StartUpCapabilities, StartupReason,
};
use policy::window::{Cause, TimeoutOrder, Window};
use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use units::{Duration, Instant};

const MSS: u64 = 1000;
const DATA: PendingData = PendingData { bytes: 5 * MSS, admitted: 65_535, announced: 0 };

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// The calls of both policies, in their order.
type Calls = Rc<RefCell<Vec<String>>>;

fn taken(calls: &Calls) -> Vec<String> {
    std::mem::take(&mut calls.borrow_mut())
}

/// A start-up that notes its calls.
struct NotingStart {
    calls: Calls,
    capabilities: Rc<Cell<StartUpCapabilities>>,
    beginning: Beginning,
    phase: Phase,
    follows_kernel: bool,
}

impl StartUp for NotingStart {
    fn capabilities(&self) -> StartUpCapabilities {
        self.capabilities.get()
    }

    fn begin(&mut self, _: &mut Window, start: &Start<'_>) -> Beginning {
        self.calls.borrow_mut().push(format!("begin {:?}", start.reason));
        self.beginning
    }

    fn observe(&mut self, _: &mut Window, sample: &AckSample) {
        self.calls.borrow_mut().push(format!("observe {}", sample.round.is_some()));
    }

    fn on_ack(&mut self, _: &mut Window, _: &AckSample) -> Phase {
        self.phase
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Phase {
        let cwnd = window.cwnd() / MSS;
        self.calls.borrow_mut().push(format!("{event:?} at {cwnd}"));
        if event == LossEvent::LossSignal(LossSignal::PartialAck) {
            Phase::FallBack
        } else {
            Phase::Continue
        }
    }

    fn hand_over(&mut self) -> Option<Box<Model>> {
        let rtt = RttEstimator::new(ConnectionConfig::default().rto);
        let mut start = BbrStart::default();
        let new_path = Start {
            reason: StartupReason::NewPath,
            now: Instant::ZERO,
            rtt: &rtt,
            seed: None,
            terms: None,
            transfer: None,
            initial_window: 10 * MSS,
            lost_window: None,
            idle: Duration::ZERO,
        };
        start.begin(&mut Window::new(MSS, 10 * MSS, u64::MAX, false), &new_path);
        start.hand_over()
    }

    fn kernel_events(&mut self) -> Option<&mut dyn KernelEvents> {
        if self.follows_kernel { Some(self) } else { None }
    }
}

impl KernelEvents for NotingStart {
    fn attach_host(&mut self, _: HostAccess) {}

    fn on_open(&mut self, _: &mut Window, _: &Situation<'_>, by: OpenedBy) {
        self.calls.borrow_mut().push(format!("{by:?}"));
    }

    fn on_transfer_start(&mut self, _: &mut Window, _: &Situation<'_>, _: PendingData) {}

    fn on_acked(&mut self, _: &mut Window, _: &Situation<'_>, _: &AckSample) {
        self.calls.borrow_mut().push("acked".to_owned());
    }

    fn on_loss_or_mark(&mut self, _: &mut Window, _: &Situation<'_>) {}

    fn on_close(&mut self, _: &mut Window, _: &Situation<'_>, modelled: Option<ModelledPath>) {
        self.calls.borrow_mut().push(format!("close {}", modelled.is_some()));
    }
}

/// A controller that notes its calls.
struct NotingControl {
    calls: Calls,
    capabilities: ControllerCapabilities,
}

impl CongestionControl for NotingControl {
    fn capabilities(&self) -> ControllerCapabilities {
        self.capabilities
    }

    fn on_ack(&mut self, _: &mut Window, _: &AckSample) {}

    fn on_congestion(&mut self, window: &Window, _: &CongestionEvent) -> LoweredWindow {
        LoweredWindow::to(window.cwnd() / u64::from(window.clients()))
    }

    fn modelling(&mut self) -> Option<&mut dyn ModellingControl> {
        Some(self)
    }
}

impl ModellingControl for NotingControl {
    fn take_over(&mut self, _: Box<Model>) {
        self.calls.borrow_mut().push("take over".to_owned());
    }

    fn modelled(&self) -> Option<ModelledPath> {
        Some(ModelledPath { bandwidth: 1, min_rtt_us: 1 })
    }
}

/// The policies of a test.
struct Policies {
    startup: StartUpCapabilities,
    controller: ControllerCapabilities,
    beginning: Beginning,
    phase: Phase,
    follows_kernel: bool,
}

impl Default for Policies {
    fn default() -> Self {
        Self {
            startup: StartUpCapabilities::default(),
            controller: ControllerCapabilities::default(),
            beginning: Beginning::Whole,
            phase: Phase::Continue,
            follows_kernel: false,
        }
    }
}

/// A path of ten segments, what its policies are asked, and what the start-up answers.
struct Case {
    path: Path,
    calls: Calls,
    startup: Rc<Cell<StartUpCapabilities>>,
}

impl Policies {
    fn on_path(self) -> Case {
        let (calls, startup) = (Calls::default(), Rc::new(Cell::new(self.startup)));
        let start = NotingStart {
            calls: calls.clone(),
            capabilities: startup.clone(),
            beginning: self.beginning,
            phase: self.phase,
            follows_kernel: self.follows_kernel,
        };
        let control = NotingControl { calls: calls.clone(), capabilities: self.controller };
        let config =
            ConnectionConfig { mss: MSS as u32, initial_window: 10, ..ConnectionConfig::default() };
        let mut path = Path::new(&config, Box::new(start), Box::new(control));
        let host = SharedHostState::default();
        path.hook(HostAccess::new(host, IpAddr::from([192, 0, 2, 1])));
        Case { path, calls, startup }
    }
}

impl Case {
    fn ack(&mut self) -> AckSample {
        let mut sample = AckSample::of(at(100), MSS);
        self.path.observe(&mut sample);
        sample
    }

    fn event() -> CongestionEvent {
        CongestionEvent {
            now: at(100),
            flight_size: 10 * MSS,
            usable_window: 10 * MSS,
            timeout: false,
            repeated: false,
            losing_clients: 1,
        }
    }
}

#[test]
fn only_a_start_up_that_observes_is_shown_acks() {
    for (observes, calls) in [(true, vec!["observe false"]), (false, vec![])] {
        let startup = StartUpCapabilities { observes, ..Default::default() };
        let mut case = Policies { startup, ..Policies::default() }.on_path();
        case.ack();
        assert_eq!(taken(&case.calls), calls);
    }
}

/// A first ACK ends the round that began before it. Either policy may judge rounds.
#[test]
fn rounds_are_measured_if_a_policy_needs_them() {
    let has_rounds = |startup, controller| {
        let startup =
            StartUpCapabilities { needs_rounds: startup, observes: false, ..Default::default() };
        let controller = ControllerCapabilities { needs_rounds: controller, ..Default::default() };
        let mut case = Policies { startup, controller, ..Policies::default() }.on_path();
        case.path.on_payload_sent(at(0), 1000, MSS, || 1040);
        case.path.on_acked(MSS);
        case.ack();
        let sample =
            AckSample { rtt: Some(Duration::from_millis(100)), ..AckSample::of(at(100), MSS) };
        let mut sample = AckSample { acked_total: MSS, ..sample };
        case.path.observe(&mut sample);
        (case.path.rounds.is_some(), taken(&case.calls).is_empty())
    };
    assert_eq!(has_rounds(false, false), (false, true));
    assert_eq!(has_rounds(true, false), (true, true));
    assert_eq!(has_rounds(false, true), (true, true));
}

/// A start-up that rules losses is asked again at each use, and one that never may is not.
#[test]
fn a_start_up_may_stop_to_rule_losses() {
    for rules_recovery in [true, false] {
        let startup = StartUpCapabilities { rules_recovery, ..Default::default() };
        let case = Policies { startup, ..Policies::default() }.on_path();
        assert_eq!(
            (case.path.is_ruled(), case.path.is_metered()),
            (rules_recovery, rules_recovery)
        );
        case.startup.set(StartUpCapabilities { rules_recovery: !rules_recovery, ..startup });
        assert!(!case.path.is_ruled());
    }
}

/// A controller that rules losses does so from the end of the start-up on, which does not return
/// although the window is below the threshold.
#[test]
fn a_controller_that_rules_losses_has_no_second_start_up() {
    for rules_recovery in [true, false] {
        let controller = ControllerCapabilities { rules_recovery, ..Default::default() };
        let mut case = Policies { controller, phase: Phase::Done, ..Policies::default() }.on_path();
        assert!(!case.path.is_ruled());
        let sample = case.ack();
        case.path.on_ack(&sample);
        assert_eq!(case.path.is_ruled(), rules_recovery);
        case.path.on_ack(&sample);
        let begins_again = taken(&case.calls).contains(&"begin Loss".to_owned());
        assert_eq!(begins_again, !rules_recovery);
    }
}

#[test]
fn the_model_of_a_start_up_that_is_done_is_the_controllers() {
    for (phase, calls) in [
        (Phase::Done, vec!["observe false", "take over"]),
        (Phase::Continue, vec!["observe false"]),
    ] {
        let mut case = Policies { phase, ..Policies::default() }.on_path();
        let sample = case.ack();
        case.path.on_ack(&sample);
        assert_eq!(taken(&case.calls), calls);
    }
}

/// The first data is a TLS handshake. The data behind it, with nothing in flight, is the transfer.
#[test]
fn a_start_up_that_awaits_the_transfer_begins_with_it() {
    for (beginning, calls) in [
        (Beginning::AwaitsTransfer, vec!["begin NewPath", "begin NewPath"]),
        (Beginning::Whole, vec!["begin NewPath"]),
    ] {
        let mut case = Policies { beginning, ..Policies::default() }.on_path();
        case.path.on_sending_resumed(at(0), Duration::from_secs(1), DATA);
        case.path.on_payload_sent(at(0), 1000, MSS, || 1040);
        case.path.on_sending_resumed(at(1), Duration::from_secs(1), DATA);
        assert_eq!(taken(&case.calls), calls);
    }
}

/// The threshold is lowered before the start-up answers; the window falls after that. An undo comes
/// after the window is back.
#[test]
fn losses_come_to_the_start_up_in_their_order() {
    let mut case = Policies::default().on_path();
    case.path.set_clients(2);
    let (event, reduction) = (Case::event(), Some(Reduction::ToSsthresh));
    assert!(case.path.on_loss_signal(LossSignal::PartialAck));
    assert!(!case.path.on_loss_signal(LossSignal::Timeout { marked: false }));
    assert_eq!(
        taken(&case.calls),
        ["LossSignal(PartialAck) at 10", "LossSignal(Timeout { marked: false }) at 10"]
    );
    case.path.on_report(&Report { congestion: reduction, ..Report::default() }, &event);
    assert_eq!(case.path.window().cwnd(), 5 * MSS);
    assert_eq!(taken(&case.calls), ["Reduced at 10"]);
    case.path.on_report(&Report { undo: true, ..Report::default() }, &event);
    assert_eq!(taken(&case.calls), ["Undone at 10"]);
}

/// The threshold of two clients is half of the window, and that of five a fifth.
#[test]
fn a_controller_reads_from_the_window_how_many_clients_it_serves() {
    for (clients, left) in [(2, 5), (5, 2), (0, 10)] {
        let mut case = Policies::default().on_path();
        case.path.set_clients(clients);
        case.path.reduce(Reduction::ToSsthresh, &Case::event(), Cause::Loss);
        assert_eq!(case.path.window().cwnd(), left * MSS);
    }
}

#[test]
fn a_weight_of_the_application_is_in_the_window() {
    let mut case = Policies::default().on_path();
    assert_eq!(case.path.window().weight(), 1);
    case.path.set_weight(4);
    assert_eq!(case.path.window().weight(), 4);
    case.path.set_weight(0);
    assert_eq!(case.path.window().weight(), 1);
}

#[test]
fn an_ordered_timeout_replaces_the_retransmission_timeout() {
    let timeout = Duration::from_millis(140);
    let mut case = Policies::default().on_path();
    let asked =
        |path: &Path| (path.has_reset_timer(), path.reset_timeout(true), path.reset_timeout(false));
    assert_eq!(asked(&case.path), (false, None, None));
    for (marked_only, unmarked) in [(true, None), (false, Some(timeout))] {
        case.path.window.order_timeout(Some(TimeoutOrder { timeout, marked_only }));
        assert_eq!(asked(&case.path), (true, Some(timeout), unmarked));
    }
}

/// In recovery the window does not grow: only a start-up that sees all ACKs is shown those.
#[test]
fn acks_in_recovery_are_shown_to_a_start_up_that_sees_all() {
    for (sees_all_acks, shown) in [(true, 2), (false, 1)] {
        let startup = StartUpCapabilities { sees_all_acks, observes: false, ..Default::default() };
        let mut case = Policies { startup, follows_kernel: true, ..Policies::default() }.on_path();
        let sample = case.ack();
        case.path.on_ack_digested(&sample, true);
        case.path.on_ack_digested(&sample, false);
        assert_eq!(taken(&case.calls).len(), shown);
    }
}

/// Each way to open is an event of its own, and measurements come to the end once start-up is over.
#[test]
fn kernel_events_say_how_a_connection_opened_and_what_was_measured() {
    let mut case =
        Policies { follows_kernel: true, phase: Phase::Done, ..Policies::default() }.on_path();
    case.path.on_opened(at(0), true);
    case.path.on_opened(at(0), false);
    case.path.on_opened_early(at(0));
    case.path.learn_of_end();
    assert_eq!(
        taken(&case.calls),
        [
            "Handshake { lossless: true }",
            "Handshake { lossless: false }",
            "EarlyData",
            "close false"
        ]
    );
    let sample = case.ack();
    case.path.on_ack(&sample);
    case.path.learn_of_end();
    assert_eq!(taken(&case.calls).last().map(String::as_str), Some("close true"));
}

/// Segments of 1000 bytes arrive 10 ms apart: each of 30 senders has one in 300 ms. A start-up that
/// waits for eight gaps therefore waits 2400 ms longer than the round trip of 80 ms.
#[test]
fn a_timer_waits_for_gaps_only_if_the_start_up_asks() {
    let peer = IpAddr::from([192, 0, 2, 1]);
    let timeout = |timer_gaps, follows_kernel| {
        let startup = StartUpCapabilities { timer_gaps, ..Default::default() };
        let mut case = Policies { startup, follows_kernel, ..Policies::default() }.on_path();
        let host = SharedHostState::default();
        let arrive = |pool: &mut WindowPool, n: u64| {
            pool.note_arrival(at(10 * n), peer, MSS, Duration::from_millis(40));
        };
        (0_u64..13).for_each(|n| arrive(&mut host.borrow_mut().pool, n));
        (0..30).for_each(|_| host.borrow_mut().pool.count_sender(peer, true));
        case.path.hook(HostAccess::new(host, peer));
        case.path.on_rtt_sample(at(0), at(80));
        case.path.rto(0)
    };
    let plain = timeout(0, true);
    assert_eq!(timeout(8, false), plain);
    assert_eq!(timeout(8, true), Duration::from_millis(2480));
    assert_ne!(plain, Duration::from_millis(2480));
}
