//! One host of a site, as its connections see it: a memory that they ask and report to.

use crate::site::{Reporter, SiteMemory, SiteReport};
use crate::{PathKey, PathMemory, Remembered, Sample, Scope, TransferSample};
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use units::Instant;

/// A host that reports to the memory of its site, and asks it, in no time.
pub struct SiteMember {
    reporter: Reporter,
    site: Rc<RefCell<SiteMemory>>,
}

impl SiteMember {
    /// Creates the host `reporter` of `site`.
    pub const fn new(reporter: Reporter, site: Rc<RefCell<SiteMemory>>) -> Self {
        Self { reporter, site }
    }
}

impl PathMemory for SiteMember {
    fn known(&self) -> Option<usize> {
        Some(self.site.borrow().len())
    }

    fn recall(&mut self, now: Instant, remote: IpAddr) -> Option<Remembered> {
        let estimate = self.site.borrow().estimate(now, remote, None)?;
        let rtt = estimate.min_rtt?;
        Some(Remembered {
            cwnd: estimate.window,
            srtt: rtt,
            // The deviation is that of a first measurement (RFC 6298 §2.2).
            rttvar: rtt / 2,
            min_rtt: Some(rtt),
            age: estimate.age,
            share: Some(estimate.window),
            rate: estimate.rate,
            ..Remembered::default()
        })
    }

    fn record(&mut self, now: Instant, remote: IpAddr, sample: &Sample) {
        let Sample::Transfer(sample) = *sample else { return };
        let TransferSample { window, rate, min_rtt, sent, lost, bound, .. } = sample;
        let network = PathKey::new(remote, Scope::Network).network();
        let reporter = self.reporter;
        let report = SiteReport { network, reporter, window, rate, min_rtt, sent, lost, bound };
        self.site.borrow_mut().report(now, &report);
    }
}
