//! One host and one peer that does anything.
//!
//! Segments have numbers near or far from the expected ones; time passes; the application writes,
//! reads and closes. In all cases the host must not panic, must keep its records consistent, and
//! must never send past the largest window that the peer admitted.

use super::{Input, Played};
use crate::connection::State;
use crate::segment::{Ecn, EcnCounters, Flags, Framing, Segment, TcpOptions, Timestamps};
use crate::{ConnId, EventKind, FourTuple, Host, HostConfig, Scheme};
use std::net::{IpAddr, Ipv4Addr};
use units::{Duration, Instant, SeqNum};

const SCHEMES: [&str; 9] = [
    "linux",
    "tahoe",
    "reno",
    "newreno",
    "sack",
    "sack+recovery=pipe",
    "linux+open=data+pacing=on+ecn=on",
    "newreno+timestamps=on+rwnd=3kB",
    "linux+ecn=accurate",
];
const PORT: u16 = 80;
/// More events than this from one input only cost time.
const MAX_EVENTS: usize = 400;

/// Plays `data` against a host.
///
/// # Panics
/// If the host breaks one of its invariants: that is what it is for.
pub fn play(data: &[u8]) -> Played {
    let mut input = Input { data };
    let name = SCHEMES[usize::from(input.byte()) % SCHEMES.len()];
    let Ok(scheme) = Scheme::parse(name) else {
        return Played::default();
    };
    let mut world = Hostile::new(&scheme, input.byte());
    for _ in 0..MAX_EVENTS {
        if input.data.is_empty() {
            break;
        }
        world.step(&mut input);
        world.check();
    }
    Played { forged: world.forged, ..Played::default() }
}

struct Hostile {
    host: Host,
    now: Instant,
    tuple: FourTuple,
    conn: Option<ConnId>,
    /// Numbers that the host sent last, around which the peer's vary.
    snd_nxt: SeqNum,
    rcv_nxt: SeqNum,
    isn: Option<SeqNum>,
    forged: u64,
    /// Highest sequence number the peer's windows ever admitted.
    edge: Option<SeqNum>,
}

