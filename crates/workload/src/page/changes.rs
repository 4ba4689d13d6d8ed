//! The difference between two pages: objects and hosts that only one of them has, and objects of
//! other sizes.
//!
//! An object is known again by its address. Builds change addresses, though, and a page may move to
//! another host. Objects that are left over are matched by less of their addresses: without the
//! host, then without the query, then without parts of names that look like hashes or versions.
//! A match by less needs the same kind, and only one candidate on each page.

use super::{Object, ObjectKind, Page};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The difference between two pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageChanges {
    /// The objects that differ, the largest difference first.
    pub objects: Vec<ObjectChange>,
    /// Objects of the same size.
    pub same: usize,
    /// Names of hosts that only the second page has.
    pub hosts_added: Vec<String>,
    /// Names of hosts that only the first page has.
    pub hosts_removed: Vec<String>,
}

/// An object that only one of two pages has, or whose sizes differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObjectChange {
    /// Its address on the second page; on the first, if the second lacks it.
    pub label: String,
    /// Its address on the first page, if that is another one.
    pub formerly: Option<String>,
    /// Body bytes on the first page; `None` for an object that was added.
    pub before_bytes: Option<u64>,
    /// Body bytes on the second page; `None` for an object that was removed.
    pub after_bytes: Option<u64>,
}

/// The way in which an object differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// The first page lacks it.
    Added,
    /// The second page lacks it.
    Removed,
    /// It has more bytes on the second page.
    Larger,
    /// It has fewer bytes on the second page.
    Smaller,
}

impl ChangeKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Added, Self::Removed, Self::Larger, Self::Smaller];

    /// The name used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Larger => "larger",
            Self::Smaller => "smaller",
        }
    }
}

impl ObjectChange {
    /// The way in which it differs.
    pub fn kind(&self) -> ChangeKind {
        match (self.before_bytes, self.after_bytes) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Removed,
            (before, after) if after > before => ChangeKind::Larger,
            _ => ChangeKind::Smaller,
        }
    }

    /// Bytes by which the two sizes differ; a missing object has none.
    pub fn difference(&self) -> u64 {
        self.before_bytes.unwrap_or(0).abs_diff(self.after_bytes.unwrap_or(0))
    }
}

impl PageChanges {
    /// The changes that make `before` to `after`.
    pub fn between(before: &Page, after: &Page) -> Self {
        let mut pairs = Pairs::new(before, after);
        for address in [whole_address, without_host, without_query, without_hashes] {
            pairs.find(address);
        }
        let (mut objects, same) = pairs.changes();
        // Equal differences are in the order of addresses: the pages alone decide the result.
        objects.sort_by(|one, other| {
            let key = |change: &ObjectChange| std::cmp::Reverse(change.difference());
            key(one).cmp(&key(other)).then_with(|| one.label.cmp(&other.label))
        });
        Self {
            objects,
            same,
            hosts_added: only_in(after, before),
            hosts_removed: only_in(before, after),
        }
    }

    /// The objects that differ in one way.
    pub fn of_kind(&self, kind: ChangeKind) -> impl Iterator<Item = &ObjectChange> {
        self.objects.iter().filter(move |change| change.kind() == kind)
    }
}

/// Names of the hosts of a page that another page lacks.
fn only_in(page: &Page, other: &Page) -> Vec<String> {
    let names = |page: &Page| -> BTreeSet<String> {
        page.hosts().iter().map(|host| host.name.clone()).collect()
    };
    names(page).difference(&names(other)).cloned().collect()
}

/// The part of an address by which objects are compared; `None` if nothing is left of it.
type AddressPart = fn(&Object) -> Option<AddressKey>;

/// A part of an address, and the kind of object that it has to be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct AddressKey {
    text: String,
    /// `None`: of any kind.
    kind: Option<ObjectKind>,
}

