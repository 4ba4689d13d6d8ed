//! Discovery of each fetch, inferred from the initiator that the browser names and from the times
//! of events.
//!
//! The parent of a fetch is the redirect that led to it, else the initiator that the browser names
//! (`_initiator`, else Referer), else the root document.
//!
//! - Requested during the delivery of the parent's body: found at the fraction of the body that was
//!   delivered by then, at an assumed constant rate. Before its first byte: with its header.
//! - Requested later: found at the end of the parent, or of a later-finishing document, script,
//!   style sheet or data if one had finished by then. The time that then passed is added, which is
//!   the browser's. A parent that is a style sheet, or named by the HTML parser, is certain. A
//!   document or script may only be where the script ran that waited for something else.
//!
//! So the network's time is left to the simulation, and the browser's time is kept. A request that
//! waited for something unrelated is mistaken for depending on it.

use super::fetch::Fetch;
use crate::page::{Discovery, ObjectId, ObjectKind, RevealEvidence};
use std::collections::BTreeMap;
use units::Duration;
use url::Url;

/// The discoveries of all fetches of a page, the first being the root.
pub(super) struct Discovered {
    /// The discovery of each fetch.
    pub(super) discoveries: Vec<FoundDiscovery>,
    /// The redirects from the root to the document, in order.
    pub(super) redirects: Vec<usize>,
    /// The root, or where its redirects lead.
    pub(super) document: usize,
}

/// The discovery of a fetch, and the evidence for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundDiscovery {
    pub(super) discovery: Discovery,
    pub(super) evidence: RevealEvidence,
}

pub(super) fn infer_discoveries(fetches: &[Fetch]) -> Discovered {
    let history = History::new(fetches);
    let next = |index: &usize| history.redirected_to[*index];
    let chain = std::iter::successors(Some(0), next);
    Discovered {
        discoveries: (0..fetches.len()).map(|index| history.discovery(index)).collect(),
        redirects: chain.take_while(|index| *index != history.document).collect(),
        document: history.document,
    }
}

struct History<'a> {
    fetches: &'a [Fetch],
    /// Per fetch, the redirect that led to it.
    redirected_by: Vec<Option<usize>>,
    /// Per fetch, where it was redirected to.
    redirected_to: Vec<Option<usize>>,
    document: usize,
    by_url: BTreeMap<&'a Url, Vec<usize>>,
    /// Fetches that can reveal others, by time of finishing.
    revealing: Vec<usize>,
}

impl<'a> History<'a> {
    fn new(fetches: &'a [Fetch]) -> Self {
        let mut by_url: BTreeMap<&Url, Vec<usize>> = BTreeMap::new();
        for (index, fetch) in fetches.iter().enumerate() {
            by_url.entry(&fetch.url).or_default().push(index);
        }
        let (redirected_by, redirected_to) = redirects(fetches, &by_url);
        let mut revealing: Vec<usize> =
            (0..fetches.len()).filter(|i| reveals_others(fetches[*i].kind)).collect();
        revealing.sort_by_key(|i| fetches[*i].finished);
        let mut history =
            Self { fetches, redirected_by, redirected_to, document: 0, by_url, revealing };
        history.document = history.after_redirects(0);
        history
    }

    fn discovery(&self, index: usize) -> FoundDiscovery {
        let found = |discovery, evidence| FoundDiscovery { discovery, evidence };
        if index == 0 {
            return found(Discovery::AtStart, RevealEvidence::Time);
        }
        if let Some(redirect) = self.redirected_by[index] {
            return found(self.at_end(redirect, index), RevealEvidence::Redirect);
        }
        let by_browser = self.fetch_named_as_cause(index);
        let named = by_browser.unwrap_or(self.document);
        if named >= index || self.fetches[named].started > self.fetches[index].started {
            return found(Discovery::AtStart, RevealEvidence::Time);
        }
        let is_arriving = self.fetches[index].started <= self.fetches[named].finished;
        let parent = if is_arriving { named } else { self.last_finished(named, index) };
        let evidence = match by_browser == Some(parent) {
            true => RevealEvidence::Named,
            false => RevealEvidence::Time,
        };
        let discovery =
            if is_arriving { self.in_body(parent, index) } else { self.at_end(parent, index) };
        found(discovery, evidence)
    }

    /// The fetch that the browser names as the cause: the latest of that address.
    fn fetch_named_as_cause(&self, index: usize) -> Option<usize> {
        let same_url = self.by_url.get(self.fetches[index].cause.as_ref()?)?;
        let earlier = same_url.partition_point(|i| *i < index);
        let named = self.after_redirects(*same_url[..earlier].last()?);
        (named < index).then_some(named)
    }

    fn after_redirects(&self, mut index: usize) -> usize {
        while let Some(next) = self.redirected_to[index] {
            index = next;
        }
        index
    }

    /// Among the fetches that can reveal others and had finished when `index` was requested, the
    /// last to finish, if after `named`.
    fn last_finished(&self, named: usize, index: usize) -> usize {
        let fetch = &self.fetches[index];
        if fetch.by_parser || self.fetches[named].kind == ObjectKind::Style {
            return named;
        }
        let end = self.revealing.partition_point(|i| self.fetches[*i].finished <= fetch.started);
        let after_named = |i: &&usize| self.fetches[**i].finished > self.fetches[named].finished;
        let finished = self.revealing[..end].iter().rev().take_while(after_named);
        finished.copied().find(|i| *i < index).unwrap_or(named)
    }

    fn at_end(&self, parent: usize, index: usize) -> Discovery {
        let (from, to) = (self.fetches[parent].finished, self.fetches[index].started);
        self.new_discovery(parent, self.fetches[parent].sizes.body, to.saturating_sub(from))
    }

    fn in_body(&self, parent: usize, index: usize) -> Discovery {
        let Fetch { first_byte, finished, ref sizes, .. } = self.fetches[parent];
        let arrived = self.fetches[index].started.saturating_sub(first_byte).as_nanos();
        let whole = finished.saturating_sub(first_byte).as_nanos().max(1);
        let offset = u128::from(sizes.body) * u128::from(arrived);
        let offset = offset.div_ceil(u128::from(whole)).min(u128::from(sizes.body));
        self.new_discovery(parent, offset as u64, Duration::ZERO)
    }

    fn new_discovery(&self, parent: usize, offset: u64, delay: Duration) -> Discovery {
        Discovery::InBody { parent: ObjectId(parent as u32), offset, delay }
    }
}

const fn reveals_others(kind: ObjectKind) -> bool {
    matches!(kind, ObjectKind::Html | ObjectKind::Script | ObjectKind::Style | ObjectKind::Data)
}

/// Pairs each redirect with the first later fetch of the address it names that no other redirect
/// has led to.
fn redirects(
    fetches: &[Fetch],
    by_url: &BTreeMap<&Url, Vec<usize>>,
) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
    let mut by = vec![None; fetches.len()];
    let mut to = vec![None; fetches.len()];
    for (index, fetch) in fetches.iter().enumerate() {
        let targets = fetch.redirect.as_ref().and_then(|url| by_url.get(url));
        let later = targets.into_iter().flatten().copied().filter(|i| *i > index);
        if let Some(target) = later.into_iter().find(|i| by[*i].is_none()) {
            by[target] = Some(index);
            to[index] = Some(target);
        }
    }
    (by, to)
}
