//! Reading `RATE|trace=FILE,RTT,QUEUE[,DISCIPLINE]` and the keys `up=`, `loss=`,
//! `ordered-jitter=`, `rtt-steps=` and `from=`.

use super::{PathError, PathSpec, QueueSize, TraceStart, mobile};
use crate::Discipline;
use crate::recording::{PREFIX, RecordedDirection, RecordedLink};
use std::fmt::Display;
use std::str::FromStr;
use units::{Duration, parse_bytes};

const FORM: &str = "RATE,RTT,QUEUE[,DISCIPLINE][,up=RATE][,loss=P][,ordered-jitter=TIME][,rtt-steps=TIME:RTT/…][,from=TIME], like 20mbit,80ms,100p or \
                    20mbit,80ms,100p,fq_codel; RATE may be trace=FILE";
const QUEUE_FORM: &str = "expected packets, bytes, bandwidth-delay products, a time of sending or no bound, like 100p, 64kB, 0.5bdp, \
     50ms or inf";

/// Gives the text of a file, or says why it cannot.
type Files<'a> = &'a dyn Fn(&str) -> Result<String, String>;

impl FromStr for PathSpec {
    type Err = PathError;

    /// Reads a path of rates that no file has. Without the name of a discipline queues are
    /// drop-tail. Without `up=` the rate is the same both ways. Without `loss=` nothing is lost at
    /// random; `loss` is a probability (`0.01`) or a percentage (`1%`).
    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::read(text, &|_| Err("no recorded rate can be used here: write a rate".to_owned()))
    }
}

impl PathSpec {
    /// Reads a path whose rates may be recorded (`trace=FILE`). `files` gives the text of a file,
    /// or says why it cannot.
    ///
    /// # Errors
    /// If a part cannot be read or cannot be, or if a recording cannot be used.
    pub fn read(
        text: &str,
        files: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, PathError> {
        let mut parts = text.split(',').map(str::trim);
        let mut next = |key| {
            let part = parts.next().filter(|p| !p.is_empty());
            part.ok_or_else(|| PathError::of(key, format!("is missing; a path is {FORM}")))
        };
        let rate = next("rate")?;
        let rtt = read::<Duration>("rtt", next("rtt")?)?;
        let queue = next("queue")?.parse()?;
        let path = match (rate, rate.strip_prefix(PREFIX)) {
            (_, Some(written)) => {
                let down = RecordedLink::read(written, RecordedDirection::Down, files);
                Self::recorded(down.map_err(|why| PathError::of("rate", why))?, rtt, queue)?
            }
            (mobile::NAME, None) => Self::mobile(rtt, queue)?,
            (rate, None) => Self::new(read("rate", rate)?, rtt, queue)?,
        };
        let parts: Vec<&str> = parts.collect();
        refuse_twice(&parts)?;
        let path = parts.into_iter().try_fold(path, |path, part| path.with_option(part, files))?;
        if !path.is_changing() && path.trace_start() != TraceStart::Anywhere {
            return Err(PathError::of(
                "from",
                "is for a recorded rate: write trace=FILE, or leave it out",
            ));
        }
        Ok(path)
    }

    fn with_option(self, part: &str, files: Files<'_>) -> Result<Self, PathError> {
        if let Ok(discipline) = part.parse::<Discipline>() {
            return self.with_discipline(discipline);
        }
        match part.split_once('=').unwrap_or((part, "")) {
            ("up", value) => match value.strip_prefix(PREFIX) {
                Some(written) => {
                    let up = RecordedLink::read(written, RecordedDirection::Up, files);
                    self.with_recorded_up(up.map_err(|why| PathError::of("up", why))?)
                }
                None => self.with_up(read("up", value)?),
            },
            ("loss", value) => self.with_loss(parse_probability(value)?),
            ("ordered-jitter", value) => {
                Ok(self.with_ordered_jitter(read("ordered-jitter", value)?))
            }
            ("rtt-steps", value) => Ok(self.with_rtt_steps(read("rtt-steps", value)?)),
            ("from", value) => Ok(self.starting(TraceStart::Load(read("from", value)?))),
            _ => Err(unknown(part)),
        }
    }
}

fn refuse_twice(parts: &[&str]) -> Result<(), PathError> {
    let key = |part: &str| match part.parse::<Discipline>() {
        Ok(_) => "a discipline".to_owned(),
        Err(_) => part.split('=').next().unwrap_or_default().to_owned(),
    };
    for (nth, part) in parts.iter().enumerate() {
        if parts[..nth].iter().any(|other| key(other) == key(part)) {
            return Err(PathError::of("path", format!("{} is given twice", key(part))));
        }
    }
    Ok(())
}

fn unknown(part: &str) -> PathError {
    let names = Discipline::all().map(|discipline| discipline.name()).join(", ");
    let why = format!("{part:?} is not known; a path is {FORM}; disciplines are {names}");
    PathError::of("path", why)
}

fn read<T: FromStr>(key: &'static str, value: &str) -> Result<T, PathError>
where
    T::Err: Display,
{
    value.parse().map_err(|error: T::Err| PathError::of(key, error))
}

/// Reads a probability (`0.01`) or a percentage (`1%`).
///
/// # Errors
/// If it is neither.
pub fn parse_probability(text: &str) -> Result<f64, PathError> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let wrong = || PathError::of("loss", format!("{text:?} is not a probability, like 0.01 or 1%"));
    // Digits and a point only: the standard parser also takes `inf` and `nan`.
    let plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let value: f64 = number.parse().ok().filter(|_| plain).ok_or_else(wrong)?;
    Ok(value / unit)
}

impl FromStr for QueueSize {
    type Err = PathError;

    /// Reads `100p`, `64kB`, `0.5bdp`, `50ms` or `inf`.
    fn from_str(text: &str) -> Result<Self, PathError> {
        let wrong = || PathError::of("queue", format!("cannot read {text:?}: {QUEUE_FORM}"));
        if text == "inf" {
            return Ok(Self::Unlimited);
        }
        if let Some(number) = text.strip_suffix("bdp") {
            return thousandths(number).map(Self::MilliBdp).ok_or_else(wrong);
        }
        if let Some(number) = text.strip_suffix('p') {
            let digits = number.bytes().all(|b| b.is_ascii_digit());
            return number.parse().ok().filter(|_| digits).map(Self::Packets).ok_or_else(wrong);
        }
        let bytes = parse_bytes(text).map(Self::Bytes);
        bytes.or_else(|_| text.parse().map(Self::Time)).map_err(|_| wrong())
    }
}

/// A decimal number in thousandths; finer digits are cut.
fn thousandths(number: &str) -> Option<u64> {
    // A number of seconds is read exactly the same way as a duration, and converted to
    // milliseconds.
    let seconds: Duration = format!("{number}s").parse().ok()?;
    Some(seconds.as_millis())
}
