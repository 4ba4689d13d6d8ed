//! One direction of a link as people write it: `RATE,DELAY,QUEUE` and what may follow.

use cmdline::names;
use link::path::{QueueSize, parse_probability};
use link::recording::{PREFIX, RecordedDirection, RecordedLink};
use link::{DelaySteps, Discipline, LinkConfig, Reordering};
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;
use units::{Duration, Rate};

const FORM: &str = "RATE,DELAY,QUEUE[,DISCIPLINE][,loss=P][,jitter=TIME][,ordered-jitter=TIME][,delay-steps=TIME:DELAY/…][,aggregate=TIME][,from=TIME], like 20mbit,40ms,100p";
/// Rate of a link that follows a trace, until the trace is read.
const ANY_RATE: Rate = Rate::from_mbps(1);

/// One direction, the queue not yet measured by the round trip.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OneWay {
    rate: Rate,
    pub(super) recorded: Option<Arc<RecordedLink>>,
    /// Time of the recording at which the link begins.
    from: Duration,
    pub(super) delay: Duration,
    queue: QueueSize,
    discipline: Discipline,
    loss: f64,
    jitter: Option<Duration>,
    ordered_jitter: Duration,
    delay_steps: Option<DelaySteps>,
    aggregate: Duration,
}

impl OneWay {
    /// The link, on a path of this round trip.
    pub(super) fn link(&self, rtt: Duration) -> Result<LinkConfig, String> {
        let trace = self.recorded.as_ref().map(|recorded| recorded.trace());
        let mean = trace.map_or(self.rate, |trace| trace.mean_rate());
        let why = |error: link::LinkError| error.to_string();
        let limit = self.queue.limit(mean, rtt);
        let link = LinkConfig::new(self.rate, self.delay, limit).map_err(why)?;
        let link = link.with_discipline(self.discipline).map_err(why)?;
        let link = link.with_loss(self.loss).map_err(why)?;
        let link = match self.jitter {
            Some(jitter) => link.with_reordering(Reordering::Jitter(jitter)).map_err(why)?,
            None => link,
        };
        let link = link.with_ordered_jitter(self.ordered_jitter).with_aggregation(self.aggregate);
        let link = match &self.delay_steps {
            Some(steps) => link.with_delay_steps(steps.clone()),
            None => link,
        };
        Ok(match trace {
            Some(trace) => link.with_rate_trace(Arc::clone(trace)).beginning_at(self.from),
            None => link,
        })
    }

    /// Reads the link towards the command.
    pub(super) fn parse_downlink(text: &str) -> Result<Self, String> {
        Self::parse(text, RecordedDirection::Down)
    }

    /// Reads the link away from the command.
    pub(super) fn parse_uplink(text: &str) -> Result<Self, String> {
        Self::parse(text, RecordedDirection::Up)
    }

    /// Reads it; a recording is read from its file.
    fn parse(text: &str, direction: RecordedDirection) -> Result<Self, String> {
        let mut parts = text.split(',').map(str::trim);
        let mut next = |what| {
            let part = parts.next().filter(|part| !part.is_empty());
            part.ok_or_else(|| format!("{what} is missing: write {FORM}"))
        };
        let rate = next("the rate")?;
        let (rate, recorded) = match rate.strip_prefix(PREFIX) {
            Some(written) => {
                let recorded = RecordedLink::read(written, direction, &names::recording)?;
                (ANY_RATE, Some(Arc::new(recorded)))
            }
            None => (read("rate", rate)?, None),
        };
        let delay = read("delay", next("the delay")?)?;
        let queue = read("queue", next("the queue")?)?;
        let (discipline, loss, jitter) = (Discipline::default(), 0.0, None);
        let [ordered_jitter, aggregate, from] = [Duration::ZERO; 3];
        let plain = Self {
            rate,
            recorded,
            from,
            delay,
            queue,
            discipline,
            loss,
            jitter,
            ordered_jitter,
            delay_steps: None,
            aggregate,
        };
        let given: Vec<&str> = parts.collect();
        let way = given.iter().copied().try_fold(plain, option)?;
        refuse_twice(&given)?;
        if way.recorded.is_none() && !way.from.is_zero() {
            return Err(
                "from= is for a recorded rate: write trace=FILE, or leave it out".to_owned()
            );
        }
        // Refuses impossible links here; only products of bandwidth and delay are still open.
        way.link(way.delay * 2)?;
        Ok(way)
    }
}

/// Refuses an option that is given twice: one of both would be ignored.
fn refuse_twice(options: &[&str]) -> Result<(), String> {
    let key = |option: &str| match option.split_once('=') {
        Some((key, _)) => key.to_owned(),
        None => "the discipline".to_owned(),
    };
    for (nth, option) in options.iter().enumerate() {
        if options[..nth].iter().any(|other| key(other) == key(option)) {
            return Err(format!("{} is given twice: leave one out", key(option)));
        }
    }
    Ok(())
}

