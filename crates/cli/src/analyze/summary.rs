//! All connections in a few tables.

use super::reading::OneDirection;
use super::rebuilt::{RebuiltAs, name_of};
use cmdline::request::NamedTable;
use cmdline::{Failure, stdout};
use report::{Cell, Column, Quantity, Row, Table};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use trace::{
    ConnectionTrace, ProfileSurvey, RetransmissionKind, SenderCounters, SenderProfile, SparedBy,
    SurveyedHost, TimeShare, TraceSink, TracedSender, TransferReport, Vantage,
};
use units::counted;

/// Vantage points of a capture, in words.
const VANTAGES: [(Vantage, &str); 4] = [
    (Vantage::Server, "next to the server"),
    (Vantage::Client, "next to the client"),
    (Vantage::Middle, "between client and server"),
    (Vantage::Unknown, "at an unknown point"),
];

/// Sums over all connections.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct SummarySink {
    server: SenderCounters,
    client: SenderCounters,
    pub(super) copies: u64,
    /// Connections by where they were captured.
    vantages: [u64; VANTAGES.len()],
    #[serde(skip)]
    pub(super) rebuilt_as: RebuiltAs,
    /// Connections by what their server was rebuilt as.
    pub(super) profiles: BTreeMap<String, u64>,
    /// Connections of which the capture has nothing of the client.
    pub(super) without_acks: OneDirection,
    /// Connections of which the capture has nothing of the server.
    pub(super) without_data: OneDirection,
    /// Connections by what came of Fast Open.
    pub(super) fast_open: BTreeMap<String, u64>,
    transfers: u64,
    /// Transfers whose ACKs the capture lacks, though it has both directions.
    pub(super) without_pure_acks: u64,
    bytes: u64,
    /// Nanoseconds, in the order of [`TimeShare::ALL`].
    shares: [u64; TimeShare::COUNT],
}

impl TraceSink for SummarySink {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.server.add(&summary.server_sent);
        self.client.add(&summary.client_sent);
        self.copies += summary.copies;
        if let Some(outcome) = summary.fast_open {
            *self.fast_open.entry(outcome.name().to_owned()).or_default() += 1;
        }
        *self.profiles.entry(self.rebuilt_as.of_server(summary.server.ip)).or_default() += 1;
        let (client, server) = (&summary.client_sent, &summary.server_sent);
        let alone = match (client.packets, server.packets) {
            (0, 1..) => Some(&mut self.without_acks),
            // SYNs without an answer are no ACKs.
            (1.., 0) if client.bytes + server.unseen_bytes + server.retransmission_count() > 0 => {
                Some(&mut self.without_data)
            }
            _ => None,
        };
        if let Some(alone) = alone {
            alone.connections += 1;
            alone.retransmissions += server.retransmission_count();
        }
        let places = self.vantages.iter_mut().zip(VANTAGES);
        for (count, _) in places.filter(|(_, (vantage, _))| *vantage == summary.vantage) {
            *count += 1;
        }
    }

    fn on_transfer(&mut self, _: &TracedSender, report: &TransferReport) {
        self.transfers += 1;
        self.without_pure_acks += u64::from(!report.has_acks);
        self.bytes += report.bytes;
        for (sum, share) in self.shares.iter_mut().zip(TimeShare::ALL) {
            *sum += report.shares.of(share).as_nanos();
        }
    }
}

/// Adds counts by name.
fn add_counts(counts: &mut BTreeMap<String, u64>, more: &BTreeMap<String, u64>) {
    for (name, count) in more {
        *counts.entry(name.clone()).or_default() += count;
    }
}

fn number(n: u64) -> Cell {
    Cell::Number((n as f64).into())
}

fn row(name: &str, cells: impl IntoIterator<Item = Cell>) -> Row {
    let cells = std::iter::once(Cell::Text(name.to_owned())).chain(cells).collect();
    Row { cells, is_reference: false }
}

impl SummarySink {
    /// Adds the sums of other connections.
    pub(super) fn add(&mut self, other: &Self) {
        let add_each = |sums: &mut [u64], more: &[u64]| {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        };
        self.server.add(&other.server);
        self.client.add(&other.client);
        self.copies += other.copies;
        add_each(&mut self.vantages, &other.vantages);
        add_counts(&mut self.profiles, &other.profiles);
        self.without_acks.add(&other.without_acks);
        self.without_data.add(&other.without_data);
        add_counts(&mut self.fast_open, &other.fast_open);
        self.transfers += other.transfers;
        self.without_pure_acks += other.without_pure_acks;
        self.bytes += other.bytes;
        add_each(&mut self.shares, &other.shares);
    }

    /// Prints counts of what was read, what was read beside segments, and the tables.
    pub(super) fn print(&self, counts: &str, beside: &str) -> Result<(), Failure> {
        stdout::print(&format!("{counts}\n{beside}\n"))?;
        if self.vantages.iter().all(|connections| *connections == 0) {
            return Ok(());
        }
        stdout::print_table(&self.retransmissions())?;
        stdout::print("\n")?;
        stdout::print_table(&self.timeouts())?;
        stdout::print(&format!(
            "\n{} of {} bytes\n\n",
            counted(self.transfers, "transfer"),
            self.bytes
        ))?;
        stdout::print_table(&self.time_shares())
    }

