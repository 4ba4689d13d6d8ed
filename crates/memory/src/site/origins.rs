//! The gateways whose samples are held apart.

/// Gateways by their place in a list; the own one is the first.
#[derive(Clone, Debug)]
pub(super) struct Origins(Vec<u32>);

impl Origins {
    /// The place of the gateway itself.
    pub(super) const OWN: u8 = 0;
    /// Gateways at most.
    const MOST: usize = 64;

    pub(super) fn new(own: u32) -> Self {
        Self(vec![own])
    }

    /// The place of a gateway, which is given one if it has none; `None` if there are too many.
    pub(super) fn place_of(&mut self, number: u32) -> Option<u8> {
        let known = self.0.iter().position(|known| *known == number);
        let place = known.unwrap_or(self.0.len());
        if place >= Self::MOST {
            return None;
        }
        if known.is_none() {
            self.0.push(number);
        }
        u8::try_from(place).ok()
    }

    pub(super) fn number_of(&self, place: u8) -> u32 {
        self.0.get(usize::from(place)).copied().unwrap_or_default()
    }

    pub(super) fn places(&self) -> impl Iterator<Item = u8> {
        0..self.0.len().min(Self::MOST) as u8
    }
}
