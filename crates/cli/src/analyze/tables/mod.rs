//! `--out`: the findings as Parquet tables. Each row is written as soon as it is final; memory
//! holds only the rows that are not written yet.

mod rows;
mod table;

use super::rebuilt::RebuiltAs;
pub use table::MemoryRows;

use clap::ValueEnum;
use cmdline::Failure;
use findings::LossEpoch;
use rows::{OfSender, RebuiltConnection};
use std::fs;
use std::io;
use std::path::Path;
use support::parquet::TableColumn;
use table::{OutTable, PartFile};
use trace::{
    ConnectionTrace, Retransmission, SenderSnapshot, TraceSink, TracedSender, TransferReport,
};

/// A table of `--out`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TableName {
    /// A row per connection
    Connections,
    /// A row per transfer, with where its time went
    Transfers,
    /// A row per retransmission
    Retransmissions,
    /// A row per loss epoch of a client host
    // The name of its file, too.
    #[value(alias = "loss_epochs")]
    LossEpochs,
    /// A row per ACK at a sender: as long as the capture
    Windows,
}

impl TableName {
    /// The name of its file, without the ending; with `_` where the option's value has `-`.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::Transfers => "transfers",
            Self::Retransmissions => "retransmissions",
            Self::LossEpochs => "loss_epochs",
            Self::Windows => "windows",
        }
    }
}

/// Adds a row to a table, if it is wanted and nothing has failed.
macro_rules! add {
    ($sink:ident, $table:ident, $row:expr) => {
        if $sink.failure.is_none() {
            let wrote = $sink.$table.as_mut().map(|table| table.write_row($row));
            $sink.keep_first_failure(wrote);
        }
    };
}

/// Begins a table in memory.
pub type BeginMemory<'a> = dyn FnMut(TableName, &[TableColumn]) -> Box<dyn MemoryRows> + 'a;

/// All tables, each by the macro `$table` from its name and columns.
macro_rules! tables {
    ($table:ident) => {
        Self {
            connections: $table!(Connections, rows::CONNECTIONS),
            transfers: $table!(Transfers, rows::TRANSFERS),
            retransmissions: $table!(Retransmissions, rows::RETRANSMISSIONS),
            loss_epochs: $table!(LossEpochs, rows::LOSS_EPOCHS),
            windows: $table!(Windows, rows::WINDOWS),
            failure: None,
            rebuilt_as: RebuiltAs::default(),
        }
    };
}

/// Writes tables to a folder, or keeps them in memory.
pub(super) struct TablesSink {
    connections: Option<OutTable<RebuiltConnection>>,
    transfers: Option<OutTable<OfSender<TransferReport>>>,
    retransmissions: Option<OutTable<OfSender<Retransmission>>>,
    loss_epochs: Option<OutTable<LossEpoch>>,
    windows: Option<OutTable<OfSender<SenderSnapshot>>>,
    failure: Option<io::Error>,
    pub(super) rebuilt_as: RebuiltAs,
}

impl TablesSink {
    /// Begins `wanted` tables, or all if none is named, in a folder that is made if need be. A
    /// folder that has one of the tables that are not wanted is refused: tables of one folder are
    /// of one run. At the end, tables replace those of their names.
    pub(super) fn begin(folder: &Path, wanted: &[TableName]) -> Result<Self, Failure> {
        fs::create_dir_all(folder)
            .map_err(|why| Failure::input(format!("--out {}: {why}", folder.display())))?;
        let is_wanted = |name| wanted.is_empty() || wanted.contains(&name);
        let names = TableName::value_variants().iter().filter(|name| !is_wanted(**name));
        let mut others = names.map(|name| format!("{}.parquet", name.file()));
        if let Some(other) = others.find(|file| folder.join(file).exists()) {
            return Err(Failure::input(format!(
                "--out {}: holds {other}, which would stay as another run has left it; remove it, name another folder, or leave out --tables",
                folder.display()
            )));
        }
        macro_rules! table {
            ($name:ident, $columns:expr) => {
                is_wanted(TableName::$name)
                    .then(|| OutTable::in_folder(folder, TableName::$name.file(), $columns))
                    .transpose()?
            };
        }
        Ok(tables!(table))
    }

    /// Begins `wanted` tables in memory. By default these are all but windows, a table that is as
    /// long as the capture.
    pub(super) fn in_memory(wanted: &[TableName], begin: &mut BeginMemory<'_>) -> Self {
        let is_wanted = |name| match wanted.is_empty() {
            true => name != TableName::Windows,
            false => wanted.contains(&name),
        };
        macro_rules! table {
            ($name:ident, $columns:expr) => {
                is_wanted(TableName::$name).then(|| {
                    OutTable::in_memory(|columns| begin(TableName::$name, columns), $columns)
                })
            };
        }
        tables!(table)
    }

    /// Writes what is left, and gives the files their names once all are whole.
    pub(super) fn end(self) -> Result<(), Failure> {
        if let Some(why) = self.failure {
            return Err(Failure::failed(format!("cannot write tables: {why}")));
        }
        let whole = [
            self.connections.map(OutTable::end),
            self.transfers.map(OutTable::end),
            self.retransmissions.map(OutTable::end),
            self.loss_epochs.map(OutTable::end),
            self.windows.map(OutTable::end),
        ];
        let whole =
            whole.into_iter().flatten().collect::<Result<Vec<Option<PartFile>>, Failure>>()?;
        whole.into_iter().flatten().try_for_each(PartFile::rename_to_final)
    }

    /// True if loss epochs are wanted, also after a failure.
    pub(super) const fn wants_epochs(&self) -> bool {
        self.loss_epochs.is_some()
    }

    /// A loss epoch has ended.
    pub(super) fn on_epoch(&mut self, epoch: &LossEpoch) {
        add!(self, loss_epochs, epoch);
    }

    /// Keeps the first failure, after which `add!` writes nothing.
    fn keep_first_failure(&mut self, wrote: Option<io::Result<()>>) {
        self.failure = self.failure.take().or_else(|| wrote?.err());
    }
}

impl TraceSink for TablesSink {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        let profile = self.rebuilt_as.of_server(summary.server.ip);
        add!(self, connections, &RebuiltConnection { trace: *summary, profile });
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