    /// Connections by where they were captured, in words; without those of which there are none.
    pub(super) fn vantages_in_words(&self) -> Vec<(u64, &'static str)> {
        let vantages = self.vantages.iter().zip(VANTAGES).filter(|(count, _)| **count > 0);
        vantages.map(|(count, (_, words))| (*count, words)).collect()
    }

    /// The tables that are printed.
    pub(super) fn tables(&self) -> Vec<NamedTable> {
        vec![
            NamedTable::new("retransmissions", self.retransmissions()),
            NamedTable::new("timeouts", self.timeouts()),
            NamedTable::new("time", self.time_shares()),
        ]
    }

    /// Connections by where they were captured.
    pub(super) fn vantages_by_name(&self) -> BTreeMap<&'static str, u64> {
        let places = self.vantages.iter().zip(VANTAGES).filter(|(count, _)| **count > 0);
        places.map(|(count, (vantage, _))| (vantage.name(), *count)).collect()
    }

    fn retransmissions(&self) -> Table {
        let columns = [
            Column::new("retransmissions", Quantity::Text, "Why the sender sent the data again"),
            Column::new("servers", Quantity::Count, "Sent by servers"),
            Column::new(
                "not expected",
                Quantity::Count,
                "Of these, not expected by the rebuilt sender",
            ),
            Column::new("clients", Quantity::Count, "Sent by clients"),
        ];
        let rows = RetransmissionKind::ALL.iter().map(|&kind| {
            let at = kind as usize;
            let counts = [
                self.server.retransmissions[at],
                self.server.unexpected[at],
                self.client.retransmissions[at],
            ];
            row(kind.name(), counts.map(number))
        });
        let total = [
            self.server.retransmission_count(),
            self.server.unexpected.iter().sum(),
            self.client.retransmission_count(),
        ];
        let rows = rows.chain(std::iter::once(row("all", total.map(number)))).collect();
        Table { columns: columns.into(), rows }
    }

    /// Counts of each kind beside those that the ACKs alone give.
    pub(super) fn print_error(&self, predicted: &Self) -> Result<(), Failure> {
        let columns = [
            Column::new(
                "retransmissions of servers",
                Quantity::Text,
                "Why the server sent the data again",
            ),
            Column::new("captured", Quantity::Count, "As the capture shows them"),
            Column::new("by ACKs alone", Quantity::Count, "As the ACKs of clients predict them"),
            Column::new("error", Quantity::Gain, "How far the prediction is off"),
        ];
        let rows = RetransmissionKind::ALL.iter().map(|&kind| {
            let at = kind as usize;
            let (seen, by_acks) =
                (self.server.retransmissions[at], predicted.server.retransmissions[at]);
            let error = match (seen, by_acks) {
                (0, 0) => Cell::Number(0.0.into()),
                (0, _) => Cell::Undefined,
                (seen, by_acks) => Cell::Number((by_acks as f64 / seen as f64 - 1.0).into()),
            };
            row(kind.name(), [number(seen), number(by_acks), error])
        });
        stdout::print("\n")?;
        stdout::print_table(&Table { columns: columns.to_vec(), rows: rows.collect() })
    }

    fn timeouts(&self) -> Table {
        let columns = [
            Column::new(
                "timeouts spared by",
                Quantity::Text,
                "What would have spared the server the timeout",
            ),
            Column::new("timeouts", Quantity::Count, "Timeouts of servers"),
        ];
        let rows = SparedBy::ALL
            .iter()
            .map(|&by| row(by.name(), [number(self.server.spared_by[by as usize])]));
        Table { columns: columns.to_vec(), rows: rows.collect() }
    }

    fn time_shares(&self) -> Table {
        let columns = [
            Column::new("time of transfers", Quantity::Text, "What the time was spent on"),
            Column::new("share", Quantity::Share, "Part of the time of all transfers"),
            Column::new("mean", Quantity::Time, "Per transfer"),
        ];
        let all = self.shares.iter().sum::<u64>() as f64 / 1e9;
        let rows = TimeShare::ALL.iter().zip(self.shares).map(|(share, nanos)| {
            let seconds = nanos as f64 / 1e9;
            let mean = seconds / (self.transfers.max(1) as f64);
            let part = if all > 0.0 { seconds / all } else { 0.0 };
            row(share.name(), [Cell::Number(part.into()), Cell::Number(mean.into())])
        });
        Table { columns: columns.to_vec(), rows: rows.collect() }
    }
}

/// Prints how badly each profile explains the surveyed segments of all servers.
pub(super) fn print_charges(survey: &ProfileSurvey) -> Result<(), Failure> {
    let columns = [
        Column::new("sender profile", Quantity::Text, "What the servers may run"),
        Column::new(
            "charge",
            Quantity::Count,
            "8 for a retransmission that the profile did not foresee, 1 for a wrong window or pacer",
        ),
        Column::new("servers", Quantity::Count, "Servers that it was chosen for"),
    ];
    let rows = SenderProfile::ALL.iter().enumerate().map(|(n, &profile)| {
        let charge = survey.hosts.iter().map(|host| host.fit_errors[n].charge).sum();
        let is_chosen =
            |host: &&SurveyedHost| name_of(survey.models.of(host.host)) == profile.name();
        let servers = survey.hosts.iter().filter(is_chosen).count() as u64;
        row(profile.name(), [number(charge), number(servers)])
    });
    stdout::print("\n")?;
    stdout::print_table(&Table { columns: columns.to_vec(), rows: rows.collect() })
}
