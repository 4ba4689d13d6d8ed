//! Questions and reports of the agent to its site, if the site has a gateway: `inquiry.h` and
//! `site.rs` of the agent. A question takes no time here: an answer before the end of the handshake
//! is equivalent.

use super::{PathSample, ProvenPath, WindowPool};
use crate::bound::ReportBound;
use crate::{Sample, Shared, TransferSample};
use std::net::IpAddr;
use units::{Duration, Instant, Rate};

/// A gateway knows no better than samples of this host that are as young as this (`OWN_IS_FRESH`).
const OWN_IS_FRESH: Duration = Duration::from_secs(10);
/// Payload of a full segment on Ethernet with timestamps, bytes: the agent's assumption for an
/// unknown path.
const USUAL_MSS: u64 = 1448;

impl WindowPool {
    /// Asks `site` for paths from now on when handshakes begin, and reports the samples of
    /// connections.
    pub fn join(&mut self, site: Shared) {
        self.site = Some(site);
    }

    /// Begins a handshake: takes over the site's memory, unless a younger sample is known here.
    pub(super) fn ask(&mut self, now: Instant, remote: IpAddr) {
        let Some(site) = self.site.clone() else { return };
        let own = self.path(remote).map(|path| path.learnt);
        if own.is_some_and(|learnt| now.saturating_since(learnt) < OWN_IS_FRESH) {
            return;
        }
        let Some(recalled) = site.borrow_mut().recall(now, remote) else { return };
        let learnt = Instant::from_nanos(now.as_nanos().saturating_sub(recalled.age.as_nanos()));
        if own.is_some_and(|own| own >= learnt) {
            return;
        }
        let min_rtt = recalled.min_rtt.unwrap_or(recalled.srtt);
        let sample = PathSample {
            at: learnt,
            window: u32::try_from(recalled.cwnd / USUAL_MSS).unwrap_or(u32::MAX),
            ssthresh: 0,
            srtt_us: microseconds(with_queue(recalled.cwnd, recalled.rate, min_rtt)),
            min_rtt_us: microseconds(min_rtt),
            rate: recalled.rate.map_or(0, |rate| rate.as_bps() / 8),
            bdp: 0,
            shown_rate: 0,
        };
        if sample.is_whole() {
            let fallbacks_in_row = self.path(remote).map_or(0, |path| path.fallbacks_in_row);
            let path = ProvenPath { fallbacks_in_row, ..ProvenPath::new(&sample) };
            self.paths.take_up(remote, path);
        }
    }

    /// Reports the sample of a connection to the site, if there is one.
    pub(super) fn report_sample(
        &self,
        now: Instant,
        remote: IpAddr,
        sample: &PathSample,
        is_measured: bool,
    ) {
        let bound = if is_measured { ReportBound::Loss } else { ReportBound::OwnStart };
        let (sent, lost) = (sample.window, is_measured.into());
        self.report(now, remote, sample, &TransferSample { sent, lost, ..of(sample, bound) });
    }

    /// Reports a closed connection whose first flight met a loss, and which has measured nothing
    /// since. The path has not shown what it carries, but the site needs the window at which it
    /// failed. `sample` has the window of that flight, as far as there was data to send; of `sent`
    /// segments `lost` were retransmitted.
    pub fn report_failure(
        &self,
        now: Instant,
        remote: IpAddr,
        sample: &PathSample,
        sent: u32,
        lost: u32,
    ) {
        let failed = TransferSample { sent, lost, ..of(sample, ReportBound::Loss) };
        self.report(now, remote, sample, &failed);
    }

    fn report(&self, now: Instant, remote: IpAddr, sample: &PathSample, transfer: &TransferSample) {
        if let Some(site) = self.site.as_ref().filter(|_| sample.is_whole()) {
            site.borrow_mut().record(now, remote, &Sample::Transfer(*transfer));
        }
    }
}

/// Converts a sample to a report to the site, without its numbers of segments.
fn of(sample: &PathSample, bound: ReportBound) -> TransferSample {
    TransferSample {
        window: u64::from(sample.window) * USUAL_MSS,
        rate: (sample.shown_rate > 0).then(|| Rate::from_bps(sample.shown_rate.saturating_mul(8))),
        rtt: Some(Duration::from_micros(sample.srtt_us.into())),
        min_rtt: Some(Duration::from_micros(sample.min_rtt_us.into())),
        sent: 0,
        lost: 0,
        bound,
    }
}

/// Returns the round trip with the time in which the window drains, at most four times the path's.
fn with_queue(window: u64, rate: Option<Rate>, min_rtt: Duration) -> Duration {
    let bytes_per_s = rate.map_or(0, |rate| rate.as_bps() / 8);
    let drained = (window.saturating_mul(1_000_000)).checked_div(bytes_per_s).unwrap_or(0);
    Duration::from_micros(drained).max(min_rtt).min(min_rtt * 4)
}

fn microseconds(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}
