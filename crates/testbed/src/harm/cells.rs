//! The cells of the check: one table for simulation and kernel.

use crate::client::ClientTcp;
use crate::contender::Contender;
use link::path::PathSpec;
use race::{Alternation, Hosts, OtherLine, Race, Visits, WAKING_PROCESSING};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use tcp::Scheme;
use units::{Duration, Rate, parse_bytes};
use workload::{Http, LoaderConfig, Object, ObjectKind, Page, PageHost};

/// One cell a line: congestion control, answers, path, and further conditions. `10x50kB` are ten
/// answers over ten connections at once. `beside PATH` adds a visitor in the same /24 behind
/// another path, `after RATE` visits over the same path at another rate before. The times are those
/// of the cell's own path. `offers SIZE` is the receive window of the client, stock Linux
/// otherwise. `visits N` makes N visits instead of [`VISITS`].
///
/// The rates are 2 to 200 Mbit/s, the round trips 10 to 300 ms. The queues are 0.1 to 2
/// bandwidth-delay products (no less than four packets), the losses 0 to 2 %.
const TABLE: &str = "
cubic 10kB    20mbit,80ms,100p
cubic 30kB    20mbit,80ms,100p
cubic 200kB   20mbit,80ms,100p
cubic 2MB     20mbit,80ms,100p
cubic 200kB   20mbit,80ms,100p          offers 1MB
cubic 200kB   5mbit,40ms,10p
cubic 50kB    2mbit,100ms,1bdp
cubic 30kB    2mbit,300ms,0.5bdp
cubic 200kB   2mbit,40ms,20p
cubic 200kB   5mbit,150ms,0.25bdp
cubic 1MB     5mbit,80ms,2bdp
cubic 100kB   10mbit,20ms,1bdp
cubic 500kB   10mbit,100ms,0.1bdp
cubic 30kB    10mbit,200ms,0.5bdp
cubic 200kB   20mbit,80ms,0.1bdp
cubic 2MB     20mbit,80ms,0.25bdp
cubic 1MB     20mbit,300ms,2bdp
cubic 500kB   50mbit,30ms,0.5bdp
cubic 5MB     50mbit,60ms,0.1bdp
cubic 5MB     50mbit,150ms,1bdp
cubic 1MB     100mbit,10ms,1bdp
cubic 2MB     100mbit,50ms,0.25bdp
cubic 5MB     100mbit,200ms,0.5bdp
cubic 500kB   200mbit,10ms,0.1bdp
cubic 5MB     200mbit,20ms,0.5bdp
cubic 2MB     200mbit,100ms,0.1bdp
cubic 5MB     200mbit,300ms,1bdp
bbr   200kB   20mbit,80ms,100p
bbr   2MB     20mbit,80ms,100p
bbr   200kB   5mbit,40ms,10p
bbr   200kB   20mbit,80ms,0.1bdp
bbr   50kB    2mbit,100ms,1bdp
bbr   2MB     100mbit,50ms,0.25bdp
bbr   5MB     200mbit,20ms,0.5bdp

cubic 200kB   20mbit,80ms,100p,loss=0.1%
cubic 2MB     20mbit,80ms,100p,loss=0.1%
cubic 200kB   20mbit,80ms,100p,loss=0.2%
cubic 2MB     20mbit,80ms,100p,loss=0.2%
cubic 30kB    20mbit,80ms,100p,loss=0.5%
cubic 200kB   20mbit,80ms,100p,loss=0.5%
cubic 200kB   20mbit,80ms,100p,loss=0.5%  offers 1MB
cubic 500kB   20mbit,80ms,100p,loss=0.5%
cubic 2MB     20mbit,80ms,100p,loss=0.5%
cubic 200kB   20mbit,80ms,100p,loss=1%
cubic 1MB     20mbit,80ms,100p,loss=1%
cubic 200kB   20mbit,80ms,100p,loss=2%
cubic 500kB   20mbit,80ms,100p,loss=2%
cubic 2MB     20mbit,30ms,100p,loss=0.5%
cubic 500kB   20mbit,30ms,100p,loss=0.2%
cubic 50kB    2mbit,60ms,20p,loss=1%
cubic 200kB   5mbit,100ms,0.5bdp,loss=1%
cubic 500kB   50mbit,300ms,1bdp,loss=0.2%
cubic 5MB     100mbit,30ms,0.5bdp,loss=0.1%
cubic 10x30kB 20mbit,80ms,100p,loss=0.5%
bbr   200kB   20mbit,80ms,100p,loss=0.5%
bbr   2MB     20mbit,80ms,100p,loss=0.5%
bbr   200kB   20mbit,80ms,100p,loss=2%
bbr   2MB     20mbit,80ms,100p,loss=2%

