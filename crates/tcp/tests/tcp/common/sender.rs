//! A sender whose peer is a table of steps. Segments are numbered from 0 and 1000 bytes long.

use memory::{PathMemory, Remembered, Sample};
use std::net::{IpAddr, Ipv4Addr};
use tcp::{
    ConnId, Flags, FourTuple, Host, HostConfig, MemoryKind, Scheme, Segment, TcpOptions, Timestamps,
};
use units::{Duration, Instant, SeqNum};

pub(crate) const MSS: u32 = 1000;
const PEER: SeqNum = SeqNum(5000);

/// A memory with a fixed answer, which learns nothing.
struct Known(Option<Remembered>);

impl PathMemory for Known {
    fn recall(&mut self, _: Instant, _: IpAddr) -> Option<Remembered> {
        self.0
    }

    fn record(&mut self, _: Instant, _: IpAddr, _: &Sample) {}
}

/// A sender whose peer is the table.
pub(crate) struct Sender {
    pub host: Host,
    pub conn: ConnId,
    tuple: FourTuple,
    pub now: Instant,
    /// Sequence number of segment 0.
    first: SeqNum,
    /// Timestamp of the segment that left last, if the scheme has them: what the peer echoes.
    stamp: Option<u32>,
}

impl Sender {
    /// Open, 100 segments written, the initial window of 3 (0, 1, 2) sent.
    pub(crate) fn new(scheme: &str) -> Self {
        Self::opened(scheme, &[0, 1, 2])
    }

    /// As [`Sender::new`], where the scheme sends these at once.
    pub(crate) fn opened(scheme: &str, first: &[u32]) -> Self {
        let mut sender = Self::silent(scheme);
        sender.write(100);
        assert_eq!(sender.sent(), first);
        sender
    }

    /// Open, with nothing to send yet.
    pub(crate) fn silent(scheme: &str) -> Self {
        Self::knowing(scheme, None)
    }

    /// The same, where the host remembers this of the peer.
    pub(crate) fn knowing(scheme: &str, remembered: Option<Remembered>) -> Self {
        let name = format!("{scheme}+iw=3+mss=1000+options=free");
        let scheme = Scheme::parse(&name).unwrap();
        let remote = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let tuple = FourTuple { local_port: 1, remote, remote_port: 2 };
        let mut host = Host::new(HostConfig { seed: 1 });
        if remembered.is_some() {
            host.set_memory(MemoryKind::Temporal, memory::shared(Known(remembered)));
        }
        let now = Instant::ZERO;
        let conn = host.connect(now, tuple, &scheme).unwrap();
        let syn = host.poll_transmit(now).unwrap().segment;
        let stamp = syn.options.timestamps.map(|ts| ts.value);
        let mut sender = Self { host, conn, tuple, now, first: syn.seq + 1, stamp };
        sender.wait(100);
        let timestamps = sender.echo();
        let mss = Some(1000);
        let options = TcpOptions { mss, sack_permitted: true, timestamps, ..TcpOptions::default() };
        let flags = Flags::SYN.with(Flags::ACK);
        let (seq, ack) = (SeqNum(PEER.0 - 1), sender.first);
        let segment = Segment { seq, ack, flags, options, window: 60_000, ..Segment::default() };
        sender.host.handle_segment(sender.now, &tuple, &segment);
        assert_eq!(sender.sent(), []);
        sender
    }

    /// Writes this many segments.
    pub(crate) fn write(&mut self, segments: u32) {
        self.host.write(self.now, self.conn, u64::from(segments * MSS));
    }

    /// The peer's timestamps count milliseconds.
    fn echo(&self) -> Option<Timestamps> {
        let value = (self.now.as_nanos() / 1_000_000) as u32;
        self.stamp.map(|echo| Timestamps { value, echo })
    }

    pub(crate) fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        self.host.handle_timeout(self.now);
    }

    /// Numbers of the data segments that leave now.
    pub(crate) fn sent(&mut self) -> Vec<u32> {
        self.sent_with_priority().into_iter().map(|(number, _)| number).collect()
    }

    /// The same, and whether they have low priority.
    pub(crate) fn sent_with_priority(&mut self) -> Vec<(u32, bool)> {
        self.sent_with(|segment| segment.low_priority)
    }

    /// The same, and whether they are pushed.
    pub(crate) fn sent_with_push(&mut self) -> Vec<(u32, bool)> {
        self.sent_with(|segment| segment.has(Flags::PSH))
    }

    fn sent_with(&mut self, say: impl Fn(&Segment) -> bool) -> Vec<(u32, bool)> {
        let mut sent = Vec::new();
        while let Some(t) = self.host.poll_transmit(self.now) {
            if t.segment.len > 0 {
                self.stamp = t.segment.options.timestamps.map(|ts| ts.value);
                let number = t.segment.seq.distance_from(self.first) as u32 / MSS;
                sent.push((number, say(&t.segment)));
            }
        }
        sent
    }

    /// The peer acknowledges all before `next` and, if it can, SACKs these ranges.
    pub(crate) fn ack(&mut self, next: u32, sacks: &[(u32, u32)]) -> Vec<u32> {
        self.receive_ack(next, sacks);
        self.sent()
    }

    /// The same, with what it lets go yet to be sent.
    pub(crate) fn receive_ack(&mut self, next: u32, sacks: &[(u32, u32)]) {
        let at = |n: u32| self.first + n * MSS;
        let mut options = TcpOptions { timestamps: self.echo(), ..TcpOptions::default() };
        for &(left, right) in sacks {
            options.sack.push(at(left), at(right));
        }
        let ack = at(next);
        let flags = Flags::ACK;
        let segment =
            Segment { seq: PEER, ack, flags, options, window: 60_000, ..Segment::default() };
        self.host.handle_segment(self.now, &self.tuple, &segment);
    }

    /// `cwnd` and `ssthresh`, bytes.
    pub(crate) fn window(&self) -> (u64, u64) {
        let window = self.host.path_of(self.conn).unwrap().window();
        (window.cwnd(), window.ssthresh())
    }

    /// ACKs of 0, 1 and 2 in slow start: 3 to 8 are out, cwnd is 6.
    pub(crate) fn grown(scheme: &str) -> Self {
        let mut s = Self::new(scheme);
        assert_eq!(s.ack(1, &[]), [3, 4]);
        assert_eq!(s.ack(2, &[]), [5, 6]);
        assert_eq!(s.ack(3, &[]), [7, 8]);
        assert_eq!(s.window(), (6000, u64::MAX));
        s
    }
}

/// Returns the segments that leave within `ms` from now, with the time of each in us.
pub(crate) fn within(s: &mut Sender, ms: u64) -> Vec<(u64, u32)> {
    let end = s.now + Duration::from_millis(ms);
    let mut left = Vec::new();
    while let Some(at) = s.host.poll_timeout().filter(|&at| at <= end) {
        s.now = at;
        s.host.handle_timeout(at);
        left.extend(s.sent().into_iter().map(|segment| (at.as_nanos() / 1000, segment)));
    }
    s.now = end;
    left
}
