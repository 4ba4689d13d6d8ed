//! The analyser's account of a row beside the truth.

use super::analysed::AnalysedCapture;
use super::played::PlayedConnection;
use super::row::TruthRow;
use super::shares::{RowTruth, TrueShare};
use serde::Serialize;
use trace::TimeShare;

/// Percentage points by which a share may differ from the truth.
pub const SHARE_TOLERANCE_POINTS: f64 = 5.0;
/// Percentage points of that kind where ACKs are late, or arrive in bursts.
pub const BURSTY_TOLERANCE_POINTS: f64 = 10.0;

/// The class of time whose cause a capture does not show.
const UNEXPLAINED: &str = TimeShare::Unexplained.name();

/// Rules by which an account is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judgement {
    /// Percentage points by which a share may differ.
    pub(super) tolerance: f64,
    /// A capture that is not made at the sender may leave time unexplained instead of giving it to
    /// its cause.
    pub(super) may_be_unexplained: bool,
}

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
    /// The first cause is right, or the capture was made at the client and does not show it.
    pub is_first_right: bool,
    /// Percentage points by which a share may differ.
    pub tolerance: f64,
    /// Time of all transfers by the analyser, over the true time.
    pub time_ratio: f64,
    /// Errors of the shares that are known, in the order of the truth.
    pub errors: Vec<ShareError>,
}

/// Distance of a share from the truth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ShareError {
    /// The cause that has the share.
    #[serde(serialize_with = "super::cause::serialize_cause")]
    pub cause: TimeShare,
    /// Percentage points; negative if the analyser's share is too small.
    pub points: f64,
}

impl ComparedCapture {
    /// Compares an account with the truth.
    pub(super) fn new(truth: &RowTruth, found: AnalysedCapture, judgement: Judgement) -> Self {
        let Judgement { tolerance, may_be_unexplained } = judgement;
        let is_unexplained = may_be_unexplained && found.first == Some(UNEXPLAINED);
        let is_first_right =
            is_unexplained || truth.first.iter().any(|cause| found.first == Some(cause.name()));
        let unexplained = if may_be_unexplained { found.share(UNEXPLAINED) } else { 0.0 };
        let error = |share: &TrueShare| {
            let least = share.error_points(found.share(share.cause.name()));
            // Unexplained time may be of this cause.
            let points = if least < 0.0 { (least + 100.0 * unexplained).min(0.0) } else { least };
            ShareError { cause: share.cause, points }
        };
        let errors = truth.shares.iter().map(error).collect();
        let time_ratio = found.total_s / truth.total_s;
        Self { found, is_first_right, tolerance, time_ratio, errors }
    }

    /// The share that is furthest from the truth.
    pub fn worst(&self) -> Option<ShareError> {
        self.errors.iter().copied().max_by(|a, b| a.points.abs().total_cmp(&b.points.abs()))
    }

    /// The first cause is right, and every known share is within the tolerance.
    pub fn is_inside(&self) -> bool {
        let worst = self.worst().map_or(0.0, |worst| worst.points.abs());
        self.is_first_right && worst <= self.tolerance
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
            TrueShare { cause: TimeShare::Think, low: 0.5, high: 0.5 },
            TrueShare { cause: TimeShare::Path, low: 0.2, high: 0.3 },
        ];
        let truth = RowTruth {
            first: vec![TimeShare::Think],
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
        let judged = |first, think, path, may_be_unexplained| {
            let shares = [("think", think), ("path", path), ("unexplained", 0.1)];
            let shares = shares.into_iter().collect();
            let found =
                AnalysedCapture { first: Some(first), shares, ..AnalysedCapture::default() };
            let judgement = Judgement { tolerance: SHARE_TOLERANCE_POINTS, may_be_unexplained };
            ComparedCapture::new(&truth, found, judgement)
        };
        let compared = |first, think, path| judged(first, think, path, false);
        // A tenth is unexplained: at the client that may be the rest of the path.
        assert!(!compared("think", 0.53, 0.1).is_inside());
        assert!(judged("think", 0.53, 0.1, true).is_inside());
        assert!(!judged("think", 0.53, 0.04, true).is_inside());
        assert!(judged("unexplained", 0.5, 0.2, true).is_inside());
        assert!(!compared("unexplained", 0.5, 0.2).is_inside());
        assert!(compared("think", 0.54, 0.25).is_inside());
        assert!(!compared("path", 0.5, 0.25).is_inside());
        let worst = compared("think", 0.53, 0.1).worst().expect("two shares are known");
        assert_eq!(worst.cause, TimeShare::Path);
        assert!((worst.points + 10.0).abs() < 1e-9);
        assert!(!compared("think", 0.53, 0.1).is_inside());
    }
}
