//! Data before the handshake has ended: the decision if it may leave, and the Fast Open options of
//! the SYNs.

use crate::fast_open::SynExchange;

/// Early data of one connection.
#[derive(Debug, Default)]
pub(super) struct EarlyData {
    is_allowed: bool,
    until: u64,
    /// Only where the scheme has Fast Open.
    exchange: Option<Box<SynExchange>>,
}

impl EarlyData {
    /// Data may leave with the SYN, or be taken from one.
    pub(super) const fn is_allowed(&self) -> bool {
        self.is_allowed
    }

    /// Data may leave with the SYN, or be taken from one, or not.
    pub(super) const fn allow(&mut self, is_allowed: bool) {
        self.is_allowed = is_allowed;
    }

    /// End of the data that left with our SYN.
    pub(super) const fn until(&self) -> u64 {
        self.until
    }

    /// Our SYN has left, and takes all up to `end` along.
    pub(super) const fn note_syn(&mut self, end: u64) {
        self.until = end;
    }

    /// Begins the exchange of Fast Open.
    pub(super) fn begin_exchange(&mut self, exchange: SynExchange) {
        self.exchange = Some(Box::new(exchange));
    }

    /// Returns the exchange of Fast Open.
    pub(super) fn exchange(&self) -> Option<&SynExchange> {
        self.exchange.as_deref()
    }

    /// The same, to be added to.
    pub(super) fn exchange_mut(&mut self) -> Option<&mut SynExchange> {
        self.exchange.as_deref_mut()
    }

    /// Takes the exchange of Fast Open.
    pub(super) fn take_exchange(&mut self) -> Option<SynExchange> {
        self.exchange.take().map(|exchange| *exchange)
    }
}