cubic 2x100kB 20mbit,80ms,100p
cubic 6x50kB  20mbit,80ms,100p
cubic 20x20kB 20mbit,80ms,100p
cubic 50x10kB 20mbit,80ms,100p
cubic 6x30kB  5mbit,60ms,30p
cubic 50x10kB 2mbit,100ms,50p
cubic 50x30kB 100mbit,30ms,0.5bdp
bbr   10x50kB 20mbit,80ms,100p

cubic 30kB    mobile,50ms,200p
cubic 200kB   mobile,50ms,200p
cubic 2MB     mobile,50ms,200p
bbr   200kB   mobile,50ms,200p

cubic 200kB   2mbit,60ms,50p            beside 50mbit,60ms,100p
cubic 200kB   5mbit,60ms,50p            beside 50mbit,60ms,100p
cubic 200kB   50mbit,60ms,100p          beside 2mbit,60ms,50p
bbr   200kB   2mbit,60ms,50p            beside 50mbit,60ms,100p

cubic 200kB   2mbit,60ms,50p            after 20mbit
cubic 200kB   20mbit,60ms,50p           after 2mbit
cubic 1MB     10mbit,60ms,100p          after 100mbit
cubic 1MB     100mbit,60ms,100p         after 10mbit
bbr   200kB   2mbit,60ms,50p            after 20mbit
";

/// Visits of a client, of which all but the first count.
const VISITS: u32 = 6;
/// Visits of a client over one rate, until the path changes.
const VISITS_BEFORE_CHANGE: u32 = 3;
/// Every repeat meets another part of a mobile path.
const RECORDING_STEP: Duration = Duration::from_secs(17);

/// The congestion control of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HarmControl {
    /// CUBIC.
    Cubic,
    /// BBR.
    Bbr,
}

/// A load over a path, by stock Linux and with the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct HarmCell {
    control: HarmControl,
    /// Bytes of each answer.
    bytes: u64,
    /// One answer over each.
    connections: u32,
    path: PathSpec,
    other: Option<OtherLine>,
    client: ClientTcp,
    /// Visits of a client, including its first one.
    visits: u32,
}

/// All cells, in the order of how long they should take.
///
/// # Panics
/// If the table is wrong.
pub fn all() -> Vec<HarmCell> {
    let lines = TABLE.lines().filter(|line| !line.is_empty());
    let mut cells: Vec<HarmCell> =
        lines.map(|line| line.parse().unwrap_or_else(|why| panic!("{line}: {why}"))).collect();
    cells.sort_by_key(HarmCell::rough_duration);
    cells
}

impl HarmCell {
    /// Stock Linux and the agent, in this order.
    pub fn contenders(&self) -> [Contender; 2] {
        let names = match self.control {
            HarmControl::Cubic => ["linux", "hs-cubic"],
            HarmControl::Bbr => ["linux-bbr", "hs-bbr"],
        };
        names.map(|name| Contender::parse(name).expect("a contender"))
    }

    /// The congestion control of stock Linux.
    pub const fn control(&self) -> HarmControl {
        self.control
    }

    /// Answers of a visit, each over a connection of its own.
    pub const fn connections(&self) -> u32 {
        self.connections
    }

    /// True if repeats differ: packets are lost at random, or each meets another part of a
    /// recording.
    pub fn is_random(&self) -> bool {
        self.path.loss() > 0.0 || self.path.is_changing()
    }

    /// The client's TCP.
    pub const fn client(&self) -> ClientTcp {
        self.client
    }

    /// One repeat. Its seed decides which packets are lost, for both sides alike.
    pub fn race(&self, repeat: u32, contenders: &[Contender]) -> Race {
        Race {
            page: Arc::new(self.load_page()),
            path: self.path.beginning_at(RECORDING_STEP * u64::from(repeat)),
            loader: LoaderConfig { connections: Some(self.connections), ..LoaderConfig::default() },
            schemes: contenders.iter().map(|one| Scheme::clone(one.scheme())).collect(),
            client: Some(self.client.model()),
            hosts: Hosts::Together,
            processing: WAKING_PROCESSING,
            visits: self.visits(),
            background: 0,
            repeats: 1,
            seed: u64::from(repeat) + 1,
        }
    }

