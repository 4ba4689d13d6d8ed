//! Reports of a program that ends. It waits until the gateways have acknowledged all of them.

use crate::client::SiteClient;
use crate::config::ClientConfig;
use crate::message::SiteEvent;
use crate::outcome::Outcome;
use gateway_proto::v1::Report;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longest wait of a reporter for the acknowledgement of all its reports.
pub const FLUSH_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of reports between two waits for acknowledgements, if a file has the reports: it is read
/// faster than a gateway accepts them.
pub const MAX_UNACKNOWLEDGED_REPORTS: u64 = 4096;

/// Sends reports to the gateways of a site, and waits for them.
#[derive(Debug)]
pub struct SiteReporter {
    client: SiteClient<()>,
    /// The reason why the last connection to a gateway was lost.
    trouble: Arc<Mutex<String>>,
    reported: u64,
}

impl SiteReporter {
    /// Connects to these gateways.
    ///
    /// # Errors
    /// If the configuration is wrong: why.
    pub fn start(config: ClientConfig) -> Result<Self, String> {
        let trouble = Arc::new(Mutex::new(String::new()));
        let why = Arc::clone(&trouble);
        let on_event = move |event: SiteEvent<()>| {
            if let SiteEvent::Lost(reason) = event {
                *why.lock().unwrap_or_else(PoisonError::into_inner) = reason;
            }
            false
        };
        let client = SiteClient::start(config, on_event)?;
        Ok(Self { client, trouble, reported: 0 })
    }

    /// Sends a report, and waits from time to time.
    ///
    /// # Errors
    ///
    /// If no gateway acknowledges the reports in time: why.
    pub fn report(&mut self, report: Report) -> Result<(), String> {
        self.reported += 1;
        self.client.report(report);
        match self.reported % MAX_UNACKNOWLEDGED_REPORTS {
            0 => self.flush(),
            _ => Ok(()),
        }
    }

    /// Waits until all is acknowledged.
    fn flush(&self) -> Result<(), String> {
        if self.client.flush(FLUSH_TIMEOUT) {
            return Ok(());
        }
        let why = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let why = if why.is_empty() { "it does not acknowledge".to_owned() } else { why };
        Err(format!("no gateway has taken all reports: {why}"))
    }

    /// Waits until all is acknowledged, and returns a sentence about the outcome of the reports.
    ///
    /// # Errors
    ///
    /// If reports were lost or none was accepted: why.
    pub fn finish(&self) -> Result<String, String> {
        self.flush()?;
        let status = self.client.status();
        let outcome = Outcome {
            told: self.reported,
            taken: status.reports_taken,
            dropped: status.reports_dropped,
            refused: self.client.refusals(),
        };
        outcome.words()
    }
}