fn option(way: OneWay, part: &str) -> Result<OneWay, String> {
    if let Ok(discipline) = part.parse() {
        return Ok(OneWay { discipline, ..way });
    }
    match part.split_once('=') {
        Some(("loss", value)) => Ok(OneWay { loss: read_loss(value)?, ..way }),
        Some(("jitter", value)) => Ok(OneWay { jitter: Some(read("jitter", value)?), ..way }),
        Some(("ordered-jitter", value)) => {
            Ok(OneWay { ordered_jitter: read("ordered-jitter", value)?, ..way })
        }
        Some(("delay-steps", value)) => {
            Ok(OneWay { delay_steps: Some(read("delay-steps", value)?), ..way })
        }
        Some(("from", value)) => Ok(OneWay { from: read("from", value)?, ..way }),
        Some(("aggregate", value)) => Ok(OneWay { aggregate: read("aggregate", value)?, ..way }),
        _ => {
            let names = Discipline::all().map(|discipline| discipline.name()).join(", ");
            Err(format!("{part:?} is not known: write {FORM}; disciplines are {names}"))
        }
    }
}

fn read_loss(value: &str) -> Result<f64, String> {
    parse_probability(value).map_err(|error| error.to_string())
}

fn read<T: FromStr>(key: &str, value: &str) -> Result<T, String>
where
    T::Err: Display,
{
    value.parse().map_err(|error: T::Err| format!("{key}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use link::QueueLimit;

    fn link(text: &str, rtt_ms: u64) -> LinkConfig {
        OneWay::parse_downlink(text).unwrap().link(Duration::from_millis(rtt_ms)).unwrap()
    }

    #[test]
    fn reads_what_people_write() {
        let way = link("20mbit, 40ms, 100p, red, loss=1%, jitter=2ms, aggregate=5ms", 80);
        assert_eq!((way.rate(), way.delay()), (Rate::from_mbps(20), Duration::from_millis(40)));
        assert_eq!(way.queue(), QueueLimit::Packets(100));
        assert_eq!((way.discipline().name(), way.loss()), ("red", 0.01));
        assert_eq!(way.reordering(), Some(Reordering::Jitter(Duration::from_millis(2))));
        assert_eq!(way.aggregation(), Some(Duration::from_millis(5)));
        assert_eq!(link("20mbit,40ms,100p,aggregate=0ms", 80).aggregation(), None);
    }

    /// 20e6 x 0.05 / 8 = 125,000 bytes: the round trip is that of both directions.
    #[test]
    fn a_product_is_of_the_whole_round_trip() {
        assert_eq!(link("20mbit,40ms,1bdp", 50).queue(), QueueLimit::Bytes(125_000));
    }

    /// A drive has 45.83 and 4.58 Mbit/s on average. A product with 50 ms has 286,458 bytes down.
    #[test]
    fn each_direction_finds_its_own_column() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../link/data/drive.csv");
        let text = format!("trace={file},40ms,1bdp,from=12s");
        let rtt = Duration::from_millis(50);
        let down = OneWay::parse_downlink(&text).unwrap().link(rtt).unwrap();
        assert_eq!((down.rate().as_bps(), down.queue()), (45_833_333, QueueLimit::Bytes(286_458)));
        assert_eq!(down.trace_offset(), Duration::from_secs(12));
        let up = OneWay::parse_uplink(&text).unwrap().link(rtt).unwrap();
        assert_eq!(up.rate().as_bps(), 4_583_333);
    }

    #[test]
    fn errors_say_what_is_wrong_and_what_would_do() {
        for (text, hint) in [
            ("", "the rate is missing"),
            ("20", "rate:"),
            ("0mbit,1ms,1p", "20mbit"),
            ("20mbit,40ms", "like 20mbit,40ms,100p"),
            ("20mbit,40ms,0p", "at least 1"),
            ("20mbit,40ms,1p,loss=2", "below 1"),
            ("20mbit,40ms,1p,up=1mbit", "disciplines are droptail"),
            ("20mbit,40ms,100p,loss=1%,loss=2%", "loss is given twice"),
            ("20mbit,40ms,100p,red,jitter=1ms,codel", "the discipline is given twice"),
            ("20mbit,40ms,inf,pdrop", "give the queue a size"),
            ("trace=/no/such/file,40ms,1p", "/no/such/file"),
            ("20mbit,40ms,1p,from=3s", "for a recorded rate"),
        ] {
            let error = OneWay::parse_downlink(text).unwrap_err();
            assert!(error.contains(hint), "{text:?}: {error}");
        }
    }
}
