//! Labels of retransmissions as TCPRS writes them: tab-separated, `#fields` names the columns.

use trace::RetransmissionKind;
use units::{Duration, Instant};

/// One labelled retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) at: Instant,
    pub(super) seq: u32,
    /// Why the sender sent it, as a number.
    pub(super) rtype: u32,
    pub(super) class: LabelClass,
}

/// What a label says of why the sender sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelClass {
    /// By duplicate ACKs, SACK or FACK, early or not.
    Fast,
    /// By the timer.
    Timeout,
    /// Part of a recovery already begun, by ACKs or by the timer.
    Begun,
    /// It does not say.
    Unknown,
}

impl LabelClass {
    /// Types 1, 14 and 15 are timeouts, 2 to 4, 9 to 13 and 16 fast retransmits of some kind, 5 is a recovery
    /// already begun.
    const fn of(rtype: u32) -> Self {
        match rtype {
            1 | 14 | 15 => Self::Timeout,
            2..=4 | 9..=13 | 16 => Self::Fast,
            5 => Self::Begun,
            _ => Self::Unknown,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Timeout => "timeout",
            Self::Begun => "recovery begun",
            Self::Unknown => "unknown",
        }
    }

    /// The kind is one that the label may mean. What follows a timeout belongs to the recovery that it began.
    pub(super) const fn agrees_with(self, kind: RetransmissionKind) -> bool {
        use RetransmissionKind::{Fast, Recovery, SlowStart, Timeout};
        match self {
            Self::Fast => matches!(kind, Fast),
            Self::Timeout => matches!(kind, Timeout),
            Self::Begun => matches!(kind, Recovery | SlowStart),
            Self::Unknown => true,
        }
    }
}

/// Reads a log.
pub(super) fn read(text: &str) -> Result<Vec<Label>, String> {
    let mut columns = None;
    let mut labels = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(fields) = line.strip_prefix("#fields\t") {
            columns = Some(Columns::of(fields)?);
        } else if !line.starts_with('#') && !line.is_empty() {
            let columns = columns.as_ref().ok_or("no #fields line before the first label")?;
            labels
                .push(columns.label(line).ok_or_else(|| format!("line {}: no label", number + 1))?);
        }
    }
    Ok(labels)
}

/// Where the columns are.
struct Columns {
    at: usize,
    seq: usize,
    rtype: usize,
}

impl Columns {
    fn of(fields: &str) -> Result<Self, String> {
        let find = |name: &str| {
            let found = fields.split('\t').position(|field| field == name);
            found.ok_or_else(|| format!("no column {name:?}"))
        };
        Ok(Self { at: find("ts")?, seq: find("seq")?, rtype: find("rtype")? })
    }

    fn label(&self, line: &str) -> Option<Label> {
        let fields: Vec<&str> = line.split('\t').collect();
        let rtype = fields.get(self.rtype)?.parse().ok()?;
        Some(Label {
            at: instant(fields.get(self.at)?)?,
            seq: fields.get(self.seq)?.parse().ok()?,
            rtype,
            class: LabelClass::of(rtype),
        })
    }
}

/// Seconds since 1970 with at most nine decimals, exactly.
fn instant(text: &str) -> Option<Instant> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = fraction.get(..fraction.len().min(9))?;
    let nanos = digits.parse::<u64>().ok()? * 10_u64.pow(9 - digits.len() as u32);
    Some(Instant::ZERO + Duration::from_secs(seconds.parse().ok()?) + Duration::from_nanos(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_by_the_names_of_its_columns() {
        let log = "#separator \\x09\n#fields\tts\tseq\trtype\n1285865425.600215\t861460234\t13\n\
                   1285865426.93\t7\t15\n#close\n";
        let labels = read(log).unwrap();
        assert_eq!(labels.len(), 2);
        assert_eq!(labels[0].at, Instant::from_nanos(1_285_865_425_600_215_000));
        assert_eq!((labels[0].class, labels[1].class), (LabelClass::Fast, LabelClass::Timeout));
        assert_eq!(labels[1].at, Instant::from_nanos(1_285_865_426_930_000_000));
        assert!(read("1.0\t2\t3\n").is_err());
        assert!(read("#fields\tts\tseq\n").unwrap_err().contains("rtype"));
    }
}
