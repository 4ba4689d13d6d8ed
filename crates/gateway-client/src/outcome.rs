//! The outcome of reports to a gateway: accepted, refused with the reason, or lost.

use gateway_proto::v1::Refusal;
use units::counted;

/// Counters of reports.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Reports passed to the client.
    pub(super) told: u64,
    /// Reports that count at a gateway.
    pub(super) taken: u64,
    /// Reports dropped because the queue was full.
    pub(super) dropped: u64,
    /// Refused reports, by reason.
    pub(super) refused: Vec<(Refusal, u64)>,
}

impl Outcome {
    /// Returns the text for standard output once all is acknowledged.
    ///
    /// # Errors
    /// If reports were lost, or all were refused: with the reasons.
    pub(super) fn words(&self) -> Result<String, String> {
        let all = counted(self.told, "report");
        let refused: u64 = self.refused.iter().map(|(_, count)| count).sum();
        if self.dropped > 0 {
            return Err(format!("{} of {all} found no room and are lost", self.dropped));
        }
        if refused == 0 {
            // The acknowledgement of a repeated batch has no counts.
            return Ok(format!("{all} acknowledged"));
        }
        let reasons = self.reasons();
        // A repeated acknowledgement may have lost the count of some reports.
        match refused >= self.told || self.taken == 0 {
            true => Err(format!("the gateway took none of {all}: {reasons}")),
            false => Ok(format!("{} of {all} taken, {refused} refused: {reasons}", self.taken)),
        }
    }

    fn reasons(&self) -> String {
        let each = self.refused.iter().map(|(why, count)| format!("{count} {}", reason(*why)));
        each.collect::<Vec<_>>().join("; ")
    }
}

/// Returns the reason under the name of the gateway's metrics, and the operator's way out.
const fn reason(why: Refusal) -> &'static str {
    match why {
        Refusal::Unspecified => "for a reason that this version does not know",
        Refusal::Network => "network (no network of visitors)",
        Refusal::TooLong => {
            "too-long (a prefix longer than longest-v4 or longest-v6 of gateway.toml)"
        }
        Refusal::NotAllowed => {
            "not-allowed (the certificate may not report of the network: report in gateway.toml)"
        }
        Refusal::Figures => "figures (figures that no connection has)",
        Refusal::TooOld => "too-old (older than retention of gateway.toml)",
        Refusal::Collector => {
            "collector (collect of gateway.toml leaves out this way of collecting)"
        }
        Refusal::TooMany => "too-many (more than reports-per-second of gateway.toml)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(told: u64, taken: u64, refused: &[(Refusal, u64)]) -> Outcome {
        Outcome { told, taken, dropped: 0, refused: refused.to_vec() }
    }

    #[test]
    fn refused_reports_are_no_success() {
        assert_eq!(outcome(1, 1, &[]).words().unwrap(), "1 report acknowledged");
        let part = outcome(9, 6, &[(Refusal::TooLong, 2), (Refusal::TooOld, 1)]).words().unwrap();
        assert!(part.starts_with("6 of 9 reports taken, 3 refused: 2 too-long ("), "{part}");
        assert!(part.contains("); 1 too-old (older than retention"), "{part}");
        let none = outcome(679, 0, &[(Refusal::Collector, 679)]).words().unwrap_err();
        let expected = "the gateway took none of 679 reports: 679 collector (collect of";
        assert!(none.starts_with(expected), "{none}");
        let uncounted = outcome(679, 0, &[(Refusal::Collector, 579)]).words().unwrap_err();
        assert!(uncounted.starts_with("the gateway took none of 679 reports: 579"), "{uncounted}");
        let lost = Outcome { dropped: 2, ..outcome(5, 3, &[]) }.words().unwrap_err();
        assert!(lost.starts_with("2 of 5 reports found no room"), "{lost}");
    }
}
