//! A strict reader of the page's markup, stricter than any browser: every element closed in order,
//! every attribute quoted, no stray angle bracket.

/// A page that was read.
pub(crate) struct Page {
    elements: Vec<Element>,
}

struct Element {
    name: String,
    attributes: Vec<(String, String)>,
}

const VOID: [&str; 1] = ["meta"];
/// Their text is not markup.
const RAW: [&str; 2] = ["script", "style"];

impl Page {
    /// Reads a page; panics where it is not well formed.
    pub(crate) fn of(html: &str) -> Self {
        let mut rest = html.strip_prefix("<!DOCTYPE html>").expect("a document type");
        let mut page = Self { elements: Vec::new() };
        let mut open: Vec<String> = Vec::new();
        while let Some(start) = rest.find('<') {
            assert!(!rest[..start].contains('>'), "stray bracket in {:?}", &rest[..start]);
            rest = &rest[start + 1..];
            if let Some(closing) = rest.strip_prefix('/') {
                let (name, after) = closing.split_once('>').expect("a closed end tag");
                assert_eq!(open.pop().as_deref(), Some(name), "closed in order");
                rest = after;
                continue;
            }
            let Tag { element, closes_itself: closed, after } = tag(rest);
            rest = after;
            if RAW.contains(&element.name.as_str()) {
                let end = format!("</{}>", element.name);
                rest = &rest[rest.find(&end).expect("an end of the raw text") + end.len()..];
            } else if !closed && !VOID.contains(&element.name.as_str()) {
                open.push(element.name.clone());
            }
            page.elements.push(element);
        }
        assert!(open.is_empty(), "left open: {open:?}");
        page
    }

    /// Number of elements of this name.
    pub(crate) fn tags(&self, name: &str) -> usize {
        self.elements.iter().filter(|e| e.name == name).count()
    }

    /// Values of all attributes of this name, still escaped.
    pub(crate) fn attributes(&self, name: &str) -> Vec<&str> {
        let all = self.elements.iter().flat_map(|e| &e.attributes);
        all.filter(|(n, _)| n == name).map(|(_, value)| value.as_str()).collect()
    }

    /// Names of all attributes.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.elements.iter().flat_map(|e| &e.attributes).map(|(name, _)| name.as_str())
    }
}

/// A tag as read.
struct Tag<'a> {
    element: Element,
    closes_itself: bool,
    /// The rest of the text.
    after: &'a str,
}

/// The tag after its opening bracket.
fn tag(text: &str) -> Tag<'_> {
    let end = text.find([' ', '>', '/']).expect("an end of the name");
    let (name, mut rest) = text.split_at(end);
    assert!(!name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric()), "{name:?}");
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix("/>") {
            let element = Element { name: name.to_owned(), attributes };
            return Tag { element, closes_itself: true, after };
        }
        if let Some(after) = rest.strip_prefix('>') {
            let element = Element { name: name.to_owned(), attributes };
            return Tag { element, closes_itself: false, after };
        }
        let end = rest.find([' ', '=', '>']).expect("an end of the attribute's name");
        let (attribute, after) = rest.split_at(end);
        assert!(attribute.bytes().all(|b| b.is_ascii_alphabetic() || b"-0123456789".contains(&b)));
        let (value, after) = match after.strip_prefix("=\"") {
            Some(quoted) => quoted.split_once('"').expect("a closing quote"),
            None => ("", after),
        };
        assert!(!value.contains('<'), "stray bracket in {attribute}={value:?}");
        attributes.push((attribute.to_owned(), value.to_owned()));
        rest = after;
    }
}

/// The absolute points of path data made of `M`, `m`, `l`, `h` and `v`.
pub(crate) fn points(d: &str) -> Vec<(i64, i64)> {
    let spread = |c: char| match c {
        '-' => vec![' ', c],
        c if c.is_ascii_alphabetic() => vec![' ', c, ' '],
        c => vec![c],
    };
    let spaced: String = d.chars().flat_map(spread).collect();
    let mut words = spaced.split_whitespace();
    let (mut x, mut y) = (0, 0);
    let mut points: Vec<(i64, i64)> = Vec::new();
    while let Some(command) = words.next() {
        let mut number = || words.next().and_then(|w| w.parse::<i64>().ok()).expect("a number");
        match command {
            "M" => (x, y) = (number(), number()),
            "m" | "l" => (x, y) = (x + number(), y + number()),
            "h" => x += number(),
            "v" => y += number(),
            other => panic!("unknown command {other}"),
        }
        if points.last() != Some(&(x, y)) {
            points.push((x, y));
        }
    }
    points
}
