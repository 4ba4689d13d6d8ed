//! `--out`: what was found as Parquet tables, row by row as it is final. Nothing is kept in memory but the rows of a
//! table that are not written yet.

mod rows;
mod table;

use crate::failure::Failure;
use findings::LossEpoch;
use rows::OfSender;
use std::fs;
use std::io;
use std::path::Path;
use table::OutTable;
use trace::{
    ConnectionTrace, Retransmission, SenderSnapshot, TraceSink, TracedSender, TransferReport,
};

/// A table of `--out`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum TableName {
    /// A row per connection
    Connections,
    /// A row per transfer, with where its time went
    Transfers,
    /// A row per retransmission
    Retransmissions,
    /// A row per loss epoch of a client host
    LossEpochs,
    /// A row per ACK that reached a sender: as long as the capture
    Windows,
}

/// Adds a row to a table, if it is wanted and nothing has failed.
macro_rules! add {
    ($sink:ident, $table:ident, $row:expr) => {
        if $sink.failure.is_none() {
            let wrote = $sink.$table.as_mut().map(|table| table.row($row));
            $sink.note(wrote);
        }
    };
}

/// Writes tables to a folder.
pub(super) struct TablesSink {
    connections: Option<OutTable<ConnectionTrace>>,
    transfers: Option<OutTable<OfSender<TransferReport>>>,
    retransmissions: Option<OutTable<OfSender<Retransmission>>>,
    loss_epochs: Option<OutTable<LossEpoch>>,
    windows: Option<OutTable<OfSender<SenderSnapshot>>>,
    failure: Option<io::Error>,
}

impl TablesSink {
    /// Begins `wanted` tables, or all if none is named, in a folder that is made if need be.
    pub(super) fn begin(folder: &Path, wanted: &[TableName]) -> Result<Self, Failure> {
        fs::create_dir_all(folder)
            .map_err(|why| Failure::input(format!("--out {}: {why}", folder.display())))?;
        let is_wanted = |name| wanted.is_empty() || wanted.contains(&name);
        macro_rules! table {
            ($name:ident, $file:literal, $columns:expr) => {
                is_wanted(TableName::$name)
                    .then(|| OutTable::begin(folder, $file, $columns))
                    .transpose()?
            };
        }
        Ok(Self {
            connections: table!(Connections, "connections", rows::CONNECTIONS),
            transfers: table!(Transfers, "transfers", rows::TRANSFERS),
            retransmissions: table!(Retransmissions, "retransmissions", rows::RETRANSMISSIONS),
            loss_epochs: table!(LossEpochs, "loss_epochs", rows::LOSS_EPOCHS),
            windows: table!(Windows, "windows", rows::WINDOWS),
            failure: None,
        })
    }

    /// Writes what is left, and gives the files their names.
    pub(super) fn end(self) -> Result<(), Failure> {
        if let Some(why) = self.failure {
            return Err(Failure::failed(format!("cannot write tables: {why}")));
        }
        self.connections.map_or(Ok(()), OutTable::end)?;
        self.transfers.map_or(Ok(()), OutTable::end)?;
        self.retransmissions.map_or(Ok(()), OutTable::end)?;
        self.loss_epochs.map_or(Ok(()), OutTable::end)?;
        self.windows.map_or(Ok(()), OutTable::end)
    }

    /// Loss epochs are wanted.
    pub(super) const fn wants_epochs(&self) -> bool {
        self.loss_epochs.is_some()
    }

    /// A loss epoch has ended.
    pub(super) fn on_epoch(&mut self, epoch: &LossEpoch) {
        add!(self, loss_epochs, epoch);
    }

    /// Notes the first failure; behind it nothing is written.
    fn note(&mut self, wrote: Option<io::Result<()>>) {
        self.failure = self.failure.take().or_else(|| wrote?.err());
    }
}

impl TraceSink for TablesSink {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        add!(self, connections, summary);
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        add!(self, retransmissions, &OfSender { sender: *sender, of: *again });
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        add!(self, transfers, &OfSender { sender: *sender, of: *report });
    }

    fn wants_windows(&self) -> bool {
        self.windows.is_some()
    }

    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        add!(self, windows, &OfSender { sender: *sender, of: *point });
    }
}
