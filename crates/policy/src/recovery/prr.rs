//! Proportional rate reduction (RFC 6937) with Linux's choice of reduction bound: during fast
//! recovery the window glides down to `ssthresh`, one step per ACK.
//!
//! The threshold of a new recovery is known only after the path has asked congestion control, so an
//! ACK is noted first and its window computed when asked.

use arith::prr::{PrrAck, quota};

/// The glide of one fast recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prr {
    prior_cwnd: u64,
    delivered: u64,
    sent_segments: u64,
    /// The last ACK that delivered something, and the segments sent by then.
    last: Option<(PrrAck, u64)>,
}

impl Prr {
    /// Recovery begins at a window of `prior_cwnd` bytes.
    pub const fn new(prior_cwnd: u64) -> Self {
        Self { prior_cwnd, delivered: 0, sent_segments: 0, last: None }
    }

    /// Notes an ACK that delivered `newly` bytes and left `pipe` bytes in flight. `clean`: the
    /// cumulative acknowledgement moved and no more loss was found, so the repair makes progress
    /// and may speed up. An ACK that delivered nothing moves nothing.
    pub fn on_delivered(&mut self, newly: u64, pipe: u64, clean: bool) {
        if newly > 0 {
            self.delivered += newly;
            let ack = PrrAck { pipe, newly, total: self.delivered, sent: 0, clean };
            self.last = Some((ack, self.sent_segments));
        }
    }

    /// Notes segments sent, new or again. A short one counts as a whole (`prr_out`).
    pub fn on_sent(&mut self, segments: u64) {
        self.sent_segments += segments;
    }

    /// The window in force since the last ACK, bytes.
    pub fn window(&self, ssthresh: u64, mss: u64) -> u64 {
        self.last.map_or(self.prior_cwnd, |(ack, segments)| {
            let ack = PrrAck { sent: segments * mss, ..ack };
            ack.pipe + quota(&ack, ssthresh, self.prior_cwnd, mss)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Prr;

    const MSS: u64 = 1000;

    /// RFC 6937 §4, figure 1, in segments: window 20, `ssthresh` 10, segment 1 lost; every SACK
    /// delivers one. With the fast retransmit out, one segment may go for every two delivered.
    #[test]
    fn one_loss_halves_the_rate_of_sending() {
        let mut prr = Prr::new(20 * MSS);
        // 20 outstanding; three SACKs and one loss leave 16 in flight.
        let mut pipe = 16 * MSS;
        let mut sent = Vec::new();
        prr.on_delivered(MSS, pipe, false);
        for _ in 0..12 {
            let allowed = prr.window(10 * MSS, MSS).saturating_sub(pipe) / MSS;
            sent.push(allowed);
            prr.on_sent(allowed);
            pipe += allowed * MSS;
            pipe -= MSS;
            prr.on_delivered(MSS, pipe, false);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
        // Twelve left, six went: what is in flight has met the threshold.
        assert_eq!(pipe, 10 * MSS);
    }

    #[test]
    fn heavy_loss_is_repaired_by_what_is_delivered_and_faster_on_clean_progress() {
        // 20 outstanding, 15 lost: 1 in flight after four SACKs; ssthresh 10.
        let mut prr = Prr::new(20 * MSS);
        prr.on_delivered(4 * MSS, MSS, false);
        // The window grows by the delivered bytes, not by the whole room of 9.
        assert_eq!(prr.window(10 * MSS, MSS), 5 * MSS);
        prr.on_sent(4);
        // The next ACK moves on without new loss: one delivered, one extra.
        prr.on_delivered(MSS, 4 * MSS, true);
        assert_eq!(prr.window(10 * MSS, MSS), 6 * MSS);
    }

    #[test]
    fn an_ack_that_delivers_nothing_leaves_the_window() {
        let mut prr = Prr::new(20 * MSS);
        assert_eq!(prr.window(10 * MSS, MSS), 20 * MSS);
        prr.on_delivered(MSS, 16 * MSS, false);
        let window = prr.window(10 * MSS, MSS);
        prr.on_delivered(0, 10 * MSS, true);
        assert_eq!(prr.window(10 * MSS, MSS), window);
    }
}
