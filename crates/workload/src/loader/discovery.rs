//! Objects that the browser knows: bytes reveal them, and requests follow after a delay.

use crate::ClientModel;
use crate::page::{Discovery, ObjectId, Page};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use units::Instant;

#[derive(Clone, Debug)]
pub(super) struct Discoveries {
    page: Arc<Page>,
    client: ClientModel,
    /// Per object, how many of its children its bytes have revealed.
    revealed: Vec<usize>,
    /// Objects revealed and not yet requested: by time, then in page order.
    due: BinaryHeap<Reverse<(Instant, ObjectId)>>,
}

impl Discoveries {
    pub(super) fn new(page: &Arc<Page>, client: ClientModel) -> Self {
        Self {
            page: Arc::clone(page),
            client,
            revealed: vec![0; page.objects().len()],
            due: BinaryHeap::new(),
        }
    }

    pub(super) fn on_start(&mut self, now: Instant) {
        let at_start = |id: &ObjectId| self.page.object(*id).discovery == Discovery::AtStart;
        self.due.extend(self.page.ids().filter(at_start).map(|id| Reverse((now, id))));
    }

    /// Processes `received` delivered bytes of header and body of `parent`.
    pub(super) fn on_bytes(&mut self, now: Instant, parent: ObjectId, received: u64) {
        let header = self.page.object(parent).response_header_bytes;
        let Some(body) = received.checked_sub(header) else {
            return;
        };
        let work = self.client.work_on(self.page.object(parent).kind);
        let hidden = &self.page.children(parent)[self.revealed[parent.index()]..];
        for child in hidden {
            let Discovery::InBody { offset, delay, .. } = self.page.object(*child).discovery else {
                continue;
            };
            if offset > body {
                break;
            }
            self.revealed[parent.index()] += 1;
            self.due.push(Reverse((now + work + delay, *child)));
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    pub(super) fn poll_due(&mut self, now: Instant) -> Option<ObjectId> {
        let Reverse((at, id)) = *self.due.peek()?;
        (at <= now).then(|| {
            self.due.pop();
            id
        })
    }

    /// `id` will not arrive: everything that nothing else can reveal any more.
    pub(super) fn abandon_object(&mut self, id: ObjectId) -> Vec<ObjectId> {
        let mut abandoned = Vec::new();
        let mut parents = vec![id];
        while let Some(parent) = parents.pop() {
            let revealed = &mut self.revealed[parent.index()];
            let hidden = &self.page.children(parent)[*revealed..];
            *revealed += hidden.len();
            abandoned.extend_from_slice(hidden);
            parents.extend_from_slice(hidden);
        }
        abandoned
    }
}