impl AddressKey {
    /// Several objects may have the same whole address, and are matched in their order.
    const fn is_whole(&self) -> bool {
        self.kind.is_none()
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the type of all parts of an address")]
fn whole_address(object: &Object) -> Option<AddressKey> {
    Some(AddressKey { text: object.label.clone(), kind: None })
}

fn without_host(object: &Object) -> Option<AddressKey> {
    let (_, rest) = object.label.split_once("://")?;
    let path = rest.find('/').map_or("/", |at| &rest[at..]);
    Some(AddressKey { text: path.to_owned(), kind: Some(object.kind) })
}

fn without_query(object: &Object) -> Option<AddressKey> {
    let AddressKey { text, kind } = without_host(object)?;
    let path = text.split(['?', '#']).next()?.to_owned();
    Some(AddressKey { text: path, kind })
}

fn without_hashes(object: &Object) -> Option<AddressKey> {
    let AddressKey { text, kind } = without_query(object)?;
    let is_word = |c: char| c.is_ascii_alphanumeric();
    let mut words: Vec<String> = Vec::new();
    for part in text.split_inclusive(|c| !is_word(c)) {
        let word = part.trim_end_matches(|c| !is_word(c));
        let end = &part[word.len()..];
        let shown = if is_hash(word) { "*" } else { word };
        words.push(format!("{shown}{end}"));
    }
    Some(AddressKey { text: words.concat(), kind })
}

/// Letters of the shortest hash or version that builds put into names.
const MIN_HASH: usize = 6;

fn is_hash(word: &str) -> bool {
    word.len() >= MIN_HASH && word.bytes().any(|b| b.is_ascii_digit())
}

/// Objects of two pages that are the same object.
struct Pairs<'a> {
    before: &'a [Object],
    after: &'a [Object],
    /// For each object of the second page, the object of the first.
    found: Vec<Option<usize>>,
}

impl<'a> Pairs<'a> {
    fn new(before: &'a Page, after: &'a Page) -> Self {
        let (before, after) = (before.objects(), after.objects());
        Self { before, after, found: vec![None; after.len()] }
    }

    /// Matches objects that are left over, by a part of their addresses.
    fn find(&mut self, part: AddressPart) {
        let taken: BTreeSet<usize> = self.found.iter().copied().flatten().collect();
        let left = (0..self.before.len()).filter(|at| !taken.contains(at));
        let mut before = by_part(self.before, left, part);
        let left = (0..self.after.len()).filter(|at| self.found[*at].is_none());
        for (key, objects) in by_part(self.after, left, part) {
            let Some(candidates) = before.get_mut(&key) else { continue };
            if !key.is_whole() && (candidates.len() > 1 || objects.len() > 1) {
                continue;
            }
            for object in objects {
                self.found[object] = candidates.pop_front();
            }
        }
    }

