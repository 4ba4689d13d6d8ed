use super::*;
use units::Duration;

const KB: u64 = 1024;

fn builtin(name: &str) -> Page {
    Page::builtin(name).unwrap_or_else(|| panic!("{name} is built in"))
}

#[test]
fn the_papers_pages_have_the_sizes_added_up_by_hand() {
    // Kilobytes of HTML, of everything, and objects:
    // - text 29; 29 + 7+10+13 = 59; 4
    // - map 5; 5 + 1+2+3+67 = 78; 5
    // - graphics 7; 7 + (3*1 + 3*2 + 3*3) + (9+10+11+12) = 7 + 18 + 42 = 67; 14
    // - frames 1+1+2+2+7+83 = 96; 96 + (1+1+1+2+2) + (1+1+2+2+2+3+3+3+3) + (5+7+9+12+14+17+19)
    //   = 96 + 7 + 20 + 83 = 206; 6 + 5 + 9 + 7 = 27
    // - java 8; 8 + (4*1 + 3*2 + 4+7+11) + (5*1 + 5*2 + 4*3 + 4+5+6+7+9+10+12+13+15+17+18)
    //   = 8 + 32 + (27 + 116) = 183; 1 + 10 + 25 = 36
    //
    // In packets of 512 bytes these are the totals of the ns-2 runs: 118, 156, 134, 412, 366.
    let expected = [
        ("text", 29, 59, 4),
        ("map", 5, 78, 5),
        ("graphics", 7, 67, 14),
        ("frames", 96, 206, 27),
        ("java", 8, 183, 36),
    ];
    for (name, html, total, objects) in expected {
        let page = builtin(name);
        assert_eq!(page.body_bytes_of(ObjectKind::Html), html * KB, "{name}");
        assert_eq!(page.response_bytes(), total * KB, "{name}");
        assert_eq!(page.objects().len(), objects, "{name}");
    }
}

/// Bodies of the graphics page: 7 KB, nine images of 1 to 3 and four of 9 to 12.
#[test]
fn sizes_order_and_kilobytes_of_the_papers_pages_by_hand() {
    let model = RequestModel {
        small: ObjectSizes::Middle,
        medium: ObjectSizes::Middle,
        order: RequestOrder::Reversed,
        kilobyte: Kilobyte::Decimal,
        ..RequestModel::default()
    };
    let bodies = |name, model| -> Vec<u64> {
        let page = Page::builtin_with(name, model).unwrap();
        page.objects().iter().map(|object| object.body_bytes).collect()
    };
    // The middle of 9 and 12 is 10.5, that of 1 and 3 is 2; large ones come first.
    let expected = [[7_000].as_slice(), &[10_500; 4], &[2_000; 9]].concat();
    assert_eq!(bodies("graphics", model), expected);
    // A frame set of 1 to 2 KB keeps its parts in order: three of 1 to 2, one of 7, one of 83. The
    // images that the part of 83 names follow, and last of all the five that the part of 7 names.
    let largest = RequestModel { small: ObjectSizes::Largest, ..model };
    let kilobytes = |images: &[u64]| -> Vec<u64> {
        [&[2, 2, 2, 2, 7, 83], images].concat().iter().map(|kb| kb * 1_000).collect()
    };
    // Medium ones stay at the middle of 5 and 19.
    let images = [[12; 7].as_slice(), &[3; 9], &[3; 5]].concat();
    assert_eq!(bodies("frames", largest), kilobytes(&images));
}

#[test]
fn a_frame_sets_images_are_named_where_the_model_says() {
    // Parents of the frame set's five parts, then of its 21 images.
    let parents = |naming| -> Vec<u32> {
        let page = Page::builtin_with("frames", RequestModel { naming, ..RequestModel::default() });
        let parent = |object: &Object| match object.discovery {
            Discovery::InBody { parent, .. } => parent.0,
            Discovery::AtStart => panic!("the root alone is asked for at the start"),
        };
        page.unwrap().objects()[1..].iter().map(parent).collect()
    };
    assert_eq!(parents(NamingPart::Frames), [[0; 5].as_slice(), &[4; 5], &[5; 16]].concat());
    assert_eq!(parents(NamingPart::Largest), [[0; 5].as_slice(), &[5; 21]].concat());
    assert_eq!(parents(NamingPart::Root), [0; 26]);
}

#[test]
fn the_papers_pages_are_of_their_time() {
    for name in ["text", "map", "graphics", "frames", "java"] {
        let page = builtin(name);
        let [host] = page.hosts() else { panic!("{name}: one host serves all") };
        assert_eq!((host.http, host.tls), (Http::Http10, Tls::None));
        assert_eq!(host.http10_connections, PageHost::UNLIMITED);
        for object in page.objects() {
            assert_eq!((object.request_bytes, object.response_header_bytes), (0, 0));
            assert!(object.server_wait.is_zero());
        }
    }
}