    fn load_page(&self) -> Page {
        let answer = |n| Object::plain(format!("answer {n}"), ObjectKind::Other, self.bytes);
        let host = PageHost::plain("server.example", Http::Http10);
        let answers = (0..self.connections).map(answer).collect();
        Page::new(self.to_string(), vec![host], answers).expect("a page of plain objects")
    }

    /// Visits of a client, its first one and those of another line included.
    pub(super) fn visits(&self) -> Visits {
        let of_line = |line| match line {
            OtherLine::Neighbour(_) => (2 * self.visits, Alternation { line, every: 1 }),
            OtherLine::Rate(_) => (self.visits, Alternation { line, every: VISITS_BEFORE_CHANGE }),
        };
        let (count, other) = self.other.map(of_line).unzip();
        // A connection's last packets arrive, and the agent learns of them, in two round trips.
        let idle = self.path.rtt() * 2 + Duration::from_millis(100);
        Visits { count: count.unwrap_or(self.visits), idle, site: 1, reconnects: true, other }
    }

    /// A rough time of a repeat, to order cells by: transmission, and a flight for each doubling.
    fn rough_duration(&self) -> Duration {
        let mut slowest = self.path.down();
        if let Some(OtherLine::Rate(rate)) = self.other {
            slowest = slowest.min(rate);
        }
        let bytes = self.bytes * u64::from(self.connections);
        let doublings = (bytes / 14_600 + 2).ilog2() + 3;
        let losses = 1 + (self.path.loss() * 400.0) as u64;
        let visit = slowest.transmit_time(bytes) + self.path.rtt() * u64::from(doublings) * losses;
        (visit + self.visits().idle) * u64::from(self.visits().count)
    }
}

impl FromStr for HarmCell {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace();
        let mut next = |what: &str| words.next().ok_or_else(|| format!("{what} is missing"));
        let control = match next("a congestion control")? {
            "cubic" => HarmControl::Cubic,
            "bbr" => HarmControl::Bbr,
            other => return Err(format!("{other:?} is neither cubic nor bbr")),
        };
        let (connections, bytes) = parse_load(next("a size")?)?;
        let path: PathSpec = parsed(next("a path")?)?;
        let (mut other, mut client, mut visits) = (None, ClientTcp::default(), VISITS);
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("{word} what?"))?;
            match word {
                "beside" => other = Some(OtherLine::Neighbour(parsed(value)?)),
                "after" => other = Some(OtherLine::Rate(parsed::<Rate>(value)?)),
                "offers" => client.window = Some(window(value)?),
                "visits" => visits = parsed(value)?,
                _ => {
                    let known = "beside, after, offers or visits";
                    return Err(format!("{word:?} is not known: use {known}"));
                }
            }
        }
        Ok(Self { control, bytes, connections, path, other, client, visits })
    }
}

/// `50kB`, or `10x50kB`: connections and bytes.
fn parse_load(text: &str) -> Result<(u32, u64), String> {
    let (connections, bytes) = text.split_once('x').unwrap_or(("1", text));
    Ok((parsed(connections)?, parse_bytes(bytes).map_err(|error| error.to_string())?))
}

fn window(text: &str) -> Result<u32, String> {
    let bytes = parse_bytes(text).map_err(|error| error.to_string())?;
    u32::try_from(bytes).map_err(|error| error.to_string())
}

fn parsed<T: FromStr<Err: fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| format!("{text}: {error}"))
}

impl fmt::Display for HarmCell {
    /// Writes the cell in the syntax that it is parsed from.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let control = match self.control {
            HarmControl::Cubic => "cubic",
            HarmControl::Bbr => "bbr",
        };
        write!(f, "{control} ")?;
        if self.connections > 1 {
            write!(f, "{}x", self.connections)?;
        }
        write!(f, "{} {}", in_bytes(self.bytes), self.path)?;
        match self.other {
            Some(OtherLine::Neighbour(path)) => write!(f, " beside {path}")?,
            Some(OtherLine::Rate(rate)) => write!(f, " after {rate}")?,
            None => {}
        }
        if let Some(window) = self.client.window {
            write!(f, " offers {}", in_bytes(u64::from(window)))?;
        }
        match self.visits {
            VISITS => Ok(()),
            visits => write!(f, " visits {visits}"),
        }
    }
}

