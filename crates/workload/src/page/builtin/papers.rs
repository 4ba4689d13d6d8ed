//! The five pages of Ensemble-TCP §4, with fixed sizes inside the paper's ranges.
//!
//! KB is 1024 bytes; sizes are whole responses, so headers count nothing. One host serves all of
//! them by HTTP/1.0 without thinking. The paper says only that a client cannot ask for embedded
//! objects before "at least part of" the HTML has arrived, so when it asks is a [`RequestModel`].

use crate::Http;
use crate::page::{Discovery, Object, ObjectId, ObjectKind, Page, PageHost};
use units::Duration;

const KB: u64 = 1024;

/// Size of a request where one is sent: fits one segment, as the paper assumes of requests (§4).
const REQUEST_BYTES: u64 = 300;

/// When the objects named in an HTML part are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestTiming {
    /// All as soon as the first segment of the part has arrived.
    #[default]
    FirstSegment,
    /// One after another: the i-th of n when i / (n + 1) of the part has arrived.
    EvenlySpread,
    /// All when the part has arrived whole.
    AtEnd,
    /// Everything, HTML included, at the start.
    AllAtOnce,
}

/// How the papers' pages are asked for. The default agrees best with the paper's sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestModel {
    /// When embedded objects are asked for.
    pub timing: RequestTiming,
    /// True if each request is sent over the network; false if the server starts at the instant
    /// of the request.
    pub round_trip: bool,
    /// Time between knowing of an embedded object and the request: what a request costs where it
    /// is not sent.
    pub delay: Duration,
}

/// An HTML part, or what is found in one.
struct Found {
    kind: ObjectKind,
    /// Index of the part it is found in.
    part: usize,
    kilobytes: &'static [u64],
}

const fn html(part: usize, kilobytes: &'static [u64]) -> Found {
    Found { kind: ObjectKind::Html, part, kilobytes }
}

const fn images(part: usize, kilobytes: &'static [u64]) -> Found {
    Found { kind: ObjectKind::Image, part, kilobytes }
}

const fn classes(part: usize, kilobytes: &'static [u64]) -> Found {
    Found { kind: ObjectKind::Script, part, kilobytes }
}

/// Kilobytes of the root, then what is found in which part, in the order of asking.
fn contents(name: &str) -> Option<(u64, &'static [Found])> {
    const TEXT: &[Found] = &[images(0, &[7, 10, 13])];
    const MAP: &[Found] = &[images(0, &[1, 2, 3, 67])];
    const GRAPHICS: &[Found] = &[images(0, &[1, 1, 1, 2, 2, 2, 3, 3, 3, 9, 10, 11, 12])];
    // The frame set is object 0 and its parts 1 to 5: part 4 has 7 KB, part 5 has 83 KB.
    const FRAMES: &[Found] = &[
        html(0, &[1, 2, 2, 7, 83]),
        images(4, &[1, 1, 1, 2, 2]),
        images(5, &[1, 1, 2, 2, 2, 3, 3, 3, 3, 5, 7, 9, 12, 14, 17, 19]),
    ];
    const JAVA: &[Found] = &[
        images(0, &[1, 1, 1, 1, 2, 2, 2, 4, 7, 11]),
        classes(
            0,
            &[1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 5, 6, 7, 9, 10, 12, 13, 15, 17, 18],
        ),
    ];
    match name {
        "text" => Some((29, TEXT)),
        "map" => Some((5, MAP)),
        "graphics" => Some((7, GRAPHICS)),
        "frames" => Some((1, FRAMES)),
        "java" => Some((8, JAVA)),
        _ => None,
    }
}

pub(super) fn page(name: &str, model: RequestModel) -> Option<Page> {
    let (root_kilobytes, found) = contents(name)?;
    let embedded: Vec<(usize, ObjectKind, u64)> = found
        .iter()
        .flat_map(|group| group.kilobytes.iter().map(|kb| (group.part, group.kind, *kb)))
        .collect();
    let mut objects =
        vec![object(format!("{name}/html-0"), ObjectKind::Html, root_kilobytes, model)];
    for (index, (part, kind, kilobytes)) in embedded.iter().enumerate() {
        let in_part =
            |range: &[(usize, ObjectKind, u64)]| range.iter().filter(|e| e.0 == *part).count();
        let place = Place {
            part: ObjectId(*part as u32),
            part_bytes: objects[*part].body_bytes,
            nth: in_part(&embedded[..=index]) as u64,
            siblings: in_part(&embedded) as u64,
        };
        let label = format!("{name}/{kind}-{}", index + 1);
        let discovery = place.discovery(model);
        objects.push(Object { discovery, ..object(label, *kind, *kilobytes, model) });
    }
    let host = PageHost::plain(format!("{name}.example"), Http::Http10);
    Page::new(name, vec![host], objects).ok()
}

fn object(label: String, kind: ObjectKind, kilobytes: u64, model: RequestModel) -> Object {
    Object {
        request_bytes: if model.round_trip { REQUEST_BYTES } else { 0 },
        response_header_bytes: 0,
        ..Object::plain(label, kind, kilobytes * KB)
    }
}

/// Where an embedded object is named: the `nth` (from 1) of `siblings` in one part.
struct Place {
    part: ObjectId,
    part_bytes: u64,
    nth: u64,
    siblings: u64,
}

impl Place {
    fn discovery(&self, model: RequestModel) -> Discovery {
        let offset = match model.timing {
            RequestTiming::FirstSegment => 1,
            RequestTiming::EvenlySpread => (self.part_bytes * self.nth).div_ceil(self.siblings + 1),
            RequestTiming::AtEnd => self.part_bytes,
            RequestTiming::AllAtOnce => return Discovery::AtStart,
        };
        Discovery::InBody { parent: self.part, offset, delay: model.delay }
    }
}
