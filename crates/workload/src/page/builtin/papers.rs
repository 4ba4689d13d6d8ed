//! The five pages of Ensemble-TCP §4, with sizes inside the paper's ranges.
//!
//! Sizes are whole responses, so headers count nothing. One host serves all of them by HTTP/1.0
//! without thinking. The paper gives ranges of sizes, and says only that a client cannot request
//! embedded objects before it has received "at least part of" the HTML. Sizes, order and time of
//! requests are therefore a [`RequestModel`].

use crate::Http;
use crate::page::{Discovery, Object, ObjectId, ObjectKind, Page, PageHost};
use units::Duration;

/// Size of a request where one is sent: fits one segment, as the paper assumes of requests (§4).
const REQUEST_BYTES: u64 = 300;

/// Time at which the objects named in an HTML part are requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestTiming {
    /// All at the delivery of the part's first segment.
    #[default]
    FirstSegment,
    /// One after another: the i-th of n at the delivery of i / (n + 1) of the part.
    EvenlySpread,
    /// All at the delivery of the whole part.
    AtEnd,
    /// Everything, HTML included, at the start.
    AllAtOnce,
}

/// Sizes of the objects within the paper's ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectSizes {
    /// Whole kilobytes from one end of the range to the other.
    #[default]
    Spread,
    /// All the smallest of the range.
    Smallest,
    /// All the middle of the range.
    Middle,
    /// All the largest of the range.
    Largest,
}

/// Order in which the objects of an HTML part are requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestOrder {
    /// Order of the paper's list: small ones first.
    #[default]
    AsListed,
    /// The other way round: large ones first.
    Reversed,
}

/// HTML part of a frame set that names its images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NamingPart {
    /// The parts of 7 and 83 KB, which are shown beside one another.
    #[default]
    Frames,
    /// The part of 83 KB.
    Largest,
    /// The frame set itself, so that all of a page is named by its root.
    Root,
}

/// Bytes of a kilobyte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kilobyte {
    /// 1024.
    #[default]
    Binary,
    /// 1000.
    Decimal,
}

impl Kilobyte {
    const fn bytes(self) -> u64 {
        match self {
            Self::Binary => 1024,
            Self::Decimal => 1000,
        }
    }
}

/// Requests for the papers' pages. The default agrees best with the paper's sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestModel {
    /// Time at which embedded objects are requested.
    pub timing: RequestTiming,
    /// True if each request is sent over the network; false if the server starts at the instant
    /// of the request.
    pub round_trip: bool,
    /// Time between knowing of an embedded object and the request: the cost of a request where it
    /// is not sent.
    pub delay: Duration,
    /// Sizes of the objects that the paper calls small.
    pub small: ObjectSizes,
    /// Sizes of those that it calls medium.
    pub medium: ObjectSizes,
    /// Order of asking.
    pub order: RequestOrder,
    /// Bytes of a kilobyte.
    pub kilobyte: Kilobyte,
    /// HTML part of a frame set that names its images.
    pub naming: NamingPart,
}

/// Objects of a kind whose sizes the paper gives as one range, and the HTML part that they are
/// found in.
struct FoundIn {
    kind: ObjectKind,
    part: usize,
    range: KilobyteRange,
}

/// The paper's range of sizes, and the sizes that spread over it, in the order of asking.
struct KilobyteRange {
    least: u64,
    most: u64,
    spread: &'static [u64],
}

/// The largest size that the paper calls small, kilobytes.
const MAX_SMALL_KB: u64 = 3;

impl KilobyteRange {
    /// Bytes of each object under a model.
    fn bytes(&self, model: RequestModel) -> Vec<u64> {
        let (kilobyte, count) = (model.kilobyte.bytes(), self.spread.len());
        let sizes = if self.most <= MAX_SMALL_KB { model.small } else { model.medium };
        match sizes {
            ObjectSizes::Spread => self.spread.iter().map(|kb| kb * kilobyte).collect(),
            ObjectSizes::Smallest => vec![self.least * kilobyte; count],
            ObjectSizes::Middle => vec![(self.least + self.most) * kilobyte / 2; count],
            ObjectSizes::Largest => vec![self.most * kilobyte; count],
        }
    }
}

type Ends = (u64, u64);

const fn range((least, most): Ends, spread: &'static [u64]) -> KilobyteRange {
    KilobyteRange { least, most, spread }
}

const fn html(part: usize, ends: Ends, spread: &'static [u64]) -> FoundIn {
    FoundIn { kind: ObjectKind::Html, part, range: range(ends, spread) }
}

const fn found_images(part: usize, ends: Ends, spread: &'static [u64]) -> FoundIn {
    FoundIn { kind: ObjectKind::Image, part, range: range(ends, spread) }
}

const fn classes(part: usize, ends: Ends, spread: &'static [u64]) -> FoundIn {
    FoundIn { kind: ObjectKind::Script, part, range: range(ends, spread) }
}

