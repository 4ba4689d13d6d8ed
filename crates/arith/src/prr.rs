//! Proportional rate reduction (RFC 6937): the data that may be sent per delivered data while a
//! window shrinks to its new threshold.
//!
//! The unit is bytes; with `mss` = 1 it is segments, as Linux `tcp_cwnd_reduction` counts. A share
//! that ends within a segment is rounded up to the whole segment, so for full segments both units
//! give the same.

/// Data found by one ACK, and data sent until then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrrAck {
    /// Bytes in flight after the ACK.
    pub pipe: u64,
    /// Bytes this ACK delivered.
    pub newly: u64,
    /// Bytes delivered since recovery began, `newly` included.
    pub total: u64,
    /// Bytes sent since recovery began.
    pub sent: u64,
    /// The cumulative acknowledgement moved and nothing more was found lost.
    pub clean: bool,
}

/// Bytes that may be sent in answer to an ACK. Above the threshold they are the share `ssthresh /
/// prior_cwnd` of the delivered bytes. At or below it they are the delivered bytes (conservative
/// reduction bound). While the repair makes clean progress, one segment is added (slow-start
/// reduction bound), but never past the threshold. The first answer of a recovery is at least one
/// segment: the fast retransmit.
///
/// `prior_cwnd` is the window when recovery began; zero is taken as `ssthresh`.
pub fn quota(delivery: &PrrAck, ssthresh: u64, prior_cwnd: u64, mss: u64) -> u64 {
    let mss = mss.max(1);
    let quota = if delivery.pipe > ssthresh {
        share(delivery.total, ssthresh, prior_cwnd, mss).saturating_sub(delivery.sent)
    } else {
        let owed = delivery.total.saturating_sub(delivery.sent).max(delivery.newly);
        let extra = if delivery.clean { mss } else { 0 };
        owed.saturating_add(extra).min(ssthresh - delivery.pipe)
    };
    if delivery.sent == 0 { quota.max(mss) } else { quota }
}

/// `delivered * ssthresh / prior_cwnd`, rounded up to whole segments.
fn share(delivered: u64, ssthresh: u64, prior_cwnd: u64, mss: u64) -> u64 {
    let prior = if prior_cwnd == 0 { ssthresh.max(1) } else { prior_cwnd };
    let product = u128::from(delivered) * u128::from(ssthresh);
    let segments = product.div_ceil(u128::from(prior) * u128::from(mss));
    u64::try_from(segments).unwrap_or(u64::MAX).saturating_mul(mss)
}

#[cfg(test)]
mod tests {
    use super::{PrrAck, quota};
    use proptest::prelude::*;

    const NOTHING: PrrAck = PrrAck { pipe: 0, newly: 0, total: 0, sent: 0, clean: false };

    #[test]
    fn above_the_threshold_sending_is_proportional() {
        // RFC 6937 §4's example in segments: prior window 20, ssthresh 10: one for every two.
        let at = |total, sent| PrrAck { pipe: 16, newly: 1, total, sent, ..NOTHING };
        assert_eq!(quota(&at(4, 1), 10, 20, 1), 1);
        assert_eq!(quota(&at(5, 2), 10, 20, 1), 1);
        assert_eq!(quota(&at(6, 3), 10, 20, 1), 0);
    }

    #[test]
    fn bytes_and_segments_agree_for_whole_segments() {
        // CUBIC from 10 to 7: the share of 3 delivered is 2.1, rounded up to 3, of which 2 are out.
        let segments = PrrAck { pipe: 8, newly: 1, total: 3, sent: 2, ..NOTHING };
        assert_eq!(quota(&segments, 7, 10, 1), 1);
        let bytes = PrrAck { pipe: 8000, newly: 1000, total: 3000, sent: 2000, ..NOTHING };
        assert_eq!(quota(&bytes, 7000, 10_000, 1000), 1000);
    }

    #[test]
    fn below_the_threshold_it_follows_delivery_and_grows_on_clean_progress() {
        let dirty = PrrAck { pipe: 4, newly: 2, total: 9, sent: 8, clean: false };
        assert_eq!(quota(&dirty, 10, 20, 1), 2);
        assert_eq!(quota(&PrrAck { clean: true, ..dirty }, 10, 20, 1), 3);
        // There is only one segment of room up to the threshold.
        assert_eq!(quota(&PrrAck { pipe: 9, clean: true, ..dirty }, 10, 20, 1), 1);
    }

    #[test]
    fn the_first_answer_lets_the_fast_retransmit_go() {
        let first = PrrAck { pipe: 30, newly: 0, ..NOTHING };
        assert_eq!(quota(&first, 10, 20, 1), 1);
        assert_eq!(quota(&PrrAck { pipe: 10, ..first }, 10, 20, 1), 1);
    }

    proptest! {
        #[test]
        fn never_past_the_threshold_nor_above_what_was_delivered(
            pipe in 0_u64..1000, newly in 1_u64..50, before in 0_u64..500, sent in 1_u64..500,
            ssthresh in 2_u64..700, prior in 1_u64..1000, clean: bool,
        ) {
            let total = before + newly;
            let delivery = PrrAck { pipe, newly, total, sent, clean };
            let quota = quota(&delivery, ssthresh, prior.max(ssthresh), 1);
            if pipe <= ssthresh {
                prop_assert!(pipe + quota <= ssthresh);
            } else {
                prop_assert!(quota + sent <= total.max(sent));
            }
        }

        #[test]
        fn no_input_overflows(
            pipe: u64, newly: u64, total: u64, sent: u64, clean: bool,
            ssthresh: u64, prior: u64, mss: u64,
        ) {
            quota(&PrrAck { pipe, newly, total, sent, clean }, ssthresh, prior, mss);
        }
    }
}