    /// The objects that differ, and the number of those that do not.
    fn changes(&self) -> (Vec<ObjectChange>, usize) {
        let taken: BTreeSet<usize> = self.found.iter().copied().flatten().collect();
        let removed = (0..self.before.len()).filter(|at| !taken.contains(at));
        let removed = removed.map(|at| object_change(Some(&self.before[at]), None));
        let pairs = self.after.iter().zip(&self.found);
        let kept = pairs
            .map(|(after, found)| object_change(found.map(|at| &self.before[at]), Some(after)));
        let all: Vec<ObjectChange> = removed.chain(kept).flatten().collect();
        let same = self.after.len() - all.iter().filter(|one| one.after_bytes.is_some()).count();
        (all, same)
    }
}

fn by_part(
    objects: &[Object],
    left: impl Iterator<Item = usize>,
    part: AddressPart,
) -> BTreeMap<AddressKey, VecDeque<usize>> {
    let mut by_part: BTreeMap<AddressKey, VecDeque<usize>> = BTreeMap::new();
    for at in left {
        if let Some(key) = part(&objects[at]) {
            by_part.entry(key).or_default().push_back(at);
        }
    }
    by_part
}

/// The change of an object; `None` if it has none.
fn object_change(before: Option<&Object>, after: Option<&Object>) -> Option<ObjectChange> {
    let [before_bytes, after_bytes] = [before, after].map(|one| one.map(|one| one.body_bytes));
    let label = after.or(before)?.label.clone();
    let formerly = before.map(|before| before.label.clone()).filter(|former| *former != label);
    let change = ObjectChange { label, formerly, before_bytes, after_bytes };
    (before_bytes != after_bytes).then_some(change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostId, Http, PageHost};

    /// A page of objects of `a.example` and `b.example`, by address and size.
    fn page(objects: &[(&str, u64)]) -> Page {
        let mut names: Vec<&str> = Vec::new();
        let mut all = Vec::new();
        for (label, bytes) in objects {
            let name = label.split('/').nth(2).expect("an address with a host");
            if !names.contains(&name) {
                names.push(name);
            }
            let host = names.iter().position(|one| *one == name).expect("it was added");
            let kind = if label.contains(".png") { ObjectKind::Image } else { ObjectKind::Script };
            let object = Object::plain(*label, kind, *bytes);
            all.push(Object { host: HostId(host as u32), ..object });
        }
        let hosts = names.iter().map(|name| PageHost::plain(*name, Http::Http2));
        Page::new("page", hosts.collect(), all).expect("a page")
    }

    /// Kind, end of the address and sizes of each change, and the number of equal objects.
    fn changes(before: &[(&str, u64)], after: &[(&str, u64)]) -> (Vec<String>, usize) {
        let changes = PageChanges::between(&page(before), &page(after));
        let shown = |change: &ObjectChange| {
            let name = change.label.rsplit('/').next().unwrap_or_default();
            let bytes = |bytes: Option<u64>| bytes.map_or("-".to_owned(), |b| b.to_string());
            let (before, after) = (bytes(change.before_bytes), bytes(change.after_bytes));
            format!("{} {name} {before} {after}", change.kind().name())
        };
        (changes.objects.iter().map(shown).collect(), changes.same)
    }

    #[test]
    fn objects_are_added_removed_larger_or_smaller() {
        let before =
            [("https://a/", 10), ("https://a/x.js", 50), ("https://a/y.js", 9), ("https://b/z", 7)];
        let after = [
            ("https://a/", 10),
            ("https://a/x.js", 20),
            ("https://a/y.js", 10),
            ("https://c/n", 8),
        ];
        let expected = ["smaller x.js 50 20", "added n - 8", "removed z 7 -", "larger y.js 9 10"];
        assert_eq!(changes(&before, &after), (expected.map(str::to_owned).to_vec(), 1));
        let all = PageChanges::between(&page(&before), &page(&after));
        assert_eq!(
            (all.hosts_added, all.hosts_removed),
            (vec!["c".to_owned()], vec!["b".to_owned()])
        );
        assert_eq!(changes(&before, &before), (Vec::new(), 4));
    }

    /// An address that comes twice is two objects.
    #[test]
    fn repeated_addresses_are_matched_in_their_order() {
        let before = [("https://a/poll", 5), ("https://a/poll", 6)];
        let after = [("https://a/poll", 5), ("https://a/poll", 6), ("https://a/poll", 7)];
        assert_eq!(changes(&before, &after), (vec!["added poll - 7".to_owned()], 2));
    }

    #[test]
    fn what_remains_of_an_address_is_enough() {
        for (before, after) in [
            ("https://www.a/x.js", "https://staging.a/x.js"),
            ("https://a/x.js?v=1", "https://b/x.js?v=2"),
            ("https://a/app.3f2a9c1b.js", "https://a/app.77d0e4f2.js"),
            ("https://a/v20240101/app.js", "https://a/v20240215/app.js"),
        ] {
            let (before, after) = ([(before, 5)], [(after, 6)]);
            let (found, _) = changes(&before, &after);
            assert!(found.len() == 1 && found[0].starts_with("larger"), "{found:?}");
            let former = &PageChanges::between(&page(&before), &page(&after)).objects[0];
            assert_eq!(former.formerly.as_deref(), Some(before[0].0));
        }
    }

    /// A name without a digit, or with fewer than six letters, is no hash. Two candidates are none.
    /// A picture is no script.
    #[test]
    fn what_is_not_the_same_for_certain_is_added_and_removed() {
        for (before, after) in [
            (&[("https://a/header.js", 5)][..], &[("https://a/footer.js", 6)][..]),
            (&[("https://a/ab12.js", 5)], &[("https://a/cd34.js", 6)]),
            (&[("https://a/x.js?1", 5), ("https://a/x.js?2", 5)], &[("https://a/x.js?3", 6)]),
            (&[("https://a/x?1", 5)], &[("https://a/x?.png", 6)]),
        ] {
            let (found, same) = changes(before, after);
            assert_eq!((found.len(), same), (before.len() + after.len(), 0), "{found:?}");
        }
    }
}
