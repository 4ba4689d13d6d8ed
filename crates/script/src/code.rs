//! The little of Python that scripts use between `%{` and `}%`: numbers, names, comparisons,
//! arithmetic.
//!
//! packetdrill hands a block like that to Python. Here [`crate::parse`] reads it into these
//! expressions, which are evaluated with the host's report of the connection. Names that are
//! neither constants nor quantities of the connection are variables, which live as long as the
//! script.

use crate::number::ExactFraction;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// One statement of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `assert condition, message`
    Assert(Expression),
    /// `name = value`
    Assign(String, Expression),
}

/// An expression; its value is a number, of which zero is false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A number.
    Number(ExactFraction),
    /// A constant or a variable.
    Name(String),
    /// A quantity of the connection.
    Info(TcpInfoField),
    /// All must hold.
    And(Vec<Expression>),
    /// One must hold.
    Or(Vec<Expression>),
    /// It must not hold.
    Not(Box<Expression>),
    /// `a < b <= c`: the first operand, then what each next one is compared by.
    Compare(Box<Expression>, Vec<(Comparator, Expression)>),
    /// `abs(a)`
    Absolute(Box<Expression>),
    /// `a + b`
    Binary(Operator, Box<Expression>, Box<Expression>),
}

/// Arithmetic of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `|`
    BitOr,
    /// `&`
    BitAnd,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, exact
    Divide,
    /// `//`, rounded down
    DivideDown,
}

/// Reason why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// The subject cannot answer the question.
    Unanswered,
    /// This name has no value.
    Name(String),
    /// There is none: a division by zero, bits of a fraction, a number too long.
    NoNumber,
}

/// Comparison of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparator {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// Quantities of the connection, with the names and units of Linux's `struct tcp_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpInfoField {
    /// `tcpi_state`: one of `TCP_ESTABLISHED` ...
    State,
    /// `tcpi_ca_state`: one of `TCP_CA_Open` ...
    CaState,
    /// `tcpi_snd_cwnd`, segments.
    SndCwnd,
    /// `tcpi_snd_ssthresh`, segments; 2147483647 while unlimited.
    SndSsthresh,
    /// `tcpi_unacked`: segments sent and not acknowledged cumulatively.
    Unacked,
    /// `tcpi_sacked`: segments acknowledged selectively.
    Sacked,
    /// `tcpi_lost`: segments taken for lost.
    Lost,
    /// `tcpi_retrans`: segments retransmitted and not yet acknowledged.
    Retrans,
    /// `tcpi_total_retrans`: retransmissions so far.
    TotalRetrans,
    /// `tcpi_rto`, microseconds.
    Rto,
    /// `tcpi_rtt`: smoothed, microseconds.
    Rtt,
    /// `tcpi_snd_mss`, bytes.
    SndMss,
    /// `tcpi_options`: bits of [`CONSTANTS`], `TCPI_OPT_TIMESTAMPS` ...
    Options,
    /// `tcpi_delivered`: segments that the peer has acknowledged in one way or the other, the SYN
    /// among them.
    Delivered,
    /// `tcpi_delivered_ce`: marked packets that the peer has reported by Accurate ECN.
    DeliveredCe,
    /// `tcpi_delivered_ce_bytes`: data with CE that the peer has reported by AccECN options.
    DeliveredCeBytes,
    /// `tcpi_delivered_e0_bytes`: the same of ECT(0).
    DeliveredE0Bytes,
    /// `tcpi_delivered_e1_bytes`: the same of ECT(1).
    DeliveredE1Bytes,
    /// `tcpi_reordering`: segments that one may be late and not lost.
    Reordering,
    /// `tcpi_reord_seen`: how often something came late.
    ReordSeen,
    /// `tcpi_backoff`: doublings of the timeout.
    Backoff,
    /// `tcpi_probes`: window probes without an answer.
    Probes,
    /// `tcpi_advmss`: the segment size that the host offers, bytes.
    Advmss,
    /// `tcpi_min_rtt`, microseconds.
    MinRtt,
    /// `tcpi_last_data_recv`: milliseconds since data came.
    LastDataRecv,
    /// `tcpi_rcv_mss`: size of the segments that come, bytes.
    RcvMss,
    /// `tcpi_busy_time`: microseconds with something to send or unacknowledged.
    BusyTime,
    /// `tcpi_rwnd_limited`: of these, those that the peer's window took.
    RwndLimited,
    /// `tcpi_sndbuf_limited`: those that the send buffer took.
    SndbufLimited,
    /// `tcpi_bytes_received`: data received in order.
    BytesReceived,
    /// `tcpi_snd_wscale`: the peer's window scale.
    SndWscale,
    /// `tcpi_pacing_rate`, bytes per second.
    PacingRate,
    /// `tcpi_delivery_rate`, bytes per second.
    DeliveryRate,
    /// `SK_MEMINFO_RCVBUF`: memory that the receive buffer may take, bytes.
    MemoryOfReceiver,
}