/// Objects of the papers' pages are sent without a request, and get no body of one.
#[test]
fn a_body_is_added_to_what_is_requested() {
    let page = Page::single(1);
    let before = page.objects()[0].request_bytes;
    let with_body = page.with_request_bodies(1_000_000).unwrap();
    assert_eq!(with_body.objects()[0].request_bytes, before + 1_000_000);
    let pushed = builtin("text").with_request_bodies(1_000_000).unwrap();
    assert!(pushed.objects().iter().all(|object| object.request_bytes == 0));
    assert_eq!(Page::single(1).with_request_bodies(u64::MAX), Err(PageError::TooLarge));
}

/// Where each embedded object of the text page (29 KB = 29,696 bytes, three images) is found.
fn offsets_in_text(timing: RequestTiming) -> Vec<Discovery> {
    let model = RequestModel { timing, ..RequestModel::default() };
    let page = Page::builtin_with("text", model).unwrap();
    page.objects()[1..].iter().map(|o| o.discovery).collect()
}

fn in_root(offset: u64) -> Discovery {
    Discovery::InBody { parent: ObjectId::ROOT, offset, delay: Duration::ZERO }
}

#[test]
fn request_models_place_objects_in_their_html() {
    assert_eq!(offsets_in_text(RequestTiming::FirstSegment), [in_root(1); 3]);
    // Quarters of 29,696.
    let quarters = [in_root(7_424), in_root(14_848), in_root(22_272)];
    assert_eq!(offsets_in_text(RequestTiming::EvenlySpread), quarters);
    assert_eq!(offsets_in_text(RequestTiming::AtEnd), [in_root(29_696); 3]);
    assert_eq!(offsets_in_text(RequestTiming::AllAtOnce), [Discovery::AtStart; 3]);
}

#[test]
fn a_round_trip_per_request_is_bytes_to_send() {
    let model = RequestModel { round_trip: true, ..RequestModel::default() };
    let page = Page::builtin_with("map", model).unwrap();
    assert!(page.objects().iter().all(|o| o.request_bytes > 0));
}

#[test]
fn images_of_frames_are_found_in_the_part_that_names_them() {
    let page = builtin("frames");
    let children = |part| page.children(ObjectId(part)).len();
    // The frame set names five parts; the 7 KB part five images, the 83 KB part sixteen.
    assert_eq!([0, 1, 2, 3, 4, 5].map(children), [5, 0, 0, 0, 5, 16]);
    assert_eq!(page.object(ObjectId(4)).body_bytes, 7 * KB);
    assert_eq!(page.object(ObjectId(5)).body_bytes, 83 * KB);
}

#[test]
fn the_news_page_has_the_shape_it_claims() {
    let page = builtin("news");
    assert_eq!(page.objects().len(), 40);
    assert_eq!(page.hosts().len(), 3);
    assert!(page.hosts().iter().all(|h| (h.http, h.tls) == (Http::Http2, Tls::Tls13)));
    let kilobytes = |kind| page.body_bytes_of(kind) / 1000;
    let kinds = [
        ObjectKind::Html,
        ObjectKind::Style,
        ObjectKind::Script,
        ObjectKind::Font,
        ObjectKind::Data,
        ObjectKind::Image,
    ];
    assert_eq!(kinds.map(kilobytes), [24, 38, 310, 62, 27, 736]);
    // 1,200 kB of bodies with the 3 kB of others; headers of 2 * 180 and 39 * 180 bytes.
    assert_eq!(page.response_bytes(), 1_200_000 + 41 * 180);
}

#[test]
fn every_builtin_can_be_had_by_its_name_and_nothing_else_can() {
    for listed in BUILTINS {
        let page = builtin(listed.name);
        assert_eq!(page.name(), listed.name);
        assert!(listed.description.len() > 20, "{} is described", listed.name);
    }
    assert_eq!(Page::builtin("nonesuch"), None);
}

fn object(discovery: Discovery) -> Object {
    Object {
        label: String::new(),
        host: HostId(0),
        kind: ObjectKind::Other,
        request_bytes: 100,
        response_header_bytes: 100,
        body_bytes: 1000,
        server_wait: Duration::ZERO,
        discovery,
    }
}

fn page_of(objects: Vec<Object>) -> Result<Page, PageError> {
    Page::new("p", builtin("text").hosts().to_vec(), objects)
}

fn in_body(parent: u32, offset: u64) -> Object {
    object(Discovery::InBody { parent: ObjectId(parent), offset, delay: Duration::ZERO })
}

