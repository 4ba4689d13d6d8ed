//! Reports the segments on the emulated link to the race's watch, in the form of the simulator's
//! reports on its own link.

#[cfg(test)]
mod tests;

use emulator::{Direction, PacketFate, SegmentEnd, SegmentSink};
use race::{LinkStep, LinkWatch, SeenAtLink, Way};
use std::sync::mpsc::{Receiver, channel};
use units::Instant;

/// Segments whose way has ended, in the order of their ends.
#[derive(Debug)]
pub(crate) struct EndedSegments(Receiver<SegmentEnd>);

impl EndedSegments {
    /// Returns the sink of segments, and the receiver that has them when the emulation is over.
    pub(crate) fn begin() -> (SegmentSink, Self) {
        let (sender, receiver) = channel();
        // The receiver is gone only where the world has failed.
        (Box::new(move |end| drop(sender.send(end))), Self(receiver))
    }

    /// Returns all link events of the segments, in the order of time. The senders of the reports
    /// have to be dropped first.
    pub(crate) fn link_watch(self, queues: bool) -> LinkWatch {
        let ends: Vec<SegmentEnd> = self.0.into_iter().collect();
        let mut steps: Vec<SegmentStep<'_>> = ends.iter().flat_map(steps).collect();
        steps.sort_by_key(|step| step.at);
        let mut watch = LinkWatch::new(queues);
        for SegmentStep { at, step, end } in steps {
            let SegmentEnd { direction, record, packet } = end;
            let (way, client) = match direction {
                Direction::Down => (Way::Down, packet.destination),
                Direction::Up => (Way::Up, packet.source),
            };
            let seen = SeenAtLink { at, way, step };
            watch.on_packet(seen, record.info.bytes);
            watch.on_segment(seen, client.port(), &packet.segment);
        }
        watch
    }
}

/// A step of a segment.
struct SegmentStep<'a> {
    at: Instant,
    step: LinkStep,
    end: &'a SegmentEnd,
}

/// Steps of a segment on its way, in order.
fn steps(end: &SegmentEnd) -> impl Iterator<Item = SegmentStep<'_>> {
    let record = &end.record;
    let (arrived, left) = (record.arrived, record.left);
    let steps = match record.fate {
        PacketFate::Dropped => vec![(arrived, LinkStep::Drop)],
        PacketFate::Discarded => vec![(arrived, LinkStep::Enter), (left, LinkStep::Discard)],
        PacketFate::Lost => {
            vec![(arrived, LinkStep::Enter), (left, LinkStep::Leave), (left, LinkStep::Lose)]
        }
        PacketFate::Delivered => {
            let there = record.delivered.unwrap_or(left);
            vec![(arrived, LinkStep::Enter), (left, LinkStep::Leave), (there, LinkStep::Arrive)]
        }
    };
    steps.into_iter().map(move |(at, step)| SegmentStep { at, step, end })
}
