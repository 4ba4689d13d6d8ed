//! Additive increase and multiplicative decrease for several clients behind one host: as many TCPs
//! as there are clients would do it together (Balakrishnan et al. 1998 §5.5).
//!
//! The window grows by a segment per round trip for each of n clients, and a loss, which would have
//! halved the window of one, takes away half of an n-th. So does the loss of another client in the
//! same window of data: each would have halved its own. One client is Reno.

use super::reno::{HALVE, ROUND};
use super::{CongestionControl, CongestionEvent, ControllerDescriptor, Halve};
use crate::ack::AckSample;
use crate::registry::values::some_segments;
use crate::registry::{Make, Parameter};
use crate::window::{Cause, Window};

/// TCP-INT's controller for a proxy.
pub static PROXY: ControllerDescriptor = ControllerDescriptor::new(
    "proxy",
    "the window of as many TCPs as there are clients behind the host",
    "Balakrishnan et al. 1998 §5.5",
    Make::Alone(|setup| {
        let (halve, whole_segments) = (setup.get(&HALVE), setup.get(&ROUND));
        Box::new(Proxy::new(halve, whole_segments, setup.get(&CLIENTS)))
    }),
)
.with(&[&HALVE, &ROUND, &CLIENTS]);

static CLIENTS: Parameter<Option<u32>> = Parameter::or(
    "clients",
    ("number", some_segments),
    None,
    "proxy: clients behind the host (default: told)",
);

/// Congestion control of a path to a proxy.
#[derive(Clone, Copy, Debug)]
pub struct Proxy {
    /// What a loss takes its part of.
    pub halve: Halve,
    /// Round the threshold down to whole segments, as senders that count segments do.
    pub whole_segments: bool,
    /// Clients behind the other host, at least one.
    clients: u32,
    /// The number is given and does not follow the members of the path.
    fixed: bool,
}

impl Proxy {
    /// For so many clients; `None`: for those that the path is told of.
    pub fn new(halve: Halve, whole_segments: bool, clients: Option<u32>) -> Self {
        let number = clients.unwrap_or(1).max(1);
        Self { halve, whole_segments, clients: number, fixed: clients.is_some() }
    }

    /// `1 - 1 / 2n` of what is in use.
    fn reduced(&self, event: &CongestionEvent) -> u64 {
        let base = match self.halve {
            Halve::FlightSize => event.flight_size,
            Halve::Window => event.usable_window,
        };
        base - base / (2 * u64::from(self.clients))
    }
}

impl CongestionControl for Proxy {
    fn on_ack(&mut self, window: &mut Window, _: &AckSample) {
        let mss = window.mss();
        window.grow_by_fraction(mss * mss * u64::from(self.clients), Cause::Avoidance);
    }

    fn on_congestion(&mut self, window: &Window, event: &CongestionEvent) -> u64 {
        let reduced = self.reduced(event);
        if self.whole_segments { reduced / window.mss() * window.mss() } else { reduced }
    }

    fn exact_reduction(&self, event: &CongestionEvent) -> Option<u64> {
        self.whole_segments.then(|| self.reduced(event))
    }

    fn reduces_by_client(&self) -> bool {
        true
    }

    fn set_clients(&mut self, clients: u32) {
        if !self.fixed {
            self.clients = clients.max(1);
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
        }
    }

    #[test]
    fn a_loss_takes_half_of_the_window_of_one_client() {
        // The paper's example (§5.5): two clients, 8 KB; the loss of one costs 2 KB, 6 KB are left.
        let window = Window::new(1024, 8192, u64::MAX, false);
        let mut proxy = Proxy::new(Halve::Window, false, None);
        proxy.set_clients(2);
        assert_eq!(proxy.on_congestion(&window, &event(8192)), 6144);
        // One client: a half. Four: an eighth.
        for (clients, left) in [(1, 4096), (4, 7168)] {
            proxy.set_clients(clients);
            assert_eq!(proxy.on_congestion(&window, &event(8192)), left);
        }
    }

    #[test]
    fn a_given_number_of_clients_stays() {
        let window = Window::new(1024, 8192, u64::MAX, false);
        let mut proxy = Proxy::new(Halve::Window, false, Some(2));
        proxy.set_clients(7);
        assert_eq!(proxy.on_congestion(&window, &event(8192)), 6144);
    }
}
