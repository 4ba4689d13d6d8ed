//! The use of the transfers' time, summed by client prefix, size and time of day.
//!
//! A transfer's own shares come from the engine ([`trace::TimeShares`]) and add up to its duration.
//! This module only adds them up ([`TimeSums`]), so the sums add up, too.

mod groups;
mod sums;

pub use groups::{SIZE_CLASSES, SizeClass};
pub use sums::{FullLinks, TimeCause, TimeSums, TlsSums, changeable, is_changeable};

use groups::{Prefixes, hour};
use memory::{PathKey, Scope};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use trace::TransferReport;

/// Sums of a group of transfers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimeRow {
    /// The group: a prefix like `192.0.2.0/24`, a size class, or an hour of the day in UTC like
    /// `07`.
    pub group: String,
    /// Its sums.
    #[serde(flatten, serialize_with = "sums::serialize_for_reader")]
    pub sums: TimeSums,
}

/// The use of all transfers' time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimeFindings {
    /// All transfers.
    #[serde(serialize_with = "sums::serialize_for_reader")]
    pub all: TimeSums,
    /// Rows by the client's network, /24 or /48, the one with the most time first.
    pub by_prefix: Vec<TimeRow>,
    /// Transfers of networks that are not listed, because there were too many.
    #[serde(serialize_with = "sums::serialize_for_reader")]
    pub other_prefixes: TimeSums,
    /// Rows by the size of the response, in the order of [`SIZE_CLASSES`].
    pub by_size: Vec<TimeRow>,
    /// Rows by the hour in which transfers began, without empty hours.
    pub by_hour: Vec<TimeRow>,
}

/// Adds up transfers.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct TimeCounters {
    all: TimeSums,
    by_size: [TimeSums; SIZE_CLASSES.len()],
    by_hour: [TimeSums; 24],
    prefixes: Prefixes,
}

impl TimeCounters {
    /// Adds a finished transfer to `client`.
    pub(crate) fn add(&mut self, client: IpAddr, report: &TransferReport) {
        self.all.add(report);
        self.by_size[SizeClass::of(report.bytes) as usize].add(report);
        self.by_hour[hour(report.began)].add(report);
        self.prefixes.of(PathKey::new(client, Scope::Network)).add(report);
    }

    /// Adds other transfers.
    pub(crate) fn add_all(&mut self, other: Self) {
        let merge_each = |sums: &mut [TimeSums], more: &[TimeSums]| {
            sums.iter_mut().zip(more).for_each(|(sums, more)| sums.merge(more));
        };
        self.all.merge(&other.all);
        merge_each(&mut self.by_size, &other.by_size);
        merge_each(&mut self.by_hour, &other.by_hour);
        self.prefixes.add_all(other.prefixes);
    }

    /// Returns the findings of the transfers so far: of all, by network, by size and by hour.
    pub(crate) fn findings(self) -> TimeFindings {
        let row = |group: String, sums: TimeSums| TimeRow { group, sums };
        let sizes = SIZE_CLASSES.iter().zip(self.by_size);
        let hours = self.by_hour.into_iter().enumerate().filter(|(_, sums)| sums.transfers > 0);
        let (listed, other_prefixes) = self.prefixes.finish();
        TimeFindings {
            all: self.all,
            by_prefix: listed.into_iter().map(|(key, sums)| row(key.to_string(), sums)).collect(),
            other_prefixes,
            by_size: sizes.map(|(class, sums)| row(class.name().to_owned(), sums)).collect(),
            by_hour: hours.map(|(hour, sums)| row(format!("{hour:02}"), sums)).collect(),
        }
    }
}
