//! The option of the next segment for a performance gateway on the way.

use crate::segment::Performance;

/// The option that waits for a segment, and the payload that it costs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GatewayOption {
    option: Option<Performance>,
    /// Bytes of payload.
    cost: u8,
}

impl GatewayOption {
    /// An option waits; `costs`: options take their bytes from the payload.
    pub(super) const fn set_pending(&mut self, option: Performance, costs: bool) {
        self.option = Some(option);
        self.cost = if costs { Performance::WIRE_BYTES as u8 } else { 0 };
    }

    /// An option waits.
    #[inline(always)]
    pub(super) const fn is_waiting(&self) -> bool {
        self.option.is_some()
    }

    /// Bytes of payload that it costs the next segment.
    #[inline(always)]
    pub(super) fn cost(&self) -> u64 {
        self.cost.into()
    }

    /// Takes the option that waits.
    pub(super) const fn take(&mut self) -> Option<Performance> {
        self.cost = 0;
        self.option.take()
    }
}