impl TcpInfoField {
    /// Every quantity with its name.
    pub const ALL: [(&'static str, Self); 34] = [
        ("tcpi_state", Self::State),
        ("tcpi_ca_state", Self::CaState),
        ("tcpi_snd_cwnd", Self::SndCwnd),
        ("tcpi_snd_ssthresh", Self::SndSsthresh),
        ("tcpi_unacked", Self::Unacked),
        ("tcpi_sacked", Self::Sacked),
        ("tcpi_lost", Self::Lost),
        ("tcpi_retrans", Self::Retrans),
        ("tcpi_total_retrans", Self::TotalRetrans),
        ("tcpi_rto", Self::Rto),
        ("tcpi_rtt", Self::Rtt),
        ("tcpi_snd_mss", Self::SndMss),
        ("tcpi_options", Self::Options),
        ("tcpi_delivered", Self::Delivered),
        ("tcpi_delivered_ce", Self::DeliveredCe),
        ("tcpi_delivered_ce_bytes", Self::DeliveredCeBytes),
        ("tcpi_delivered_e0_bytes", Self::DeliveredE0Bytes),
        ("tcpi_delivered_e1_bytes", Self::DeliveredE1Bytes),
        ("tcpi_reordering", Self::Reordering),
        ("tcpi_reord_seen", Self::ReordSeen),
        ("tcpi_backoff", Self::Backoff),
        ("tcpi_probes", Self::Probes),
        ("tcpi_advmss", Self::Advmss),
        ("tcpi_min_rtt", Self::MinRtt),
        ("tcpi_last_data_recv", Self::LastDataRecv),
        ("tcpi_rcv_mss", Self::RcvMss),
        ("tcpi_busy_time", Self::BusyTime),
        ("tcpi_rwnd_limited", Self::RwndLimited),
        ("tcpi_sndbuf_limited", Self::SndbufLimited),
        ("tcpi_bytes_received", Self::BytesReceived),
        ("tcpi_snd_wscale", Self::SndWscale),
        ("tcpi_pacing_rate", Self::PacingRate),
        ("tcpi_delivery_rate", Self::DeliveryRate),
        ("SK_MEMINFO_RCVBUF", Self::MemoryOfReceiver),
    ];
}

/// Constants of conditions: numbers as in Linux's `tcp.h`.
pub const CONSTANTS: [(&str, u64); 22] = [
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCPI_OPT_ECN_SEEN", 16),
    ("TCPI_OPT_SYN_DATA", 32),
];

/// Values of variables.
pub(crate) type Variables = BTreeMap<String, ExactFraction>;

impl Expression {
    /// The value, with quantities of the connection from `ask`.
    pub(crate) fn value(
        &self,
        variables: &Variables,
        ask: &mut dyn FnMut(TcpInfoField) -> Option<u64>,
    ) -> Result<ExactFraction, Unknown> {
        let mut of = |expression: &Self| expression.value(variables, ask);
        match self {
            Self::Number(n) => Ok(*n),
            Self::Name(name) => value_of_name(name, variables),
            Self::Info(info) => ask(*info).map(ExactFraction::from).ok_or(Unknown::Unanswered),
            Self::And(parts) => any_or_all(
                parts.iter().map(|part| of(part).map(|value| value != ExactFraction::ZERO)),
                false,
            ),
            Self::Or(parts) => any_or_all(
                parts.iter().map(|part| of(part).map(|value| value != ExactFraction::ZERO)),
                true,
            ),
            Self::Not(inner) => Ok((of(inner)? == ExactFraction::ZERO).into()),
            Self::Absolute(inner) => {
                let value = of(inner)?;
                match value.compare(ExactFraction::ZERO) {
                    Some(Ordering::Less) => {
                        ExactFraction::ZERO.subtract(value).ok_or(Unknown::NoNumber)
                    }
                    Some(_) => Ok(value),
                    None => Err(Unknown::NoNumber),
                }
            }
            Self::Compare(first, rest) => {
                // As in Python, each operand is compared with the one before it.
                let mut left = of(first);
                let pairs = rest.iter().map(|(comparator, operand)| {
                    let right = of(operand);
                    let before = std::mem::replace(&mut left, right.clone());
                    comparator.compare(before?, right?)
                });
                any_or_all(pairs, false)
            }
            Self::Binary(operator, left, right) => {
                operator.apply(of(left)?, of(right)?).ok_or(Unknown::NoNumber)
            }
        }
    }

