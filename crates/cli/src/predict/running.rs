//! The TCP of a capture's servers, with which other schemes are compared.

use forecast::CapturedVisitors;
use serde::{Serialize, Serializer};
use tcp::Scheme;
use trace::SenderModels;

/// The TCP of the servers.
#[derive(Debug, Serialize)]
pub(super) struct ServerScheme {
    #[serde(serialize_with = "by_name")]
    pub(super) scheme: Scheme,
    /// All of them seem to run it.
    by_all: bool,
    /// `--sender` says so; otherwise their packets do.
    #[serde(skip)]
    #[serde(rename = "is_told")]
    is_given: bool,
}

fn by_name<S: Serializer>(scheme: &Scheme, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(scheme.name())
}

impl ServerScheme {
    /// The scheme that explains the packets of the server that sent most, or `sender` if that is a
    /// name; `None` without a transfer.
    pub(super) fn of(
        visitors: &CapturedVisitors,
        models: &SenderModels,
        sender: &str,
    ) -> Option<Self> {
        let (scheme, by_all) = visitors.most_used_scheme(models)?;
        Some(Self { scheme, by_all, is_given: sender != "auto" })
    }

    /// The scheme's text.
    pub(super) fn name(&self) -> &str {
        self.scheme.name()
    }

    /// Sentence about the scheme.
    pub(super) fn sentence(&self) -> String {
        let now = self.name();
        let why = match (self.is_given, self.by_all) {
            (true, _) => format!("The servers run {now}, as --sender says"),
            (_, true) => format!("The servers' packets are explained best by {now}"),
            (_, false) => format!(
                "Servers seem to run different schemes. The one that sent most seems to run {now}"
            ),
        };
        format!("{why}: others are compared with it.")
    }
}
