//! A page as data: the objects a browser fetches, where they come from, and when it learns of each.
//!
//! Object 0 is the user's; every other object is either requested at the start or discovered while
//! the body of an earlier object arrives. A parent always has a smaller [`ObjectId`] than its
//! children, so discovery can never run in a circle.

mod builtin;
mod changes;
mod milestone;
mod object;
mod recorded;

pub use builtin::{
    BUILTINS, Builtin, Kilobyte, NamingPart, ObjectSizes, RequestModel, RequestOrder, RequestTiming,
};
pub use changes::{ChangeKind, ObjectChange, PageChanges};
pub use milestone::PageMilestone;
pub use object::{Discovery, Object, ObjectId, ObjectKind};
pub use recorded::{
    LeftOut, RecordedFetch, RecordedHost, RecordedLoad, RevealEvidence, ServerTimeConfidence,
    VersionEvidence,
};

use crate::Http;
use crate::Tls;
use milestone::Awaited;
use std::fmt;
use units::Duration;

/// Host of a page: an index into [`Page::hosts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

impl HostId {
    /// The index into [`Page::hosts`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A server that a page's objects come from, and its protocol unless a
/// [`LoaderConfig`](crate::LoaderConfig) overrides it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageHost {
    /// Name and, where it is not the scheme's own, port; as the input gave it, not escaped.
    pub name: String,
    /// HTTP version.
    pub http: Http,
    /// Security of the transport.
    pub tls: Tls,
    /// Connections open at once under HTTP/1.0; [`PageHost::UNLIMITED`] for no limit.
    pub http10_connections: u32,
    /// Round trip to it without transmission times; `None`: that of the path.
    pub rtt: Option<Duration>,
    /// Time of a lookup of its name; `None`: lookups are not part of a load.
    pub lookup: Option<Duration>,
}

impl PageHost {
    /// No limit on the connections open at once.
    pub const UNLIMITED: u32 = u32::MAX;

    /// A host without TLS, with any number of connections at once.
    pub fn plain(name: impl Into<String>, http: Http) -> Self {
        Self {
            name: name.into(),
            http,
            tls: Tls::None,
            http10_connections: Self::UNLIMITED,
            rtt: None,
            lookup: None,
        }
    }

    /// The name that is looked up.
    pub fn name_without_port(&self) -> &str {
        match self.name.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
            _ => &self.name,
        }
    }

    /// True if the name is an address, which needs no lookup.
    pub fn is_address(&self) -> bool {
        let name = self.name_without_port();
        name.starts_with('[') || name.parse::<std::net::IpAddr>().is_ok()
    }
}

/// A page to be loaded. Its invariants are checked by [`Page::new`] and hold ever after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    name: String,
    hosts: Vec<PageHost>,
    objects: Vec<Object>,
    notes: Vec<String>,
    recorded: Option<Box<RecordedLoad>>,
    children: Vec<Vec<ObjectId>>,
    awaited: Awaited,
}

impl Page {
    /// Most bytes of a page, requests and responses: a pebibyte, so that sums cannot overflow.
    pub const MAX_BYTES: u64 = 1 << 50;

    /// A page of these objects, the first of which is its root.
    ///
    /// # Errors
    /// If there is no object, the root is discovered by another, a host or parent does not exist,
    /// or a parent does not come before its child. Also if an offset exceeds its parent's body, a
    /// response has no byte at all, or the page is larger than [`Page::MAX_BYTES`].
    pub fn new(
        name: impl Into<String>,
        hosts: Vec<PageHost>,
        objects: Vec<Object>,
    ) -> Result<Self, PageError> {
        check(&hosts, &objects)?;
        let children = children_in_body_order(&objects);
        let awaited = Awaited::of(&objects);
        let (name, notes) = (name.into(), Vec::new());
        Ok(Self { name, hosts, objects, notes, recorded: None, children, awaited })
    }

