//! The gateways whose samples are held apart.

use super::kept::Tick;

/// Gateways by their slot in a list; the own one is the first.
#[derive(Clone, Debug)]
pub(super) struct Origins {
    gateways: Vec<OtherGateway>,
    /// Records of gateways for which there was no slot.
    pub(super) unplaced: u64,
}

/// A gateway, and the time of the newest sample in its records.
#[derive(Clone, Copy, Debug)]
struct OtherGateway {
    number: u32,
    newest: Tick,
}

impl Origins {
    /// The slot of the gateway itself.
    pub(super) const OWN: u8 = 0;
    /// Gateways at most. Chosen, not measured.
    const MAX_GATEWAYS: usize = 64;

    pub(super) fn new(own: u32) -> Self {
        Self { gateways: vec![OtherGateway { number: own, newest: Tick::default() }], unplaced: 0 }
    }

    /// Returns the slot of a gateway with a sample of `newest_at`. It gets one if it has none;
    /// `None` if all are taken.
    pub(super) fn place_of(&mut self, number: u32, newest_at: Tick) -> Option<u8> {
        let known = self.gateways.iter().position(|gateway| gateway.number == number);
        if known.is_none() && self.gateways.len() >= Self::MAX_GATEWAYS {
            return None;
        }
        let place = known.unwrap_or(self.gateways.len());
        match self.gateways.get_mut(place) {
            Some(gateway) => gateway.newest = gateway.newest.max(newest_at),
            None => self.gateways.push(OtherGateway { number, newest: newest_at }),
        }
        u8::try_from(place).ok()
    }

    /// Returns the slot of the gateway that has been silent for longest, if its newest sample was
    /// taken more than `max_age` steps before `newest_at`.
    pub(super) fn silent(&self, newest_at: Tick, max_age: u32) -> Option<u8> {
        let others = self.gateways.iter().enumerate().skip(1);
        let (place, silent) = others.min_by_key(|(_, gateway)| gateway.newest)?;
        let is_over = silent.newest.0.saturating_add(max_age) < newest_at.0;
        is_over.then_some(u8::try_from(place).ok()?)
    }

    /// Gives a slot, without any samples now, to another gateway.
    pub(super) fn replace(&mut self, place: u8, number: u32, newest_at: Tick) {
        if let Some(gateway) = self.gateways.get_mut(usize::from(place)) {
            *gateway = OtherGateway { number, newest: newest_at };
        }
    }

    pub(super) fn number_of(&self, place: u8) -> u32 {
        self.gateways.get(usize::from(place)).map_or(0, |gateway| gateway.number)
    }

    pub(super) fn places(&self) -> impl Iterator<Item = u8> {
        0..self.gateways.len().min(Self::MAX_GATEWAYS) as u8
    }
}