    /// The quantities of the connection that it asks for, each once, in their order.
    pub(crate) fn tcp_info_fields(&self) -> Vec<TcpInfoField> {
        let mut all = Vec::new();
        self.collect(&mut all);
        let listed = TcpInfoField::ALL.iter().map(|(_, info)| *info);
        listed.filter(|info| all.contains(info)).collect()
    }

    fn collect(&self, into: &mut Vec<TcpInfoField>) {
        match self {
            Self::Number(_) | Self::Name(_) => {}
            Self::Info(info) => into.push(*info),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.collect(into)),
            Self::Not(inner) | Self::Absolute(inner) => inner.collect(into),
            Self::Compare(first, rest) => {
                first.collect(into);
                rest.iter().for_each(|(_, operand)| operand.collect(into));
            }
            Self::Binary(_, left, right) => {
                left.collect(into);
                right.collect(into);
            }
        }
    }
}

/// The value of parts of which one that is `decisive` decides all. An unanswered part leaves the
/// others to be judged; it matters if none of these decides.
fn any_or_all(
    parts: impl Iterator<Item = Result<bool, Unknown>>,
    decisive: bool,
) -> Result<ExactFraction, Unknown> {
    let mut unanswered = false;
    for part in parts {
        match part {
            Ok(value) if value == decisive => return Ok(decisive.into()),
            Ok(_) => {}
            Err(Unknown::Unanswered) => unanswered = true,
            Err(error) => return Err(error),
        }
    }
    if unanswered { Err(Unknown::Unanswered) } else { Ok((!decisive).into()) }
}

fn value_of_name(name: &str, variables: &Variables) -> Result<ExactFraction, Unknown> {
    let constant =
        CONSTANTS.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
    let value = variables.get(name).copied().or(constant);
    value.ok_or_else(|| Unknown::Name(name.to_owned()))
}

impl Operator {
    /// `None` if there is no such number.
    fn apply(self, left: ExactFraction, right: ExactFraction) -> Option<ExactFraction> {
        let bits = |combine: fn(i128, i128) -> i128| {
            ExactFraction::new(combine(left.whole()?, right.whole()?), 1)
        };
        match self {
            Self::BitOr => bits(|left, right| left | right),
            Self::BitAnd => bits(|left, right| left & right),
            Self::Add => left.add(right),
            Self::Subtract => left.subtract(right),
            Self::Multiply => left.multiply(right),
            Self::Divide => left.divide(right),
            Self::DivideDown => left.divide_down(right),
        }
    }
}

impl Comparator {
    fn compare(self, left: ExactFraction, right: ExactFraction) -> Result<bool, Unknown> {
        let order = left.compare(right).ok_or(Unknown::NoNumber)?;
        Ok(match self {
            Self::Equal => order == Ordering::Equal,
            Self::NotEqual => order != Ordering::Equal,
            Self::Less => order == Ordering::Less,
            Self::LessOrEqual => order != Ordering::Greater,
            Self::Greater => order == Ordering::Greater,
            Self::GreaterOrEqual => order != Ordering::Less,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(expression: &Expression) -> Result<ExactFraction, Unknown> {
        expression.value(&Variables::from([("cwnd".to_owned(), 58.into())]), &mut |info| {
            (info == TcpInfoField::SndCwnd).then_some(59)
        })
    }

    fn number(n: u64) -> Expression {
        Expression::Number(n.into())
    }

    #[test]
    fn a_chain_compares_neighbours() {
        use Comparator::{Less, LessOrEqual};
        let chain = |last| {
            let rest = vec![(LessOrEqual, number(2)), (Less, number(last))];
            value(&Expression::Compare(Box::new(number(1)), rest))
        };
        assert_eq!(chain(3), Ok(true.into()));
        // 2 < 2 is false although 1 <= 2 and 1 < 2 are true.
        assert_eq!(chain(2), Ok(false.into()));
    }

    #[test]
    fn names_are_variables_and_quantities_are_asked() {
        let sum = Expression::Binary(
            Operator::Add,
            Box::new(Expression::Name("cwnd".to_owned())),
            Box::new(number(1)),
        );
        // 58 + 1 is the window in the report.
        let equal = vec![(Comparator::Equal, Expression::Info(TcpInfoField::SndCwnd))];
        assert_eq!(value(&Expression::Compare(Box::new(sum), equal)), Ok(true.into()));
        assert_eq!(value(&Expression::Info(TcpInfoField::Lost)), Err(Unknown::Unanswered));
        let nobody = Expression::Name("nobody".to_owned());
        assert_eq!(value(&nobody), Err(Unknown::Name("nobody".to_owned())));
    }
}