    /// Adds remarks for the page's reader: skipped, estimated or omitted parts.
    #[must_use]
    pub fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }

    /// The same page with the load that it was recorded from.
    #[must_use]
    pub fn with_recorded(mut self, recorded: RecordedLoad) -> Self {
        self.recorded = Some(Box::new(recorded));
        self
    }

    /// The same page from servers that answer at once.
    #[must_use]
    pub fn without_server_waits(&self) -> Self {
        let at_once = |object: &Object| Object { server_wait: Duration::ZERO, ..object.clone() };
        Self { objects: self.objects.iter().map(at_once).collect(), ..self.clone() }
    }

    /// The same page without an object. Its children are revealed as it was itself, and by as much
    /// later as they were after it. `None` if the load would wait for nothing.
    pub fn without(&self, id: ObjectId) -> Option<Self> {
        let gone = self.object(id).discovery;
        let earlier = |parent: ObjectId| ObjectId(parent.0 - u32::from(parent > id));
        let moved = |discovery: Discovery| match discovery {
            Discovery::InBody { parent, delay: after, .. } if parent == id => match gone {
                Discovery::AtStart => Discovery::AtStart,
                Discovery::InBody { parent, offset, delay } => {
                    Discovery::InBody { parent: earlier(parent), offset, delay: delay + after }
                }
            },
            Discovery::InBody { parent, offset, delay } => {
                Discovery::InBody { parent: earlier(parent), offset, delay }
            }
            Discovery::AtStart => Discovery::AtStart,
        };
        let others = self.ids().zip(&self.objects).filter(|(other, _)| *other != id);
        let objects = others
            .map(|(_, object)| Object { discovery: moved(object.discovery), ..object.clone() });
        let page = Self::new(self.name.clone(), self.hosts.clone(), objects.collect()).ok()?;
        let awaited = self.awaited.without(id, earlier);
        let page = Self { awaited, ..page };
        let waits = page.ids().any(|id| page.awaits(page.until(), id));
        waits.then_some(page)
    }

    /// The same page in a browser that asks for each object as soon as its parent reveals it.
    #[must_use]
    pub fn without_browser_work(&self) -> Self {
        let at_once = |object: &Object| Object {
            discovery: match object.discovery {
                Discovery::AtStart => Discovery::AtStart,
                Discovery::InBody { parent, offset, .. } => {
                    Discovery::InBody { parent, offset, delay: Duration::ZERO }
                }
            },
            ..object.clone()
        };
        Self { objects: self.objects.iter().map(at_once).collect(), ..self.clone() }
    }

    /// The same page after a change of each host.
    #[must_use]
    pub fn with_hosts(mut self, mut change: impl FnMut(HostId, &mut PageHost)) -> Self {
        (0..).zip(&mut self.hosts).for_each(|(n, host)| change(HostId(n), host));
        self
    }

    /// The same page, where each request of the client has a body of `bytes` more.
    ///
    /// # Errors
    /// [`PageError::TooLarge`]
    pub fn with_request_bodies(mut self, bytes: u64) -> Result<Self, PageError> {
        for object in self.objects.iter_mut().filter(|object| object.request_bytes > 0) {
            object.request_bytes = object.request_bytes.saturating_add(bytes);
        }
        check(&self.hosts, &self.objects).map(|()| self)
    }

    /// The load that it was recorded from; `None` if it was not recorded.
    pub fn recorded(&self) -> Option<&RecordedLoad> {
        self.recorded.as_deref()
    }

    /// Name of the page; raw text of the input, not escaped.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The servers its objects come from.
    pub fn hosts(&self) -> &[PageHost] {
        &self.hosts
    }

    /// The first host whose name is the same but for the port: one lookup serves both.
    ///
    /// # Panics
    /// If `id` is of another page.
    pub fn first_of_name(&self, id: HostId) -> HostId {
        let name = self.host(id).name_without_port();
        let first = self.hosts.iter().position(|host| host.name_without_port() == name);
        first.map_or(id, |first| HostId(first as u32))
    }

    /// Its objects; the index is the [`ObjectId`].
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Remarks for its reader; raw text of the input may be in them.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// One object.
    ///
    /// # Panics
    /// If `id` is of another page.
    pub fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.index()]
    }

    /// One host.
    ///
    /// # Panics
    /// If `id` is of another page.
    pub fn host(&self, id: HostId) -> &PageHost {
        &self.hosts[id.index()]
    }

    /// The objects discovered in the body of `parent`, in the order in which its bytes reveal
    /// them.
    ///
    /// # Panics
    /// If `parent` is of another page.
    pub fn children(&self, parent: ObjectId) -> &[ObjectId] {
        &self.children[parent.index()]
    }

    /// The ids of all objects, in order.
    pub fn ids(&self) -> impl Iterator<Item = ObjectId> + use<> {
        (0..self.objects.len() as u32).map(ObjectId)
    }

    /// Response bytes of the whole page, headers and bodies.
    pub fn response_bytes(&self) -> u64 {
        self.objects.iter().map(Object::response_bytes).sum()
    }

    /// Body bytes of the objects of one kind.
    pub fn body_bytes_of(&self, kind: ObjectKind) -> u64 {
        self.objects.iter().filter(|o| o.kind == kind).map(|o| o.body_bytes).sum()
    }
}

