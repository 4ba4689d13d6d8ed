//! Reno as Linux runs it (`tcp_reno_cong_avoid`, `tcp_reno_ssthresh`): whole segments, an ACK
//! counts every segment it touches, and the window itself is halved, not the data outstanding.

use super::{CongestionControl, CongestionEvent, ControllerDescriptor, LoweredWindow};
use crate::ack::AckSample;
use crate::registry::Make;
use crate::window::{Cause, Window};
use arith::window::Credit;

/// Linux' Reno.
pub static LINUX_RENO: ControllerDescriptor = ControllerDescriptor::new(
    "linux-reno",
    "reno as Linux counts it",
    "RFC 5681; Linux 6.x tcp_cong.c",
    Make::Alone(&|_| Box::<LinuxReno>::default()),
);

/// The least threshold, segments.
const LEAST: u64 = 2;

/// One segment more for each window of segments acknowledged, half of them on congestion.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinuxReno {
    credit: Credit,
}

impl CongestionControl for LinuxReno {
    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) {
        if !sample.cwnd_limited {
            return;
        }
        let mss = window.mss();
        let growth = self.credit.add(sample.delivered.div_ceil(mss), window.cwnd() / mss);
        if growth > 0 {
            window.grow(growth * mss, Cause::Avoidance);
        }
    }

    fn on_congestion(&mut self, window: &Window, _: &CongestionEvent) -> LoweredWindow {
        self.credit.clear();
        LoweredWindow::to((window.cwnd() / window.mss() / 2).max(LEAST) * window.mss())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Instant;

    const MSS: u64 = 1000;

    fn acked(segments: u64) -> AckSample {
        AckSample::of(Instant::ZERO, segments * MSS)
    }

    #[test]
    fn acks_of_two_segments_grow_the_window_by_one_in_a_round_trip() {
        let (mut reno, mut window) = (LinuxReno::default(), Window::new(MSS, 10 * MSS, MSS, false));
        // Ten segments by five ACKs of two: the fifth completes a window. RFC 5681's formula (3),
        // applied per ACK, would have added half as much.
        for _ in 0..4 {
            reno.on_ack(&mut window, &acked(2));
        }
        assert_eq!(window.cwnd(), 10 * MSS);
        reno.on_ack(&mut window, &acked(2));
        assert_eq!(window.cwnd(), 11 * MSS);
    }

    #[test]
    fn the_window_is_halved_whatever_is_outstanding() {
        let event = |timeout| CongestionEvent {
            now: Instant::ZERO,
            flight_size: 3 * MSS,
            usable_window: 3 * MSS,
            timeout,
            repeated: false,
            losing_clients: 1,
        };
        let mut reno = LinuxReno::default();
        // 15 / 2 = 7 whole segments; 3 / 2 = 1, but never below 2.
        let of = |segments: u64| Window::new(MSS, segments * MSS, u64::MAX, false);
        assert_eq!(reno.on_congestion(&of(15), &event(false)).ssthresh, 7 * MSS);
        assert_eq!(reno.on_congestion(&of(3), &event(true)).ssthresh, 2 * MSS);
    }
}
