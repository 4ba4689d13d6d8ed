//! Bodies that a browser can read: as long as the page's objects, with references to other objects
//! at about the modelled offsets.
//!
//! A document references objects by tags, a style sheet by imports and backgrounds, a script by
//! requests. Data are scripts as well, for a browser waits for these before it says that a page is
//! loaded. Fonts are pictures: it ends the load of a font that it cannot understand. The rest of a
//! body is a comment.

use workload::{Discovery, Object, ObjectId, ObjectKind, Page};

/// Begin of a document. The icon is none. The visible part of the document lies below the first
/// screen. Chromium first requests the pictures on the screen. Since all of ours have one pixel, it
/// would show all of them, in a random order.
const BEGINNING: &str =
    "<!doctype html><link rel=icon href=data:,><body><p style=height:9999px></p>";

/// The object that the browser shows: the first document.
pub(crate) fn main_document(page: &Page) -> Option<ObjectId> {
    page.ids().find(|id| page.object(*id).kind == ObjectKind::Html)
}

/// Resources that a document brings with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resources {
    pub(crate) count: u64,
    /// Bytes of their bodies.
    pub(crate) bytes: u64,
}

/// Objects of the page that are no redirects, and not its document. `bytes` returns the length of a
/// body.
pub(crate) fn resources(page: &Page, bytes: impl Fn(&Object) -> u64) -> Resources {
    let main = main_document(page);
    let ids = page.ids().filter(|id| main != Some(*id));
    let objects = ids.map(|id| page.object(id));
    let objects = objects.filter(|object| object.kind != ObjectKind::Redirect);
    objects.fold(Resources { count: 0, bytes: 0 }, |sum, object| Resources {
        count: sum.count + 1,
        bytes: sum.bytes + bytes(object),
    })
}

/// Returns the reason why a browser cannot load a page; `None` if it can. `bytes` returns the
/// length of a body.
pub(crate) fn unsupported_reason(page: &Page, bytes: impl Fn(&Object) -> u64) -> Option<String> {
    let Some(main) = main_document(page) else {
        return Some("it loads documents and what they name, and the page has none".to_owned());
    };
    let is_way = |id: ObjectId| id < main && page.object(id).kind != ObjectKind::Redirect;
    if let Some(id) = page.ids().find(|id| is_way(*id)) {
        return Some(format!("it shows a document, and {:?} is before it", page.object(id).label));
    }
    page.ids().find_map(|id| {
        let (object, children) = (page.object(id), page.children(id));
        let label = &object.label;
        let names = matches!(
            object.kind,
            ObjectKind::Html
                | ObjectKind::Style
                | ObjectKind::Script
                | ObjectKind::Data
                | ObjectKind::Redirect
        );
        if !children.is_empty() && !names {
            return Some(format!(
                "{label:?} reveals others, and is no document, style sheet, script or data"
            ));
        }
        let least = least_body_bytes(page, id);
        let room = bytes(object);
        (room < least).then(|| {
            format!(
                "{label:?} has {room} bytes, and takes {least} to name the {} objects it reveals",
                children.len()
            )
        })
    })
}

/// The longest address that an object may have: of a host of the emulated path, and of a number.
const LONGEST_ADDRESS: &str = "http://255.255.255.255:65535/1000000";

/// Bytes that an object's body takes at least.
fn least_body_bytes(page: &Page, id: ObjectId) -> u64 {
    if page.object(id).kind == ObjectKind::Redirect {
        return 0;
    }
    let pieces = body_pieces(page, id, &|_| LONGEST_ADDRESS.to_owned());
    pieces.iter().map(|piece| piece.text.len() as u64).sum()
}

/// A part of a body that says something.
struct Piece {
    /// Where it is to end, bytes.
    ends_at: u64,
    text: String,
}

/// Pieces of a body, in order.
fn body_pieces(page: &Page, id: ObjectId, address: &dyn Fn(ObjectId) -> String) -> Vec<Piece> {
    let mut children: Vec<Piece> = match page.object(id).kind {
        ObjectKind::Style => style_pieces(page, id, address),
        kind => {
            let reference = |child: &ObjectId| {
                let text = reference(kind, page.object(*child).kind, &address(*child));
                Piece { ends_at: offset(page.object(*child)), text }
            };
            page.children(id).iter().map(reference).collect()
        }
    };
    if page.object(id).kind == ObjectKind::Html {
        children.sort_by_key(|piece| piece.ends_at);
        children.insert(0, Piece { ends_at: 0, text: BEGINNING.to_owned() });
    }
    children
}

