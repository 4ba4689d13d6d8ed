//! A request that is large enough to wait for windows and losses: its time has causes, like that of
//! a response.

use super::{Side, TracedConnection};
use crate::transfer::{Passage, PassingData, TransferMeter};
use crate::vantage::Vantage;
use capture::Observed;
use units::Instant;

impl TracedConnection {
    /// Handles new data of the client, whose sender is rebuilt.
    pub(super) fn on_upload(&mut self, side: Side, segment: &Observed, data: PassingData) {
        let at_receiver = self.place.vantage == Vantage::Server;
        let usual = self.place.to_client;
        let half = &mut self.halves[side];
        let delay = if at_receiver { half.delay(segment, usual) } else { None };
        let Some(sender) = half.sender.as_deref_mut() else { return };
        let state = sender.state(segment.at);
        let upload =
            self.upload.get_or_insert_with(|| Box::new(TransferMeter::new(segment.at, false)));
        let _ = upload.on_passage(segment.at, Passage::Response(data), Some(state));
        if at_receiver {
            upload.on_arrival(segment.at, segment.payload.into(), delay);
        }
    }

    /// Handles another event of the client's sender.
    pub(super) fn pass_upload(&mut self, side: Side, at: Instant, passage: Passage) {
        let Some(upload) = &mut self.upload else { return };
        let state = self.halves[side].sender.as_deref_mut().map(|sender| sender.state(at));
        let _ = upload.on_passage(at, passage, state);
    }

    /// Ends the request: the server begins to answer, or never will.
    pub(super) fn end_upload(&mut self) {
        if let Some(upload) = self.upload.take() {
            self.meter.note_upload(upload.under_way());
        }
    }
}
