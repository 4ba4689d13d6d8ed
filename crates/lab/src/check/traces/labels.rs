//! Labels of retransmissions as TCPRS writes them: tab-separated, `#fields` names the columns.

use super::found::{FoundRetransmission, in_order};
use capture::TcpEnd;
use trace::RetransmissionKind;
use units::{Duration, Instant};

/// One labelled retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) at: Instant,
    /// One unit of the last decimal that the label's time has, and no less than a microsecond:
    /// times of labels pass through floating-point numbers.
    pub(super) resolution: Duration,
    /// Both ends of its connection, the lower one first, if the label names them.
    pub(super) ends: Option<[TcpEnd; 2]>,
    /// Its first sequence number, if the label has one.
    pub(super) seq: Option<u32>,
    /// Cause of the retransmission, as a number; 0 if the label has none.
    pub(super) rtype: u32,
    pub(super) class: LabelClass,
}

impl Label {
    /// Difference between the times of a retransmission and of the label, if the label can mean it.
    /// That is a retransmission of the same connection with the label's sequence number, whose time
    /// differs by at most the label's resolution.
    pub(super) fn distance(&self, found: &FoundRetransmission) -> Option<Duration> {
        let (a, b) = (found.again.at, self.at);
        let distance = a.saturating_since(b).max(b.saturating_since(a));
        let is_meant = distance <= self.resolution
            && self.ends.is_none_or(|ends| ends == found.ends)
            && self.seq.is_none_or(|seq| found.covers(seq));
        is_meant.then_some(distance)
    }
}

/// Content of a log.
#[derive(Debug, Default)]
pub(super) struct LabelLog {
    pub(super) labels: Vec<Label>,
    /// Labels that cannot be read, and are left out.
    pub(super) left_out: u64,
    /// Faults of labels: the line's number from 1, and the fault.
    pub(super) notes: Vec<(usize, String)>,
}

/// Class of a label: the cause of the retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelClass {
    /// Caused by duplicate ACKs, SACK or FACK, early or not.
    Fast,
    /// Caused by the timer.
    Timeout,
    /// Part of a recovery in progress, started by ACKs or by the timer.
    Started,
    /// It does not say.
    Unknown,
}

impl LabelClass {
    /// Types 1, 14 and 15 are timeouts, 2 to 4, 9 to 13 and 16 fast retransmits of some kind, 5 is
    /// a recovery in progress.
    const fn of(rtype: u32) -> Self {
        match rtype {
            1 | 14 | 15 => Self::Timeout,
            2..=4 | 9..=13 | 16 => Self::Fast,
            5 => Self::Started,
            _ => Self::Unknown,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Timeout => "timeout",
            Self::Started => "recovery begun",
            Self::Unknown => "unknown",
        }
    }

    /// Whether the label may mean this kind. Retransmissions after a timeout are part of the
    /// recovery that it started.
    pub(super) const fn agrees_with(self, kind: RetransmissionKind) -> bool {
        use RetransmissionKind::{Fast, Recovery, SlowStart, Timeout};
        match self {
            Self::Fast => matches!(kind, Fast),
            Self::Timeout => matches!(kind, Timeout),
            Self::Started => matches!(kind, Recovery | SlowStart),
            Self::Unknown => true,
        }
    }
}

/// The value of a column that a label leaves empty.
const UNSET: &str = "-";

/// Reads a log. A line that holds no label is left out, and named.
pub(super) fn read(text: &str) -> Result<LabelLog, String> {
    let mut columns = None;
    let mut log = LabelLog::default();
    for (number, line) in text.lines().enumerate() {
        if let Some(fields) = line.strip_prefix("#fields\t") {
            columns = Some(LabelColumns::of(fields)?);
        } else if !line.starts_with('#') && !line.is_empty() {
            let columns = columns.as_ref().ok_or("no #fields line before the first label")?;
            match columns.label(line) {
                Ok(label) => {
                    if label.rtype == 0 && columns.has_no_type(line) {
                        let what = "rtype is not set; the label counts as unknown";
                        log.notes.push((number + 1, what.to_owned()));
                    }
                    log.labels.push(label);
                }
                Err(why) => {
                    log.left_out += 1;
                    log.notes.push((number + 1, format!("{why}; the label is left out")));
                }
            }
        }
    }
    Ok(log)
}

/// Indices of the columns.
struct LabelColumns {
    at: usize,
    seq: usize,
    rtype: usize,
    /// Address and port of one end, then of the other.
    ends: Option<[usize; 4]>,
}

impl LabelColumns {
    fn of(fields: &str) -> Result<Self, String> {
        let position = |name: &str| fields.split('\t').position(|field| field == name);
        let find = |name: &str| position(name).ok_or_else(|| format!("no column {name:?}"));
        let ends = ["id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p"].map(position);
        let ends = match ends {
            [Some(a), Some(b), Some(c), Some(d)] => Some([a, b, c, d]),
            _ => None,
        };
        Ok(Self { at: find("ts")?, seq: find("seq")?, rtype: find("rtype")?, ends })
    }