/// Reason why objects do not make a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageError {
    /// The page has no objects.
    Empty,
    /// The root must be requested at the start.
    RootIsDiscovered,
    /// More objects than an [`ObjectId`] can number.
    TooManyObjects,
    /// Its objects have more than [`Page::MAX_BYTES`] in all.
    TooLarge,
    /// The object names a host that does not exist.
    UnknownHost(ObjectId),
    /// The object's parent does not exist or does not come before it.
    ParentNotBefore(ObjectId),
    /// The object's offset exceeds its parent's body.
    OffsetBeyondBody(ObjectId),
    /// The object's response has neither header nor body bytes.
    EmptyResponse(ObjectId),
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the page has no object to load"),
            Self::RootIsDiscovered => write!(f, "object 0 must be asked for at the start"),
            Self::TooManyObjects => write!(f, "the page has more than 2^32 objects"),
            Self::TooLarge => write!(f, "the page has more than {} bytes", Page::MAX_BYTES),
            Self::UnknownHost(id) => write!(f, "object {id}: its host does not exist"),
            Self::ParentNotBefore(id) => write!(f, "object {id}: its parent must come before it"),
            Self::OffsetBeyondBody(id) => {
                write!(f, "object {id}: its offset exceeds its parent's body")
            }
            Self::EmptyResponse(id) => write!(f, "object {id}: its response has no bytes"),
        }
    }
}

impl std::error::Error for PageError {}

fn check(hosts: &[PageHost], objects: &[Object]) -> Result<(), PageError> {
    let root = objects.first().ok_or(PageError::Empty)?;
    if root.discovery != Discovery::AtStart {
        return Err(PageError::RootIsDiscovered);
    }
    if u32::try_from(objects.len()).is_err() {
        return Err(PageError::TooManyObjects);
    }
    let bytes = |o: &Object| u128::from(o.request_bytes) + u128::from(o.response_bytes());
    if objects.iter().map(bytes).sum::<u128>() > u128::from(Page::MAX_BYTES) {
        return Err(PageError::TooLarge);
    }
    objects.iter().enumerate().try_for_each(|(index, object)| {
        let id = ObjectId(index as u32);
        if object.host.index() >= hosts.len() {
            return Err(PageError::UnknownHost(id));
        }
        if object.response_bytes() == 0 {
            return Err(PageError::EmptyResponse(id));
        }
        check_discovery(id, object.discovery, objects)
    })
}

fn check_discovery(
    id: ObjectId,
    discovery: Discovery,
    objects: &[Object],
) -> Result<(), PageError> {
    let Discovery::InBody { parent, offset, .. } = discovery else {
        return Ok(());
    };
    if parent >= id {
        return Err(PageError::ParentNotBefore(id));
    }
    if offset > objects[parent.index()].body_bytes {
        return Err(PageError::OffsetBeyondBody(id));
    }
    Ok(())
}

fn children_in_body_order(objects: &[Object]) -> Vec<Vec<ObjectId>> {
    let mut children = vec![Vec::new(); objects.len()];
    for (index, object) in objects.iter().enumerate() {
        if let Discovery::InBody { parent, offset, .. } = object.discovery {
            children[parent.index()].push((offset, ObjectId(index as u32)));
        }
    }
    let in_order = |mut found: Vec<(u64, ObjectId)>| {
        found.sort_unstable();
        found.into_iter().map(|(_, id)| id).collect()
    };
    children.into_iter().map(in_order).collect()
}

#[cfg(test)]
mod tests;