/// Imports, which have to be first, and then one background of all others for the element that
/// [`reference`] gives each style sheet.
fn style_pieces(page: &Page, id: ObjectId, address: &dyn Fn(ObjectId) -> String) -> Vec<Piece> {
    let is_style = |child: &ObjectId| page.object(*child).kind == ObjectKind::Style;
    let (sheets, others): (Vec<_>, Vec<_>) = page.children(id).iter().copied().partition(is_style);
    let import =
        |child: ObjectId| Piece { ends_at: 0, text: format!("@import \"{}\";", address(child)) };
    let mut pieces: Vec<Piece> = sheets.into_iter().map(import).collect();
    let ends_at = others.iter().map(|child| offset(page.object(*child))).max();
    if let Some(ends_at) = ends_at {
        let urls: Vec<_> =
            others.into_iter().map(|child| format!("url({})", address(child))).collect();
        let text = format!(".s{}{{background:{}}}", address_number(&address(id)), urls.join(","));
        pieces.push(Piece { ends_at, text });
    }
    pieces
}

/// The last part of an address.
fn address_number(address: &str) -> &str {
    address.rsplit('/').next().unwrap_or_default()
}

/// Body bytes of the parent behind which an object is known.
fn offset(object: &Object) -> u64 {
    match object.discovery {
        Discovery::AtStart => 0,
        Discovery::InBody { offset, .. } => offset,
    }
}

/// Reference of an object of kind `by` to one of another kind.
fn reference(by: ObjectKind, named: ObjectKind, address: &str) -> String {
    match (by, named) {
        (ObjectKind::Script | ObjectKind::Data, ObjectKind::Script | ObjectKind::Data) => {
            let element = "document.body.append(Object.assign(document.createElement(\"script\")";
            format!("{element},{{src:\"{address}\"}}));")
        }
        (ObjectKind::Script | ObjectKind::Data, _) => format!("(new Image).src=\"{address}\";"),
        (_, ObjectKind::Data) => format!("<script async src={address}></script>"),
        (_, ObjectKind::Style) => {
            let number = address_number(address);
            format!("<link rel=stylesheet href={address}><i class=s{number}></i>")
        }
        (_, ObjectKind::Script) => format!("<script src={address}></script>"),
        (_, ObjectKind::Html) => format!("<iframe src={address}></iframe>"),
        _ => format!("<img src={address}>"),
    }
}

/// The body of an object, `bytes` long; `address` has the URLs of other objects. [`refusal`] has
/// been asked.
pub(crate) fn document_body(
    page: &Page,
    id: ObjectId,
    bytes: u64,
    address: &dyn Fn(ObjectId) -> String,
) -> Vec<u8> {
    let kind = page.object(id).kind;
    let mut body = Vec::with_capacity(bytes as usize);
    let pieces = match kind {
        ObjectKind::Redirect => Vec::new(),
        _ => body_pieces(page, id, address),
    };
    let mut left: u64 = pieces.iter().map(|piece| piece.text.len() as u64).sum();
    for Piece { ends_at, text } in pieces {
        let own = text.len() as u64;
        // The piece stands as late as the pieces after it leave room for.
        let begins = ends_at.saturating_sub(own).min(bytes.saturating_sub(left));
        pad_body(&mut body, begins, kind);
        body.extend_from_slice(text.as_bytes());
        left -= own;
    }
    if bytes >= PICTURE.len() as u64 && media_type(kind) == PICTURE_TYPE {
        body.extend_from_slice(&PICTURE);
    }
    pad_body(&mut body, bytes, kind);
    body
}

/// A picture of one pixel. The bytes after it mean nothing. A browser ends the load of one that it
/// cannot understand.
pub(crate) const PICTURE: [u8; 35] =
    *b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
const PICTURE_TYPE: &str = "image/gif";