/// Sizes of the root, then the objects named in each part, in the order of the paper's lists.
fn contents(name: &str) -> Option<(KilobyteRange, &'static [FoundIn])> {
    const TEXT: &[FoundIn] = &[found_images(0, (7, 13), &[7, 10, 13])];
    const MAP: &[FoundIn] =
        &[found_images(0, (1, 3), &[1, 2, 3]), found_images(0, (67, 67), &[67])];
    const GRAPHICS: &[FoundIn] = &[
        found_images(0, (1, 3), &[1, 1, 1, 2, 2, 2, 3, 3, 3]),
        found_images(0, (9, 12), &[9, 10, 11, 12]),
    ];
    // The frame set is object 0 and its parts 1 to 5: part 4 has 7 KB, part 5 has 83 KB.
    const FRAMES: &[FoundIn] = &[
        html(0, (1, 2), &[1, 2, 2]),
        html(0, (7, 7), &[7]),
        html(0, (83, 83), &[83]),
        found_images(4, (1, 3), &[1, 1, 1, 2, 2]),
        found_images(5, (1, 3), &[1, 1, 2, 2, 2, 3, 3, 3, 3]),
        found_images(5, (5, 19), &[5, 7, 9, 12, 14, 17, 19]),
    ];
    const JAVA: &[FoundIn] = &[
        found_images(0, (1, 2), &[1, 1, 1, 1, 2, 2, 2]),
        found_images(0, (4, 11), &[4, 7, 11]),
        classes(0, (1, 3), &[1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3]),
        classes(0, (4, 18), &[4, 5, 6, 7, 9, 10, 12, 13, 15, 17, 18]),
    ];
    match name {
        "text" => Some((range((29, 29), &[29]), TEXT)),
        "map" => Some((range((5, 5), &[5]), MAP)),
        "graphics" => Some((range((7, 7), &[7]), GRAPHICS)),
        "frames" => Some((range((1, 2), &[1]), FRAMES)),
        "java" => Some((range((8, 8), &[8]), JAVA)),
        _ => None,
    }
}

pub(super) fn paper_page(name: &str, model: RequestModel) -> Option<Page> {
    let (root, found) = contents(name)?;
    let embedded = in_order(found, model);
    let root_bytes = root.bytes(model).into_iter().sum();
    let mut objects =
        vec![new_object(format!("{name}/html-0"), ObjectKind::Html, root_bytes, model)];
    for (index, Embedded { part, kind, bytes }) in embedded.iter().enumerate() {
        let in_part = |range: &[Embedded]| range.iter().filter(|e| e.part == *part).count();
        let place = NamePosition {
            part: ObjectId(*part as u32),
            part_bytes: objects[*part].body_bytes,
            nth: in_part(&embedded[..=index]) as u64,
            siblings: in_part(&embedded) as u64,
        };
        let label = format!("{name}/{kind}-{}", index + 1);
        let discovery = place.discovery(model);
        objects.push(Object { discovery, ..new_object(label, *kind, *bytes, model) });
    }
    let host = PageHost::plain(format!("{name}.example"), Http::Http10);
    Page::new(name, vec![host], objects).ok()
}

/// An object that an HTML part names.
struct Embedded {
    part: usize,
    kind: ObjectKind,
    bytes: u64,
}

/// The part that names the objects of a group; only parts of a frame set are not the root.
fn naming_part(group: &FoundIn, model: RequestModel) -> usize {
    const LARGEST: usize = 5;
    match (group.part, model.naming) {
        (0, _) | (_, NamingPart::Root) => 0,
        (part, NamingPart::Frames) => part,
        (_, NamingPart::Largest) => LARGEST,
    }
}

/// All of them in the order of asking. Parts of a frame set keep their positions, for others are
/// found in them.
fn in_order(found: &[FoundIn], model: RequestModel) -> Vec<Embedded> {
    let of_group = |group: &FoundIn| {
        let (part, kind) = (naming_part(group, model), group.kind);
        let all = group.range.bytes(model).into_iter();
        all.map(move |bytes| Embedded { part, kind, bytes }).collect::<Vec<_>>()
    };
    let (mut all, mut others): (Vec<_>, Vec<_>) =
        found.iter().flat_map(of_group).partition(|e| e.kind == ObjectKind::Html);
    if model.order == RequestOrder::Reversed {
        others.reverse();
    }
    all.append(&mut others);
    all
}

fn new_object(label: String, kind: ObjectKind, bytes: u64, model: RequestModel) -> Object {
    Object {
        request_bytes: if model.round_trip { REQUEST_BYTES } else { 0 },
        response_header_bytes: 0,
        ..Object::plain(label, kind, bytes)
    }
}

/// Position of an embedded object's name: the `nth` (from 1) of `siblings` in one part.
struct NamePosition {
    part: ObjectId,
    part_bytes: u64,
    nth: u64,
    siblings: u64,
}

impl NamePosition {
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
