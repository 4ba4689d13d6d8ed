//! State that all connections of a server share, and its records of the open ones.

use crate::access::StatusAccess;
use crate::body::OnResponse;
use crate::files::Files;
use crate::regard::ResponseProperty;
use endpoint::{Endpoint, Handle};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tcp::Scheme;
use tokio::time::Instant;
use workload::ObjectKind;

/// State that all connections share.
pub(crate) struct Site {
    pub(crate) files: Files,
    pub(crate) endpoint: Endpoint,
    pub(crate) scheme: Scheme,
    pub(crate) status: StatusAccess,
    pub(crate) listener: OnResponse,
    pub(crate) started: Instant,
    pub(crate) requests: AtomicU64,
    pub(crate) idle: Duration,
    pub(crate) regard: Mutex<ResponseProperty>,
    pub(crate) open: Mutex<BTreeMap<SocketAddr, Arc<Open>>>,
}

/// An open connection.
pub(crate) struct Open {
    pub(crate) peer: SocketAddr,
    pub(crate) handle: Handle,
    /// Kind of its last response.
    pub(crate) kind: Mutex<Option<ObjectKind>>,
}

/// A connection is among those of its site as long as this lives, also where serving it panics.
pub(crate) struct SiteMembership {
    site: Arc<Site>,
    open: Arc<Open>,
}

impl SiteMembership {
    pub(crate) fn new(site: &Arc<Site>, open: &Arc<Open>) -> Self {
        lock(&site.open).insert(open.peer, Arc::clone(open));
        Self { site: Arc::clone(site), open: Arc::clone(open) }
    }
}

impl Drop for SiteMembership {
    fn drop(&mut self) {
        let mut all = lock(&self.site.open);
        // A later connection of the same port may have replaced it.
        if all.get(&self.open.peer).is_some_and(|other| Arc::ptr_eq(other, &self.open)) {
            all.remove(&self.open.peer);
        }
    }
}

impl Site {
    /// A connection carries this from now on; its weight, where that matters.
    pub(crate) fn set_response_kind(&self, open: &Open, kind: ObjectKind) -> Option<u32> {
        let regard = lock(&self.regard);
        *lock(&open.kind) = Some(kind);
        regard.set_kind(&open.handle, kind);
        regard.weight(kind)
    }

    /// Text on the properties that connections use.
    pub(crate) fn about_weights(&self) -> String {
        lock(&self.regard).description()
    }

    /// Kind of the last response on the connection to `peer`, and its weight.
    pub(crate) fn last_response_kind(
        &self,
        peer: &SocketAddr,
    ) -> Option<(ObjectKind, Option<u32>)> {
        let open = lock(&self.open).get(peer).cloned()?;
        let kind = (*lock(&open.kind))?;
        Some((kind, lock(&self.regard).weight(kind)))
    }
}

/// Locks, also where another thread panicked meanwhile.
pub(crate) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
