//! The extended log format of the W3C: IIS, CloudFront and others. A line `#Fields:` names the
//! columns of the lines after it, and times are UTC (W3C working draft WD-logfile-960323).

use super::columns::columns;
use super::fault::LogFault;
use super::{LogRequest, asks_for_image, client, time};

/// Names of the client's address. A proxy in front of the server is `c-ip`, so the list of
/// addresses goes first.
const CLIENTS: [&str; 4] = ["x-forwarded-for", "cs(x-forwarded-for)", "x-forwarded-for-ip", "c-ip"];
const PATHS: [&str; 3] = ["cs-uri-stem", "cs-uri", "cs-uri-path"];

/// The columns that a line `#Fields:` names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct W3cFields {
    date: Option<usize>,
    time: Option<usize>,
    /// Columns of the client, in the order of [`CLIENTS`].
    clients: Vec<usize>,
    path: Option<usize>,
}

impl W3cFields {
    /// Reads the names after `#Fields:`.
    pub(super) fn of(names: &str) -> Self {
        let names: Vec<String> = names.split_whitespace().map(str::to_ascii_lowercase).collect();
        let place = |name: &str| names.iter().position(|one| one == name);
        Self {
            date: place("date"),
            time: place("time"),
            clients: CLIENTS.iter().filter_map(|name| place(name)).collect(),
            path: PATHS.iter().find_map(|name| place(name)),
        }
    }

    /// Reads a line of these columns.
    pub(super) fn parse<'a>(&self, line: &'a str) -> Result<LogRequest<'a>, LogFault> {
        let columns: Vec<&str> = columns(line).map(|column| column.text).collect();
        let text = |at: usize| columns.get(at).copied().ok_or(LogFault::NoColumn(at + 1));
        let named = |at: Option<usize>, name| at.ok_or(LogFault::NoField(name)).and_then(text);
        let (date, of_day) = (named(self.date, "date")?, named(self.time, "time")?);
        let given = |at: &usize| text(*at).is_ok_and(|text| text != "-");
        let who = self.clients.iter().copied().find(given).or(self.clients.last().copied());
        Ok(LogRequest {
            at: time::of_text(&format!("{date}T{of_day}"))?,
            client: client::of_text(named(who, "c-ip")?)?,
            name: None,
            is_image: self.path.and_then(|at| text(at).ok()).is_some_and(asks_for_image),
        })
    }
}
