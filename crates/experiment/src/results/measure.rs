//! Measures of a plan's results: names as in the tables, units, definitions.

use report::Quantity;

/// A column of the tables that can be shown and plotted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Its name, as in the tables.
    pub name: &'static str,
    /// Name of the measure in a heading.
    pub label: &'static str,
    /// Its unit: seconds, bit/s, a share, a count, a ratio.
    pub quantity: Quantity,
    /// Its definition, in one sentence.
    pub help: &'static str,
    /// Whether it is a measure of links, which has no single workload.
    pub is_of_links: bool,
}

/// All measures, those of links first.
pub const MEASURES: [Measure; 14] = {
    use Quantity::{Count, Rate, Ratio, Share, Time};
    [
        of_links("end", "End of the run", Time, "When the run ended"),
        of_links(
            "utilisation",
            "Utilisation",
            Share,
            "Share of the measured interval in which the bottleneck transmitted",
        ),
        of_links("drops", "Drops", Count, "Packets dropped by queues"),
        of_links("marks", "Marks", Count, "Packets marked by queues"),
        of_links("losses", "Losses", Count, "Packets lost on wires"),
        measure("flows", "Transfers", Count, "Transfers that began in the measured interval"),
        measure(
            "unfinished",
            "Unfinished transfers",
            Count,
            "Transfers that did not reach their end",
        ),
        measure(
            "completion_mean",
            "Mean completion time",
            Time,
            "Mean time from a transfer's start to its last byte at the receiver",
        ),
        measure(
            "completion_median",
            "Median completion time",
            Time,
            "Median time from a transfer's start to its last byte at the receiver",
        ),
        measure(
            "completion_p95",
            "Completion time, 95th percentile",
            Time,
            "95th percentile of the time from a transfer's start to its last byte at the receiver",
        ),
        measure(
            "goodput",
            "Goodput",
            Rate,
            "Payload received in the measured interval, divided by its length",
        ),
        measure("fairness", "Fairness", Ratio, "Jain's index of the transfers' goodputs"),
        measure("retransmissions", "Retransmissions", Count, "Segments retransmitted"),
        measure("timeouts", "Timeouts", Count, "Expiries of retransmission timers"),
    ]
};

impl Measure {
    /// The measure of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        MEASURES.iter().find(|measure| measure.name == name)
    }
}

const fn measure(
    name: &'static str,
    label: &'static str,
    quantity: Quantity,
    help: &'static str,
) -> Measure {
    Measure { name, label, quantity, help, is_of_links: false }
}

const fn of_links(
    name: &'static str,
    label: &'static str,
    quantity: Quantity,
    help: &'static str,
) -> Measure {
    Measure { name, label, quantity, help, is_of_links: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::WorkloadMetric;
    use crate::results::run::LINK_METRICS;

    #[test]
    fn measures_are_the_columns_of_the_tables() {
        let own = WorkloadMetric::ALL.map(WorkloadMetric::name);
        let columns: Vec<&str> = LINK_METRICS.into_iter().chain(own).collect();
        assert_eq!(MEASURES.map(|measure| measure.name).to_vec(), columns);
        let links = MEASURES.iter().filter(|measure| measure.is_of_links).count();
        assert_eq!(links, LINK_METRICS.len());
    }
}
