//! The analyser's account of a row beside the truth.

use super::analysed::AnalysedCapture;
use super::cause::TruthCause;
use super::played::PlayedConnection;
use super::row::TruthRow;
use super::shares::{RowTruth, TrueShare};
use serde::Serialize;

/// Percentage points by which a share may differ from the truth.
pub const SHARE_TOLERANCE_POINTS: f64 = 5.0;

/// A row that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredRow {
    /// The row that was played.
    pub row: TruthRow,
    /// The truth.
    pub truth: RowTruth,
    /// The analyser's account of the capture at the server.
    pub at_server: ComparedCapture,
    /// The analyser's account of the capture at the client.
    pub at_client: ComparedCapture,
    /// Scheduling delay of the link that one packet in a hundred exceeded, seconds.
    pub lateness_p99_s: f64,
    /// Times that it was repeated because of scheduling delay.
    pub redone: u32,
    /// The logs of both ends.
    pub connections: Vec<PlayedConnection>,
}

/// The analyser's account of one capture, compared with the truth.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedCapture {
    /// The account.
    pub found: AnalysedCapture,
    /// The first cause is right.
    pub is_first_right: bool,
    /// Time of all transfers by the analyser, over the true time.
    pub time_ratio: f64,
    /// Errors of the shares that are known, in the order of the truth.
    pub errors: Vec<ShareError>,
}

/// Distance of a share from the truth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ShareError {
    /// The cause that has the share.
    pub cause: TruthCause,
    /// Percentage points; negative if the analyser's share is too small.
    pub points: f64,
}

impl ComparedCapture {
    /// Compares an account with the truth.
    pub(super) fn new(truth: &RowTruth, found: AnalysedCapture) -> Self {
        let is_first_right = truth.first.iter().any(|cause| found.first == Some(cause.name()));
        let error = |share: &TrueShare| ShareError {
            cause: share.cause,
            points: share.error_points(found.share(share.cause.name())),
        };
        let errors = truth.shares.iter().map(error).collect();
        let time_ratio = found.total_s / truth.total_s;
        Self { found, is_first_right, time_ratio, errors }
    }

    /// The share that is furthest from the truth.
    pub fn worst(&self) -> Option<ShareError> {
        self.errors.iter().copied().max_by(|a, b| a.points.abs().total_cmp(&b.points.abs()))
    }

    /// The first cause is right, and every known share is within the tolerance.
    pub fn is_inside(&self) -> bool {
        let worst = self.worst().map_or(0.0, |worst| worst.points.abs());
        self.is_first_right && worst <= SHARE_TOLERANCE_POINTS
    }
}

impl MeasuredRow {
    /// Both captures are judged rightly.
    pub fn is_inside(&self) -> bool {
        self.at_server.is_inside() && self.at_client.is_inside()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_inside_by_its_first_cause_and_its_worst_share() {
        let shares = vec![
            TrueShare { cause: TruthCause::Think, low: 0.5, high: 0.5 },
            TrueShare { cause: TruthCause::Path, low: 0.2, high: 0.3 },
        ];
        let truth = RowTruth {
            first: vec![TruthCause::Think],
            total_s: 1.0,
            transfers: 1,
            shares,
            retransmissions: 0,
            rwnd_limited_s: 0.0,
            sndbuf_limited_s: 0.0,
            blocked_s: 0.0,
            busy_s: 0.0,
            contradictions: Vec::new(),
        };
        let compared = |first, think, path| {
            let shares = [("think", think), ("path", path)].into_iter().collect();
            let found =
                AnalysedCapture { first: Some(first), shares, ..AnalysedCapture::default() };
            ComparedCapture::new(&truth, found)
        };
        assert!(compared("think", 0.54, 0.25).is_inside());
        assert!(!compared("path", 0.5, 0.25).is_inside());
        let worst = compared("think", 0.53, 0.1).worst().expect("two shares are known");
        assert_eq!(worst.cause, TruthCause::Path);
        assert!((worst.points + 10.0).abs() < 1e-9);
        assert!(!compared("think", 0.53, 0.1).is_inside());
    }
}