#[test]
fn what_cannot_be_loaded_is_no_page() {
    let root = || object(Discovery::AtStart);
    assert_eq!(page_of(vec![]), Err(PageError::Empty));
    assert_eq!(page_of(vec![in_body(0, 0)]), Err(PageError::RootIsDiscovered));
    // A parent that is the object itself or a later one would allow circles.
    assert_eq!(page_of(vec![root(), in_body(1, 0)]), Err(PageError::ParentNotBefore(ObjectId(1))));
    assert_eq!(page_of(vec![root(), in_body(9, 0)]), Err(PageError::ParentNotBefore(ObjectId(1))));
    let beyond = page_of(vec![root(), in_body(0, 1001)]);
    assert_eq!(beyond, Err(PageError::OffsetBeyondBody(ObjectId(1))));
    let nowhere = Object { host: HostId(1), ..root() };
    assert_eq!(page_of(vec![nowhere]), Err(PageError::UnknownHost(ObjectId(0))));
    let empty = Object { response_header_bytes: 0, body_bytes: 0, ..root() };
    assert_eq!(page_of(vec![empty]), Err(PageError::EmptyResponse(ObjectId(0))));
    let huge = Object { body_bytes: u64::MAX, ..root() };
    assert_eq!(page_of(vec![huge.clone(), huge]), Err(PageError::TooLarge));
    assert!(page_of(vec![root(), in_body(0, 1000)]).is_ok());
}

#[test]
fn children_are_listed_as_the_bytes_reveal_them() {
    let page = page_of(vec![
        object(Discovery::AtStart),
        in_body(0, 700),
        in_body(0, 20),
        in_body(0, 700),
        in_body(1, 0),
    ]);
    let page = page.unwrap();
    assert_eq!(page.children(ObjectId(0)), [2, 1, 3].map(ObjectId));
    assert_eq!(page.children(ObjectId(1)), [ObjectId(4)]);
}

/// A redirect leads to a document 2 ms later. The document names a script at its 100th byte, which
/// asks for an image after 30 ms.
fn chain() -> Page {
    let object = |label, kind, discovery| Object { discovery, ..Object::plain(label, kind, 500) };
    let by = |parent, offset, ms| Discovery::InBody {
        parent: ObjectId(parent),
        offset,
        delay: Duration::from_millis(ms),
    };
    let objects = vec![
        object("redirect", ObjectKind::Redirect, Discovery::AtStart),
        object("document", ObjectKind::Html, by(0, 500, 2)),
        object("script", ObjectKind::Script, by(1, 100, 0)),
        object("image", ObjectKind::Image, by(2, 500, 30)),
    ];
    let page = Page::new("chain", vec![PageHost::plain("a", Http::Http11)], objects).unwrap();
    let load = [ObjectId(1), ObjectId(2), ObjectId(3)];
    page.with_event(PageMilestone::Load, load).measured_until(PageMilestone::Load)
}

#[test]
fn what_a_missing_object_reveals_is_revealed_by_the_one_before_it() {
    let page = chain();
    let kinds = |page: &Page| page.objects().iter().map(|one| one.kind).collect::<Vec<_>>();
    let discovery = |page: &Page, n: usize| page.objects()[n].discovery;
    let by = |parent, offset, ms| Discovery::InBody {
        parent: ObjectId(parent),
        offset,
        delay: Duration::from_millis(ms),
    };
    let direct = page.without(ObjectId(0)).unwrap();
    assert_eq!(kinds(&direct), [ObjectKind::Html, ObjectKind::Script, ObjectKind::Image]);
    assert_eq!(discovery(&direct, 0), Discovery::AtStart);
    assert_eq!((discovery(&direct, 1), discovery(&direct, 2)), (by(0, 100, 0), by(1, 500, 30)));
    let load =
        |page: &Page| page.ids().map(|id| page.awaits(PageMilestone::Load, id)).collect::<Vec<_>>();
    assert_eq!((direct.until(), load(&direct)), (PageMilestone::Load, vec![true; 3]));
    let without_script = page.without(ObjectId(2)).unwrap();
    assert_eq!(kinds(&without_script)[2], ObjectKind::Image);
    // Where the document named the script, and as long after it as the script took.
    assert_eq!(discovery(&without_script, 2), by(1, 100, 30));
    assert_eq!(load(&without_script), [false, true, true]);
    assert!(page.awaits(PageMilestone::Document, ObjectId(1)));
    assert!(direct.awaits(PageMilestone::Document, ObjectId(0)));
    // A load could wait for no object.
    assert_eq!(Page::single(500).without(ObjectId(0)), None);
}

#[test]
fn addresses_and_ports_are_known_by_their_form() {
    let host = |name| PageHost::plain(name, Http::Http11);
    for (name, without_port, is_address) in [
        ("a.example", "a.example", false),
        ("a.example:8443", "a.example", false),
        ("192.0.2.1:80", "192.0.2.1", true),
        ("[2001:db8::1]", "[2001:db8::1]", true),
        ("[2001:db8::1]:8080", "[2001:db8::1]", true),
    ] {
        let host = host(name);
        assert_eq!((host.name_without_port(), host.is_address()), (without_port, is_address));
    }
}
