//! Queueing disciplines by name, and which of them can exist.

use crate::{LinkError, QueueLimit};
use std::fmt;
use std::str::FromStr;
use units::Duration;

/// Rule for the order of packets, for drops and for marks. Every discipline works with every
/// [`QueueLimit`] unless it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Discipline {
    /// First in, first out; packets that do not fit are refused.
    #[default]
    DropTail,
    /// First in, first out. Where there is no room, the low-priority packet nearest to the tail is
    /// dropped, the arriving one included. If there is none, the arriving packet is dropped
    /// (Padmanabhan & Katz, *TCP Fast Start*, §3.3). Needs a limit.
    PriorityDrop,
    /// Random early detection.
    Red(RedConfig),
    /// Controlled delay.
    CoDel(CoDelConfig),
    /// Fair queueing with controlled delay.
    FqCoDel(FqCoDelConfig),
    /// Pure acknowledgements before everything else, each in order, without preemption (for a slow
    /// link upstream). They share the limit.
    AcksFirst,
}

/// Random early detection (Floyd & Jacobson 1993). The default is the one of the start-up papers:
/// 15 % and 60 % of the buffer, a quick average, marks everything above the maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// Averages between which the probability rises from nothing to `max_p`.
    pub thresholds: Thresholds,
    /// Weight of the present queue in its average, `w_q`; above 0, at most 1.
    pub weight: f64,
    /// Probability at the maximum threshold; above 0, at most 1.
    pub max_p: f64,
    /// From the maximum threshold to its double the probability rises on to one, instead of at
    /// once.
    pub gentle: bool,
    /// Whether ECN-capable packets are marked; off: all are dropped alike.
    pub ecn: bool,
    /// Mark also where the average is above the maximum; off: drop there (RFC 3168 §7).
    pub mark_above_max: bool,
    /// At least `1/p` packets between two strikes, twice that at most, instead of none and `1/p`
    /// (ns-2's `wait_`).
    pub wait: bool,
    /// Size in bytes of the packets that measure idle time. With thresholds in bytes, it is also
    /// the size of the packet that is struck with just the probability.
    pub mean_packet: u32,
    /// Where there is no room a low-priority packet is dropped first, as in
    /// [`Discipline::PriorityDrop`].
    pub low_priority_first: bool,
}

/// Thresholds of RED on the average of the waiting packets; the packet in service is not waiting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Thresholds {
    /// Shares of the room there is to wait: of the limit in bytes, or of the limit in packets less
    /// the one in service.
    Shares {
        /// The lower one.
        min: f64,
        /// The upper one.
        max: f64,
    },
    /// Packets.
    Packets {
        /// The lower one.
        min: f64,
        /// The upper one.
        max: f64,
    },
    /// Bytes; the probability is then proportional to a packet's size.
    Bytes {
        /// The lower one.
        min: f64,
        /// The upper one.
        max: f64,
    },
}

impl Default for RedConfig {
    fn default() -> Self {
        Self {
            thresholds: Thresholds::Shares { min: 0.15, max: 0.60 },
            weight: 0.02,
            max_p: 0.1,
            gentle: false,
            ecn: true,
            mark_above_max: true,
            wait: false,
            mean_packet: 1000,
            low_priority_first: false,
        }
    }
}

/// Controlled delay (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelConfig {
    /// Standing waiting time that is acceptable.
    pub target: Duration,
    /// Time for which a standing queue is permitted; about the longest round trip expected.
    pub interval: Duration,
    /// A queue of no more bytes than this is never at fault: the largest packet.
    pub mtu: u32,
    /// Mark packets that are ECN-capable instead of dropping them.
    pub ecn: bool,
}

impl Default for CoDelConfig {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            mtu: 1514,
            ecn: true,
        }
    }
}