/// Formats bytes as they are parsed.
fn in_bytes(bytes: u64) -> String {
    match bytes {
        n if n.is_multiple_of(1_000_000) => format!("{}MB", n / 1_000_000),
        n if n.is_multiple_of(1000) => format!("{}kB", n / 1000),
        n => format!("{n}B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The table meets the check's specification: 60 cells or more, and each of the conditions.
    #[test]
    fn the_table_covers_the_conditions() {
        let cells = all();
        assert!(cells.len() >= 60, "{}", cells.len());
        let names: BTreeSet<String> = cells.iter().map(HarmCell::to_string).collect();
        assert_eq!(names.len(), cells.len(), "two cells are the same");
        let (rates, trips): (Vec<_>, Vec<_>) =
            cells.iter().map(|cell| (cell.path.down(), cell.path.rtt())).unzip();
        assert_eq!(rates.iter().min(), Some(&Rate::from_mbps(2)));
        assert!(rates.contains(&Rate::from_mbps(200)));
        assert_eq!(trips.iter().min(), Some(&Duration::from_millis(10)));
        assert_eq!(trips.iter().max(), Some(&Duration::from_millis(300)));
        let losses: BTreeSet<u64> =
            cells.iter().map(|cell| (cell.path.loss() * 1000.0).round() as u64).collect();
        assert_eq!(losses.into_iter().collect::<Vec<_>>(), [0, 1, 2, 5, 10, 20]);
        for (what, least) in [
            ("bbr", 12),
            ("mobile", 3),
            ("beside", 3),
            ("after", 4),
            ("50x", 3),
            ("0.1bdp", 5),
            ("2bdp", 2),
        ] {
            let having = names.iter().filter(|name| name.contains(what)).count();
            assert!(having >= least, "{what}: {having}");
        }
    }

    #[test]
    fn a_cell_is_named_as_it_is_written() {
        for text in [
            "cubic 2MB 20mbit,80ms,100p,loss=0.005",
            "bbr 10x50kB mobile,50ms,200p",
            "cubic 200kB 2mbit,60ms,50p beside 50mbit,60ms,100p visits 1000",
            "cubic 200kB 2mbit,60ms,50p beside 50mbit,60ms,100p",
            "cubic 1500B 2mbit,60ms,50p after 20mbit offers 1MB",
        ] {
            let cell: HarmCell = text.parse().expect("a cell");
            assert_eq!(cell.to_string(), text);
        }
        for (text, why) in [
            ("reno 2MB 20mbit,80ms,100p", "neither"),
            ("cubic 2MB", "missing"),
            ("cubic 2MB 20mbit,80ms,100p beside", "what?"),
            ("cubic 2MB 20mbit,80ms,100p near 1mbit", "not known"),
        ] {
            let error = text.parse::<HarmCell>().expect_err("no cell");
            assert!(error.contains(why), "{error}");
        }
    }

    /// Each visit of ten answers opens ten connections, and the first visits of a pair are the
    /// neighbour's.
    #[test]
    fn races_have_the_visits_of_their_cells() {
        let race = |text: &str| {
            let cell = text.parse::<HarmCell>().expect("a cell");
            cell.race(2, &cell.contenders())
        };
        let many = race("cubic 10x50kB 20mbit,80ms,100p");
        assert_eq!((many.loader.connections, many.page.objects().len()), (Some(10), 10));
        assert_eq!((many.seed, many.visits.count, many.visits.reconnects), (3, VISITS, true));
        let pair = race("cubic 200kB 2mbit,60ms,50p beside 50mbit,60ms,100p");
        assert_eq!((pair.visits.count, pair.visits.client(0), pair.visits.client(1)), (12, 1, 0));
        let mobile = "bbr 30kB mobile,50ms,200p".parse::<HarmCell>().expect("a cell");
        let path = |repeat| mobile.race(repeat, &mobile.contenders()).path;
        assert_ne!(path(0), path(1));
    }
}
