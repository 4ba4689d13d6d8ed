//! Which connections of the table are folded: a limited number is not, and beyond it those that were longest without a
//! packet are, give or take [`TOUCH_EVERY`](super::TOUCH_EVERY).

use super::{ConnectionTable, Kept, List};
use crate::connection::Digesting;
use crate::profile::SenderModels;
use crate::sink::TraceSink;

impl ConnectionTable {
    /// Connections that are not folded and may be.
    #[inline]
    pub(crate) const fn unfolded(&self) -> usize {
        self.unfolded
    }

    /// The connection at a place is folded.
    #[inline]
    pub(crate) fn is_folded(&self, place: u32) -> bool {
        matches!(self.places[place as usize].kept, Kept::Folded(_))
    }

    /// Unfolds the connection at a place, whose next packet comes.
    #[cold]
    pub(crate) fn unfold(&mut self, place: u32, models: &SenderModels) {
        let kept = &mut self.places[place as usize].kept;
        if let Kept::Folded(folded) = kept {
            *kept = Kept::Unfolded(folded.unfold(models));
            self.may_fold(place);
        }
    }

    /// Folds the connection that was longest without a packet. False if one of its policies cannot be folded: it stays as it
    /// is, and is not tried again before it is parked.
    #[cold]
    pub(crate) fn fold_oldest(&mut self, models: &SenderModels) -> bool {
        let place = self.lists[List::Unfolded as usize].oldest;
        self.may_not_fold(place);
        self.fold(place, models)
    }

    fn fold(&mut self, place: u32, models: &SenderModels) -> bool {
        let Self { places, room, .. } = self;
        let Some(place) = places.get_mut(place as usize) else { return true };
        let Some(connection) = place.kept.unfolded() else { return true };
        match connection.folded(models, room) {
            Some(folded) => {
                place.kept = Kept::Folded(folded);
                true
            }
            None => false,
        }
    }

    /// Parks the connection at a place; true if it is over instead. One that was folded is again afterwards.
    pub(super) fn park<S: TraceSink>(&mut self, place: u32, with: &mut Digesting<'_, S>) -> bool {
        let models = &with.config.models;
        let was_folded = self.is_folded(place);
        if let Kept::Folded(folded) = &self.places[place as usize].kept {
            self.places[place as usize].kept = Kept::Unfolded(folded.unfold(models));
        }
        let Some(connection) = self.at(place) else { return false };
        if connection.is_over {
            return true;
        }
        connection.park(with);
        if !was_folded || !self.fold(place, models) {
            self.may_fold(place);
        }
        false
    }

    /// The connection at a place is not folded, and is the latest of those.
    pub(super) fn may_fold(&mut self, place: u32) {
        if !std::mem::replace(&mut self.places[place as usize].may_fold, true) {
            self.unfolded += 1;
            self.link_newest(place, List::Unfolded);
        }
    }

    /// The connection at a place is folded, or gone, or cannot be folded.
    pub(super) fn may_not_fold(&mut self, place: u32) {
        let Some(known) = self.places.get_mut(place as usize) else { return };
        if std::mem::take(&mut known.may_fold) {
            self.unfolded -= 1;
            self.unlink(place, List::Unfolded);
        }
    }
}