/// Fair queueing with controlled delay (RFC 8290).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCoDelConfig {
    /// Configuration of each queue's CoDel.
    pub codel: CoDelConfig,
    /// Bytes that a queue may send in its turn.
    pub quantum: u32,
    /// Queues that flows are hashed to, 1 to 65,536.
    pub queues: u32,
    /// Packets dropped at once where there is no room: at most this, at most half of the longest
    /// queue, rounded up.
    pub drop_batch: u32,
}

impl Default for FqCoDelConfig {
    fn default() -> Self {
        Self { codel: CoDelConfig::default(), quantum: 1514, queues: 1024, drop_batch: 64 }
    }
}

const MAX_QUEUES: u32 = 1 << 16;

/// Description of a discipline, for lists of disciplines and readers of their names.
#[derive(Clone, Copy, Debug)]
pub struct DisciplineDescriptor {
    /// Name of the discipline in texts.
    pub name: &'static str,
    /// Description of its function, in a sentence.
    pub about: &'static str,
    /// Specification of the discipline.
    pub source: &'static str,
    /// Creates the discipline with its default parameters.
    pub make: fn() -> Discipline,
}

/// All disciplines, in the order they are listed to users.
pub const DISCIPLINES: [DisciplineDescriptor; 6] = [
    DisciplineDescriptor {
        name: "droptail",
        about: "first in, first out; what does not fit is dropped",
        source: "any router",
        make: || Discipline::DropTail,
    },
    DisciplineDescriptor {
        name: "pdrop",
        about: "droptail that drops the low-priority packet nearest to the tail first",
        source: "Padmanabhan & Katz 1998 §3.3",
        make: || Discipline::PriorityDrop,
    },
    DisciplineDescriptor {
        name: "red",
        about: "drops or marks at random, the more the longer the queue is on average",
        source: "Floyd & Jacobson 1993",
        make: || Discipline::Red(RedConfig::default()),
    },
    DisciplineDescriptor {
        name: "codel",
        about: "drops or marks while packets have waited too long for too long",
        source: "RFC 8289",
        make: || Discipline::CoDel(CoDelConfig::default()),
    },
    DisciplineDescriptor {
        name: "fq_codel",
        about: "a queue with codel for each of many flows, in turn",
        source: "RFC 8290",
        make: || Discipline::FqCoDel(FqCoDelConfig::default()),
    },
    DisciplineDescriptor {
        name: "acks-first",
        about: "pure acknowledgements before everything else",
        source: "RFC 3449 §5.4",
        make: || Discipline::AcksFirst,
    },
];

impl Discipline {
    /// Every discipline with its default parameters.
    pub fn all() -> [Self; 6] {
        DISCIPLINES.map(|descriptor| (descriptor.make)())
    }

    /// Name of the discipline in texts, like `fq_codel`.
    pub const fn name(&self) -> &'static str {
        let place = match self {
            Self::DropTail => 0,
            Self::PriorityDrop => 1,
            Self::Red(_) => 2,
            Self::CoDel(_) => 3,
            Self::FqCoDel(_) => 4,
            Self::AcksFirst => 5,
        };
        DISCIPLINES[place].name
    }

    /// True if a packet's departure is known when it arrives: the order and the drops never change
    /// after that.
    pub const fn knows_departures(&self) -> bool {
        match self {
            Self::DropTail => true,
            Self::Red(red) => !red.low_priority_first,
            Self::PriorityDrop | Self::CoDel(_) | Self::FqCoDel(_) | Self::AcksFirst => false,
        }
    }

    /// Refuses impossible parameters.
    pub(crate) fn check(&self, limit: QueueLimit) -> Result<(), LinkError> {
        match self {
            Self::DropTail | Self::AcksFirst => Ok(()),
            Self::PriorityDrop => check_limit(limit).map_err(|why| self.config_error(why)),
            Self::Red(red) => red.check(limit).map_err(|why| self.config_error(why)),
            Self::CoDel(codel) => codel.check().map_err(|why| self.config_error(why)),
            Self::FqCoDel(fq) => fq.check().map_err(|why| self.config_error(why)),
        }
    }

    const fn config_error(&self, why: &'static str) -> LinkError {
        LinkError::Discipline { name: self.name(), why }
    }
}

