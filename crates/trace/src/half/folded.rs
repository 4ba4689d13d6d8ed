//! One direction in few bytes.

use super::{Half, LateQueue};
use crate::profile::SenderModels;
use crate::sender::{Predictor, RebuiltSender};
use capture::TcpEnd;
use fold::Folding;

impl Half {
    /// Visits all of it; its sender runs what `models` say of one of the connection's `ends`.
    pub(crate) fn fold(
        &mut self,
        folding: &mut Folding<'_>,
        models: &SenderModels,
        ends: &[TcpEnd; 2],
    ) {
        let Self {
            origin,
            high,
            una,
            sent,
            offered,
            syn,
            recent,
            said,
            stamp,
            stamped,
            host,
            sender,
            parked,
            predictor,
            late,
        } = self;
        folding.each(origin).each(high).each(una).each(sent).each(offered).each(syn);
        folding.each(recent).each(said).each(stamp).each(stamped).each(host);
        RebuiltSender::fold_any(sender, folding, models.of(ends[usize::from(*host)].ip));
        folding.each(parked).option(predictor, || Box::new(Predictor::new(0, 0, None)));
        folding.option(late, Box::<LateQueue>::default);
    }
}