/// Pads a body to `to` bytes with text that means nothing in its language, if it is shorter.
pub(crate) fn pad_body(body: &mut Vec<u8>, to: u64, kind: ObjectKind) {
    let room = (to as usize).saturating_sub(body.len());
    let (opens, closes) = match kind {
        ObjectKind::Html => ("<!--", "-->"),
        ObjectKind::Style | ObjectKind::Script | ObjectKind::Data => ("/*", "*/"),
        _ => ("", ""),
    };
    let Some(inside) = room.checked_sub(opens.len() + closes.len()) else {
        body.resize(body.len() + room, b' ');
        return;
    };
    body.extend_from_slice(opens.as_bytes());
    body.resize(body.len() + inside, b'.');
    body.extend_from_slice(closes.as_bytes());
}

/// The media type in the response's header.
pub(crate) fn media_type(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Html | ObjectKind::Redirect => "text/html",
        ObjectKind::Style => "text/css",
        ObjectKind::Script | ObjectKind::Data => "text/javascript",
        _ => PICTURE_TYPE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{Http, PageHost};

    /// A document of 1000 bytes with a style sheet behind 700 bytes and a picture at its end; the
    /// sheet has a font.
    fn page() -> Page {
        let html = Object::plain("html", ObjectKind::Html, 1000);
        let at =
            |parent, offset| Discovery::InBody { parent, offset, delay: units::Duration::ZERO };
        let style = Object {
            discovery: at(ObjectId(0), 700),
            ..Object::plain("style", ObjectKind::Style, 400)
        };
        let image = Object {
            discovery: at(ObjectId(0), 1000),
            ..Object::plain("image", ObjectKind::Image, 50)
        };
        let font = Object {
            discovery: at(ObjectId(1), 400),
            ..Object::plain("font", ObjectKind::Font, 60)
        };
        let host = PageHost::plain("example.net", Http::Http11);
        Page::new("page", vec![host], vec![html, style, image, font]).unwrap()
    }

    fn text(page: &Page, id: u32, bytes: u64) -> String {
        let address = |id: ObjectId| format!("http://h/{id}");
        String::from_utf8(document_body(page, ObjectId(id), bytes, &address)).unwrap()
    }

    #[test]
    fn bodies_have_their_length_and_reveal_where_the_page_does() {
        let page = page();
        let html = text(&page, 0, 1000);
        assert_eq!(html.len(), 1000);
        let sheet = "<link rel=stylesheet href=http://h/1><i class=s1></i>";
        // It ends where the page says it is known, and the picture with the document.
        assert_eq!(html.find(sheet).unwrap() + sheet.len(), 700);
        assert!(html.ends_with("<img src=http://h/2>"), "{html}");
        // The visible part is after the spacer, not in it.
        assert!(html.find("</p>").unwrap() < html.find("<link rel=stylesheet").unwrap());
        let style = text(&page, 1, 400);
        assert!(style.len() == 400 && style.contains(".s1{background:url(http://h/3)}"), "{style}");
        let address = |_: ObjectId| String::new();
        for (id, bytes) in [(2, 50), (3, 60), (2, 7)] {
            assert_eq!(document_body(&page, ObjectId(id), bytes, &address).len() as u64, bytes);
        }
        // 400, 50 and 60 bytes.
        let resources = resources(&page, |object| object.body_bytes);
        assert_eq!(resources, Resources { count: 3, bytes: 510 });
    }

    /// The pieces fit: a document of exactly the bytes that they need contains all of them.
    #[test]
    fn a_document_as_short_as_it_can_be_says_all() {
        let page = page();
        let address = |_: ObjectId| LONGEST_ADDRESS.to_owned();
        let least = least_body_bytes(&page, ObjectId(0));
        let html = document_body(&page, ObjectId(0), least, &address);
        assert_eq!(html.len() as u64, least);
        assert_eq!(String::from_utf8(html).unwrap().matches(LONGEST_ADDRESS).count(), 2);
    }

    #[test]
    fn what_cannot_name_its_objects_is_refused() {
        let page = page();
        assert_eq!(unsupported_reason(&page, |object| object.body_bytes), None);
        let why = unsupported_reason(&page, |_| 100).unwrap();
        assert!(why.contains("\"html\" has 100 bytes") && why.contains("2 objects"), "{why}");
        let single = Page::single(30_000);
        let has_none = unsupported_reason(&single, |object| object.body_bytes);
        assert_eq!(has_none.is_some(), single.object(ObjectId::ROOT).kind != ObjectKind::Html);
    }
}
