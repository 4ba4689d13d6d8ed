//! Interfaces for start-ups of the agent's kind, in addition to those of all start-ups. They have
//! the events at which the Linux kernel calls a congestion control that wraps another, and the
//! common state of a host's connections.
//!
//! A start-up that needs more than [`super::StartUp`] implements [`KernelEvents`]. The path calls
//! it where the kernel does: after the handshake, when data is sent with nothing outstanding, and
//! when idling takes the window back. It also calls it at deliveries, at losses, and at the end.
//! [`SharedSending`] is for a start-up that keeps the pace of the host's other connections.

use crate::ack::{AckSample, RttEstimator};
use crate::bbr::ModelledPath;
use crate::startup::PendingData;
use crate::window::Window;
use arith::session::{Session, SessionMember};
use memory::{AnsweredPeer, WindowPool};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use units::{Duration, Instant};

/// Common state of all connections of a host under start-ups of this kind.
#[derive(Default)]
pub struct StartupHostState {
    /// The memory of paths.
    pub pool: WindowPool,
    /// Sessions, by the hosts to which their connections are open.
    sessions: FxHashMap<IpAddr, SharedSession>,
}

/// A session and the number of its connections.
#[derive(Default)]
struct SharedSession {
    session: Session,
    members: u32,
}

/// A reference of connections to a [`StartupHostState`].
pub type SharedHostState = Rc<RefCell<StartupHostState>>;

/// A connection's access to its common state with others.
#[derive(Clone)]
pub struct HostAccess {
    host: SharedHostState,
    /// The peer, and the memory that answered for it at the last start.
    peer: AnsweredPeer,
}

impl HostAccess {
    /// Creates the access of a connection to `remote`.
    pub const fn new(host: SharedHostState, remote: IpAddr) -> Self {
        Self { host, peer: AnsweredPeer { address: remote, by: None } }
    }

    /// Queries or updates the memory of paths.
    pub fn pool<T>(&self, act: impl FnOnce(&mut WindowPool, AnsweredPeer) -> T) -> T {
        act(&mut self.host.borrow_mut().pool, self.peer)
    }

    /// Chooses the memory that answers for the peer from now on, because the connection starts at
    /// `now`.
    pub fn answer(&mut self, now: Instant) {
        self.peer = self.pool(|pool, to| pool.answer(now, to.address));
    }

    /// Becomes a member of the session with the other host, which begins with its first one.
    pub fn enter_session(&self) {
        self.host.borrow_mut().sessions.entry(self.peer.address).or_default().members += 1;
    }

    /// Leaves it; with the last member it ends.
    pub fn leave_session(&self, member: &mut SessionMember) {
        let sessions = &mut self.host.borrow_mut().sessions;
        let Some(shared) = sessions.get_mut(&self.peer.address) else { return };
        shared.session.discount(member);
        shared.members -= 1;
        if shared.members == 0 {
            sessions.remove(&self.peer.address);
        }
    }

    /// Queries or updates the session of which the connection is a member.
    pub fn session<T>(&self, act: impl FnOnce(&mut Session) -> T) -> T {
        let mut host = self.host.borrow_mut();
        act(&mut host.sessions.entry(self.peer.address).or_default().session)
    }
}

/// State of a path at an event.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// Time of the event.
    pub now: Instant,
    /// Round trips of the path so far.
    pub rtt: &'a RttEstimator,
    /// Bytes ever sent for the first time.
    pub sent_total: u64,
    /// Segments ever sent that carry data, SYN or FIN, retransmissions included.
    pub segments_sent: u64,
    /// Retransmissions of data among these.
    pub segments_resent: u64,
    /// Bytes ever acknowledged cumulatively.
    pub acked_total: u64,
    /// Most bytes in flight in the round trip under way.
    pub max_in_flight: u64,
    /// Time at which the last segment left or, with pacing, the next one may.
    pub last_departure: Instant,
    /// The start-up owns the window.
    pub in_startup: bool,
}