impl fmt::Display for Discipline {
    /// The name; parameters are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())
    }
}

/// A name that is none of a discipline; says which there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDiscipline(String);

impl fmt::Display for UnknownDiscipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Discipline::all().map(|discipline| discipline.name()).join(", ");
        write!(f, "{:?} is not a queueing discipline: use one of {names}", self.0)
    }
}

impl std::error::Error for UnknownDiscipline {}

impl FromStr for Discipline {
    type Err = UnknownDiscipline;

    /// A discipline by its name, with default parameters.
    fn from_str(text: &str) -> Result<Self, UnknownDiscipline> {
        let all = Self::all().into_iter();
        let mut named = all.filter(|discipline| discipline.name() == text);
        named.next().ok_or_else(|| UnknownDiscipline(text.to_owned()))
    }
}

const fn check_limit(limit: QueueLimit) -> Result<(), &'static str> {
    match limit {
        QueueLimit::Unlimited => {
            Err("prefers whom to drop, and an unlimited queue drops none: give the queue a size")
        }
        QueueLimit::Packets(_) | QueueLimit::Bytes(_) => Ok(()),
    }
}

/// Zero is excluded, one is not; not-a-number is.
fn is_positive_share(value: f64) -> bool {
    value > 0.0 && value <= 1.0
}

/// [`Thresholds`] of a queue whose limit is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RedThresholds {
    /// Average below which no packet is struck.
    pub(crate) min: f64,
    /// Average above which every packet is struck, or, if gentle, from twice which.
    pub(crate) max: f64,
    /// The average counts bytes, not packets.
    pub(crate) in_bytes: bool,
}

impl RedConfig {
    /// The thresholds under `limit`.
    pub(crate) fn resolve(&self, limit: QueueLimit) -> Result<RedThresholds, &'static str> {
        let (min, max, in_bytes) = match (self.thresholds, limit) {
            (Thresholds::Packets { min, max }, _) => (min, max, false),
            (Thresholds::Bytes { min, max }, _) => (min, max, true),
            (Thresholds::Shares { min, max }, QueueLimit::Packets(n)) => {
                let room = f64::from(n - 1);
                (min * room, max * room, false)
            }
            (Thresholds::Shares { min, max }, QueueLimit::Bytes(n)) => {
                (min * n as f64, max * n as f64, true)
            }
            (Thresholds::Shares { .. }, QueueLimit::Unlimited) => {
                return Err(
                    "thresholds are shares of a queue without bound: give the queue a size, or the \
                     thresholds in packets or bytes",
                );
            }
        };
        Ok(RedThresholds { min, max, in_bytes })
    }

    fn check(&self, limit: QueueLimit) -> Result<(), &'static str> {
        if self.low_priority_first {
            check_limit(limit)?;
        }
        if !is_positive_share(self.weight) {
            return Err("weight must be above 0, at most 1, like 0.002");
        }
        if !is_positive_share(self.max_p) {
            return Err("max_p must be above 0, at most 1, like 0.1");
        }
        if self.mean_packet == 0 {
            return Err("mean_packet must be above 0, like 1000");
        }
        let RedThresholds { min, max, in_bytes } = self.resolve(limit)?;
        if !(min >= 0.0 && max > min && max.is_finite()) {
            return Err(
                "the minimum threshold must be below the maximum: give the queue more room \
                        or other thresholds",
            );
        }
        let room = match (limit, in_bytes) {
            (QueueLimit::Packets(n), false) => f64::from(n),
            (QueueLimit::Bytes(n), true) => n as f64,
            _ => f64::INFINITY,
        };
        if max > room {
            return Err("the maximum threshold exceeds the queue's size and would never be met: \
                        lower it or give the queue more room");
        }
        Ok(())
    }
}