impl Hostile {
    fn new(scheme: &Scheme, mode: u8) -> Self {
        let mut host = Host::new(HostConfig { seed: u64::from(mode) });
        host.listen(PORT, scheme.clone());
        host.set_auto_read(mode & 1 == 0);
        let remote = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9));
        let active = mode & 2 != 0;
        let ports = if active { (4000, PORT) } else { (PORT, 4000) };
        let tuple = FourTuple { local_port: ports.0, remote, remote_port: ports.1 };
        let now = Instant::ZERO;
        let conn = active.then(|| host.connect(now, tuple, scheme).ok()).flatten();
        let zero = SeqNum(0);
        let mut world = Self {
            host,
            now,
            tuple,
            conn,
            snd_nxt: zero,
            rcv_nxt: zero,
            isn: None,
            forged: 0,
            edge: None,
        };
        world.drain();
        world
    }

    fn step(&mut self, input: &mut Input<'_>) {
        match input.byte() % 16 {
            0 => self.act(|host, now, id| host.write(now, id, 20_000)),
            1 => self.act(Host::shutdown),
            2 => self.act(|host, now, id| host.read(now, id, 700)),
            3 if input.byte() == 0 => self.act(Host::abort),
            4 | 5 => self.wait(Duration::from_micros(u64::from(input.word()) * 50)),
            6 => self.wait(Duration::from_millis(u64::from(input.word()))),
            _ => {
                let segment = self.segment(input);
                self.note_window(&segment);
                self.forged += 1;
                self.host.handle_segment(self.now, &self.tuple, &segment);
            }
        }
        self.drain();
    }

    fn act(&mut self, action: impl FnOnce(&mut Host, Instant, ConnId)) {
        if let Some(id) = self.conn {
            action(&mut self.host, self.now, id);
        }
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.host.handle_timeout(self.now);
    }

    /// Mostly plausible, sometimes far off.
    fn segment(&mut self, input: &mut Input<'_>) -> Segment {
        let style = input.byte();
        let near = |base: SeqNum, input: &mut Input<'_>| match style & 3 {
            0 => base,
            1 => base + (u32::from(input.byte()) * 100).wrapping_sub(12_800),
            2 => base + u32::from(input.word()),
            _ => SeqNum(input.long()),
        };
        let seq = near(self.rcv_nxt, input);
        let ack = if style & 4 == 0 { self.snd_nxt } else { near(self.snd_nxt, input) };
        let flags = match input.byte() {
            b if b < 160 => Flags::ACK,
            b if b < 180 => Flags::SYN,
            b if b < 200 => Flags::SYN.with(Flags::ACK),
            b if b < 215 => Flags::ACK.with(Flags::FIN),
            _ => Flags(input.word()),
        };
        let mut segment = Segment {
            seq,
            ack,
            flags,
            len: if style & 8 == 0 { 0 } else { u32::from(input.word()) % 3000 },
            window: if style & 16 == 0 { 50_000 } else { input.word() },
            ecn: if style & 32 == 0 { Ecn::NotEct } else { Ecn::Ce },
            low_priority: false,
            options: TcpOptions::default(),
            framing: Framing::Tcp,
        };
        if style & 64 != 0 {
            self.add_options(&mut segment, input);
        }
        if segment.has(Flags::SYN) {
            self.rcv_nxt = segment.seq + 1;
        } else if style & 128 != 0 {
            self.rcv_nxt = segment.seq + segment.sequence_len();
        }
        segment
    }

    fn add_options(&self, segment: &mut Segment, input: &mut Input<'_>) {
        let which = input.byte();
        let options = &mut segment.options;
        if segment.flags.contains(Flags::SYN) {
            options.mss = Some(input.word());
            options.window_scale = (which & 1 != 0).then(|| input.byte());
            options.sack_permitted = which & 2 != 0;
        }
        if which & 4 != 0 {
            options.timestamps = Some(Timestamps { value: input.long(), echo: input.long() });
        }
        if which & 8 != 0 {
            let counters = [input.long(), input.long()];
            options.ecn = Some(EcnCounters::new(which & 16 != 0, &counters));
        }
        for _ in 0..which >> 5 {
            let left = self.snd_nxt + (u32::from(input.byte()) * 200).wrapping_sub(40_000);
            options.sack.push(left, left + u32::from(input.byte()) * 200);
        }
    }

    /// The furthest this window could reach under the largest scale.
    fn note_window(&mut self, segment: &Segment) {
        let reach = segment.ack + (u32::from(segment.window) << 14);
        let further = self.edge.is_none_or(|edge| edge.precedes(reach));
        if segment.has(Flags::ACK) && further {
            self.edge = Some(reach);
        }
    }

    fn drain(&mut self) {
        let mut sent = 0;
        while let Some(t) = self.host.poll_transmit(self.now) {
            sent += 1;
            assert!(sent < 20_000, "the host never stops sending");
            assert!(t.segment.len <= 1460, "a segment of {} bytes", t.segment.len);
            if t.conn.is_some() && t.segment.sequence_len() > 0 {
                let end = t.segment.seq + t.segment.sequence_len();
                if self.isn.is_none() || self.snd_nxt.precedes(end) {
                    self.snd_nxt = end;
                    self.isn.get_or_insert(t.segment.seq);
                }
            }
        }
        while let Some(event) = self.host.poll_event() {
            match event.kind {
                EventKind::Accepted => self.conn = Some(event.conn),
                EventKind::Closed | EventKind::Reset => {
                    self.conn = None;
                    self.isn = None;
                }
                _ => {}
            }
        }
    }

    fn check(&mut self) {
        let deadline = self.host.poll_timeout();
        assert!(deadline.is_none_or(|at| at > self.now || self.is_paced()), "a timer is stuck");
        let Some(conn) = self.conn.and_then(|id| self.host.connection(id)) else {
            return;
        };
        let board = conn.scoreboard();
        let sum: u64 = board.iter().map(|s| u64::from(s.len)).sum();
        assert_eq!(board.outstanding(), sum);
        assert!(board.sacked() + board.lost() <= sum + board.retransmissions_in_flight());
        if conn.state() != State::Closed && !board.is_empty() {
            assert!(deadline.is_some(), "data outstanding and no timer: {:?}", conn.state());
        }
        if let Some(path) = self.conn.and_then(|id| self.host.path_of(id)) {
            assert_eq!(path.bytes_in_flight(), board.pipe());
            assert!(path.window().cwnd() >= path.window().mss());
        }
    }

    /// A timer that is due now and was not run yet: time stood still.
    fn is_paced(&mut self) -> bool {
        self.host.handle_timeout(self.now);
        self.drain();
        self.host.poll_timeout().is_none_or(|at| at > self.now)
    }
}