impl Situation<'_> {
    /// Bytes sent and not acknowledged cumulatively.
    pub const fn outstanding(&self) -> u64 {
        self.sent_total.saturating_sub(self.acked_total)
    }

    /// Smoothed round trip, microseconds; 0 before the first sample. Before data is acknowledged it
    /// is that of the handshake, without any remembered value, as in the kernel.
    pub fn srtt_us(&self) -> u32 {
        match self.acked_total {
            0 => self.rtt.measured().map_or(0, microseconds),
            _ => microseconds(self.rtt.srtt()),
        }
    }

    /// Lowest round trip, microseconds; 0 before the first sample.
    pub fn min_rtt_us(&self) -> u32 {
        match self.rtt.min_rtt() {
            Duration::MAX => 0,
            rtt => microseconds(rtt),
        }
    }
}

/// Returns the time in microseconds, limited to 32 bits.
pub(crate) fn microseconds(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}

/// The event that opens a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenedBy {
    /// The handshake, which has ended; no data has left.
    Handshake {
        /// None of its segments was retransmitted.
        lossless: bool,
    },
    /// Data in the SYN with a valid cookie (RFC 7413). The handshake has not ended, and has not
    /// shown anything about the path.
    EarlyData,
}

/// The events at which the Linux kernel calls a congestion control.
pub trait KernelEvents {
    /// Takes the common state of the host's connections, before anything else.
    fn hook(&mut self, hooked: HostAccess);

    /// The connection opens.
    fn open(&mut self, window: &mut Window, at: &Situation<'_>, by: OpenedBy);

    /// Data is about to leave with nothing outstanding, for the first time or again
    /// (`CA_EVENT_TX_START`).
    fn start(&mut self, window: &mut Window, at: &Situation<'_>, transfer: PendingData);

    /// The connection has been idle, and its window is about to be taken back
    /// (`CA_EVENT_CWND_RESTART`).
    fn idle(&mut self, window: &mut Window, at: &Situation<'_>) {
        let _ = (window, at);
    }

    /// Segments were delivered outside of recovery, and the window has grown for them
    /// (`cong_avoid`).
    fn acked(&mut self, window: &mut Window, at: &Situation<'_>, sample: &AckSample);

    /// A loss or mark was found, before the window is reduced (`ssthresh`, before the congestion
    /// control's own).
    fn lose(&mut self, window: &mut Window, at: &Situation<'_>);

    /// The connection has sent everything and its FIN is acknowledged, or it is over (`release`).
    /// `modelled` is the measurement of a controller that models the path, once it has found it
    /// full.
    fn close(&mut self, window: &mut Window, at: &Situation<'_>, modelled: Option<ModelledPath>);

    /// Returns the policy itself if it sends at the pace of the host's other connections; the
    /// answer is the same for its life.
    fn shared_sending(&mut self) -> Option<&mut dyn SharedSending> {
        None
    }
}

/// Needs of a policy with [`SharedSending`] at present. The path asks after each event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendingNeeds {
    /// [`SharedSending::before_sending`] is called.
    pub watches_sending: bool,
    /// Each segment asks for its time by [`SharedSending::book_departure`].
    pub shares_pace: bool,
}

/// The departures of a start-up whose segments keep the pace of the host's other connections.
pub trait SharedSending {
    /// Needs at present.
    fn needs(&self) -> SendingNeeds;

    /// Something may be sent; `unacked`: bytes written and not acknowledged (`min_tso_segs`).
    fn before_sending(&mut self, window: &mut Window, at: &Situation<'_>, unacked: u64);

    /// Returns the time at which the next segment, of `bytes`, may leave among those of other
    /// connections; it stays the same until one has left.
    fn book_departure(&mut self, now: Instant, bytes: u64) -> Option<Instant>;

    /// A segment has left, while [`SendingNeeds::shares_pace`].
    fn on_departure(&mut self);

    /// All that was sent is acknowledged, in recovery or not.
    fn on_all_acked(&mut self);
}