    /// The label leaves its type empty.
    fn has_no_type(&self, line: &str) -> bool {
        line.split('\t').nth(self.rtype) == Some(UNSET)
    }

    fn label(&self, line: &str) -> Result<Label, String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let field = |column: usize| {
            fields.get(column).copied().ok_or_else(|| format!("has only {} columns", fields.len()))
        };
        let wrong = |name: &str, text: &str| format!("{name} cannot be {text:?}");
        let number = |name: &str, column| {
            let text: &str = field(column)?;
            let read = || text.parse::<u32>().map_err(|_| wrong(name, text));
            (text != UNSET).then(read).transpose()
        };
        let at = field(self.at)?;
        let (at, resolution) = parse_instant(at).ok_or_else(|| wrong("ts", at))?;
        let end = |ip, port| {
            let (ip, port): (&str, &str) = (field(ip)?, field(port)?);
            let read = ip.parse().ok().zip(port.parse().ok());
            let (ip, port) = read.ok_or_else(|| wrong("an end", &format!("{ip} {port}")))?;
            Ok::<_, String>(TcpEnd { ip, port })
        };
        let ends = self.ends.map(|[a, b, c, d]| Ok::<_, String>(in_order(end(a, b)?, end(c, d)?)));
        let rtype = number("rtype", self.rtype)?.unwrap_or(0);
        Ok(Label {
            at,
            resolution,
            ends: ends.transpose()?,
            seq: number("seq", self.seq)?,
            rtype,
            class: LabelClass::of(rtype),
        })
    }
}

/// Seconds since 1970 with at most nine decimals, exactly, and their resolution.
fn parse_instant(text: &str) -> Option<(Instant, Duration)> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = fraction.get(..fraction.len().min(9))?;
    let unit = 10_u64.pow(9 - digits.len() as u32);
    let nanos = digits.parse::<u64>().ok()?.checked_mul(unit)?;
    let seconds = seconds.parse::<u32>().ok()?;
    let at = Instant::ZERO + Duration::from_secs(seconds.into()) + Duration::from_nanos(nanos);
    Some((at, Duration::from_nanos(unit).max(FINEST)))
}

/// Times of labels are no better.
const FINEST: Duration = Duration::from_micros(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_by_the_names_of_its_columns() {
        let log = "#separator \\x09\n#fields\tts\tseq\trtype\n1285865425.600215\t861460234\t13\n\
                   1285865426.93\t-\t15\n#close\n";
        let labels = read(log).unwrap().labels;
        assert_eq!(labels.len(), 2);
        assert_eq!(labels[0].at, Instant::from_nanos(1_285_865_425_600_215_000));
        assert_eq!((labels[0].class, labels[1].class), (LabelClass::Fast, LabelClass::Timeout));
        assert_eq!((labels[0].seq, labels[1].seq), (Some(861_460_234), None));
        assert_eq!(labels[1].at, Instant::from_nanos(1_285_865_426_930_000_000));
        let resolutions = [Duration::from_micros(1), Duration::from_millis(10)];
        assert_eq!([labels[0].resolution, labels[1].resolution], resolutions);
        assert!(read("1.0\t2\t3\n").is_err());
        assert!(read("#fields\tts\tseq\n").unwrap_err().contains("rtype"));
    }

    /// The second of four labels has no type, and the third and the fourth cannot be read.
    #[test]
    fn a_label_that_cannot_be_read_is_left_out_and_named() {
        let log = "#fields\tts\tseq\trtype\n1.5\t7\t1\n2.5\t7\t-\n3.5\n4.5\t7\tx\n5.5\t7\t2\n";
        let LabelLog { labels, left_out, notes } = read(log).unwrap();
        use LabelClass::{Fast, Timeout, Unknown};
        let classes: Vec<LabelClass> = labels.iter().map(|label| label.class).collect();
        assert_eq!(classes, [Timeout, Unknown, Fast]);
        let lines: Vec<usize> = notes.iter().map(|(line, _)| *line).collect();
        assert_eq!((left_out, lines), (2, vec![3, 4, 5]));
    }

    #[test]
    fn a_connection_is_the_same_from_both_ends() {
        let log = |a, b| {
            format!(
                "#fields\tts\tseq\trtype\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\n1.0\t1\t1\t{a}\t{b}\n"
            )
        };
        let ends = |a, b| read(&log(a, b)).unwrap().labels[0].ends;
        let (client, server) = ("10.0.0.1\t9000", "10.0.0.2\t80");
        assert!(ends(client, server).is_some());
        assert_eq!(ends(client, server), ends(server, client));
        assert_ne!(ends(client, server), ends(client, "10.0.0.2\t81"));
    }
}
