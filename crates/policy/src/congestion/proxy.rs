//! Additive increase and multiplicative decrease for several clients behind one host: as many TCPs
//! as there are clients would do it together (Balakrishnan et al. 1998 §5.5).
//!
//! The window grows by a segment per round trip for each of n clients. A loss, which would have
//! halved the window of one client, removes half of an n-th. So does the loss of another client in
//! the same window of data, because each would have halved its own: "the window apportioned to the
//! other connection remains unchanged". If all lose, half is left. One client is Reno.

use super::reno::{HALVE, ROUND};
use super::{
    CongestionControl, CongestionEvent, ControllerCapabilities, ControllerDescriptor, Halve,
    LoweredWindow,
};
use crate::ack::AckSample;
use crate::registry::values::some_segments;
use crate::registry::{Make, Parameter};
use crate::window::{Cause, Window};

/// TCP-INT's controller for a proxy.
pub static PROXY: ControllerDescriptor = ControllerDescriptor::new(
    "proxy",
    "the window of as many TCPs as there are clients behind the host",
    "Balakrishnan et al. 1998 §5.5",
    Make::Alone(&|setup| {
        let (halve, whole_segments) = (setup.get(&HALVE), setup.get(&ROUND));
        Box::new(Proxy::new(halve, whole_segments, setup.get(&CLIENTS)))
    }),
)
.with(&[&HALVE, &ROUND, &CLIENTS]);

static CLIENTS: Parameter<Option<u32>> = Parameter::or(
    "clients",
    ("number", some_segments),
    None,
    "proxy: clients behind the host (default: as the application says)",
);

/// Congestion control of a path to a proxy.
#[derive(Clone, Copy, Debug)]
pub struct Proxy {
    /// The bytes of which a loss removes a part.
    pub halve: Halve,
    /// Round the threshold down to whole segments, as senders that count segments do.
    pub whole_segments: bool,
    /// Clients behind the other host, at least one; `None`: the number follows the path's members.
    fixed: Option<u32>,
}

impl Proxy {
    /// The number of clients; `None`: the number that the window serves.
    pub fn new(halve: Halve, whole_segments: bool, clients: Option<u32>) -> Self {
        Self { halve, whole_segments, fixed: clients.map(|number| number.max(1)) }
    }

    fn clients(&self, window: &Window) -> u64 {
        self.fixed.unwrap_or(window.clients()).into()
    }

    /// `1 - k / 2n` of what was in use before the first of the losses of k clients.
    fn reduced_window(&self, window: &Window, event: &CongestionEvent) -> u64 {
        let base = match self.halve {
            Halve::FlightSize => event.flight_size,
            Halve::Window => event.usable_window,
        };
        let clients = self.clients(window);
        let losing = u64::from(event.losing_clients).min(clients);
        // Clients that have joined since do not restore what a loss removed.
        (base - base * losing / (2 * clients)).min(window.cwnd())
    }
}

impl CongestionControl for Proxy {
    fn capabilities(&self) -> ControllerCapabilities {
        ControllerCapabilities { reduces_by_client: true, ..Default::default() }
    }

    fn on_ack(&mut self, window: &mut Window, _: &AckSample) {
        let mss = window.mss();
        window.grow_by_fraction(mss * mss * self.clients(window), Cause::Avoidance);
    }

    fn on_congestion(&mut self, window: &Window, event: &CongestionEvent) -> LoweredWindow {
        let reduced = self.reduced_window(window, event);
        match self.whole_segments {
            true => LoweredWindow::whole_segments(reduced, window.mss()),
            false => LoweredWindow::to(reduced),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Instant;

    fn event(window: u64) -> CongestionEvent {
        CongestionEvent {
            now: Instant::ZERO,
            flight_size: window,
            usable_window: window,
            timeout: false,
            repeated: false,
            losing_clients: 1,
        }
    }

    #[test]
    fn a_loss_takes_half_of_the_window_of_one_client() {
        // The paper's example (§5.5): two clients, 8 KB; the loss of one costs 2 KB, 6 KB are left.
        let mut window = Window::new(1024, 8192, u64::MAX, false);
        let mut proxy = Proxy::new(Halve::Window, false, None);
        window.set_clients(2);
        assert_eq!(proxy.on_congestion(&window, &event(8192)), LoweredWindow::to(6144));
        // One client: a half. Four: an eighth.
        for (clients, left) in [(1, 4096), (4, 7168)] {
            window.set_clients(clients);
            assert_eq!(proxy.on_congestion(&window, &event(8192)), LoweredWindow::to(left));
        }
    }

    /// Each of two clients has 4 KB of 8 KB and halves them, as independent TCPs would (§5.5). More
    /// losers than clients cost no more than half.
    #[test]
    fn each_loser_of_one_window_takes_half_of_its_own_part() {
        let mut window = Window::new(1024, 8192, u64::MAX, false);
        let mut proxy = Proxy::new(Halve::Window, false, None);
        let losing = |losing_clients| CongestionEvent { losing_clients, ..event(8192) };
        for (clients, losers, left) in [(2, 2, 4096), (4, 2, 6144), (4, 3, 5120), (2, 3, 4096)] {
            window.set_clients(clients);
            assert_eq!(proxy.on_congestion(&window, &losing(losers)), LoweredWindow::to(left));
        }
        // One client has halved 8 KB. Two losers among the four clients now would leave 6 KB.
        window.set_cwnd(4096, Cause::Loss);
        window.set_clients(4);
        assert_eq!(proxy.on_congestion(&window, &losing(2)), LoweredWindow::to(4096));
    }

    #[test]
    fn a_given_number_of_clients_stays() {
        let mut window = Window::new(1024, 8192, u64::MAX, false);
        let mut proxy = Proxy::new(Halve::Window, false, Some(2));
        window.set_clients(7);
        assert_eq!(proxy.on_congestion(&window, &event(8192)), LoweredWindow::to(6144));
    }
}