impl CoDelConfig {
    fn check(&self) -> Result<(), &'static str> {
        if self.target.is_zero() || self.target >= self.interval {
            return Err("target must be above 0 and below interval, like 5ms and 100ms");
        }
        Ok(())
    }
}

impl FqCoDelConfig {
    fn check(&self) -> Result<(), &'static str> {
        if self.quantum == 0 {
            return Err("quantum must be above 0, like 1514");
        }
        if self.queues == 0 || self.queues > MAX_QUEUES {
            return Err("there must be 1 to 65536 queues, like 1024");
        }
        if self.drop_batch == 0 {
            return Err("drop_batch must be above 0, like 64");
        }
        self.codel.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(discipline: Discipline, limit: QueueLimit) -> String {
        discipline.check(limit).unwrap_err().to_string()
    }

    fn red(change: impl Fn(&mut RedConfig)) -> Discipline {
        let mut red = RedConfig::default();
        change(&mut red);
        Discipline::Red(red)
    }

    #[test]
    fn names_are_read_back() {
        for discipline in Discipline::all() {
            assert_eq!(discipline.name().parse(), Ok(discipline));
            discipline.check(QueueLimit::Packets(100)).unwrap();
            discipline.check(QueueLimit::Bytes(100_000)).unwrap();
        }
        let error = "fifo".parse::<Discipline>().unwrap_err().to_string();
        assert!(error.contains("droptail, pdrop, red, codel, fq_codel, acks-first"), "{error}");
    }

    #[test]
    fn thresholds_of_the_papers() {
        // 50 packets may wait and one is in service: 7.5 and 30.
        let red = RedConfig::default();
        let in_packets = RedThresholds { min: 7.5, max: 30.0, in_bytes: false };
        assert_eq!(red.resolve(QueueLimit::Packets(51)), Ok(in_packets));
        let in_bytes = RedThresholds { min: 7_500.0, max: 30_000.0, in_bytes: true };
        assert_eq!(red.resolve(QueueLimit::Bytes(50_000)), Ok(in_bytes));
    }

    #[test]
    fn what_cannot_exist_is_refused_with_the_way_out() {
        let limit = QueueLimit::Packets(20);
        let packets = |min, max| red(move |red| red.thresholds = Thresholds::Packets { min, max });
        let way_out = |discipline, limit, hint: &str| {
            let text = refusal(discipline, limit);
            assert!(text.contains(hint), "{text}");
        };
        way_out(Discipline::PriorityDrop, QueueLimit::Unlimited, "give the queue a size");
        way_out(red(|_| ()), QueueLimit::Unlimited, "thresholds in packets or bytes");
        way_out(red(|_| ()), QueueLimit::Packets(1), "more room");
        way_out(red(|r| r.weight = 0.0), limit, "0.002");
        way_out(red(|r| r.weight = f64::NAN), limit, "0.002");
        way_out(red(|r| r.max_p = 1.5), limit, "0.1");
        way_out(red(|r| r.mean_packet = 0), limit, "1000");
        way_out(packets(10.0, 5.0), limit, "below the maximum");
        way_out(packets(f64::NAN, 5.0), limit, "below the maximum");
        way_out(packets(5.0, 30.0), limit, "lower it");
        packets(5.0, 30.0).check(QueueLimit::Unlimited).unwrap();
        let codel = CoDelConfig { target: Duration::ZERO, ..CoDelConfig::default() };
        way_out(Discipline::CoDel(codel), limit, "5ms and 100ms");
        let fq = FqCoDelConfig::default();
        way_out(Discipline::FqCoDel(FqCoDelConfig { queues: 0, ..fq }), limit, "1024");
        way_out(Discipline::FqCoDel(FqCoDelConfig { quantum: 0, ..fq }), limit, "1514");
        way_out(Discipline::FqCoDel(FqCoDelConfig { drop_batch: 0, ..fq }), limit, "64");
        way_out(Discipline::FqCoDel(FqCoDelConfig { codel, ..fq }), limit, "5ms");
    }
}
