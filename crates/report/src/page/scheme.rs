//! A scheme's panel: its description, its waterfall, its connections, its queues.

use super::times::TimeRange;
use super::waterfall::panel_id;
use super::{Context, connection, queue, swatch_markup};
use crate::format;
use crate::{ConnectionView, SchemeView, SequenceKind};
use maud::{Markup, html};

impl Context<'_> {
    /// The panel of the scheme with this index.
    pub(super) fn panel_markup(&self, at: usize) -> Markup {
        let scheme = &self.report.schemes[at];
        let link = panel_id(at);
        html! {
            section.panel id=(link) aria-label=(self.label(&scheme.unique_title())) {
                h3 { (swatch_markup(self.scheme_colour(&scheme.name))) bdi { (self.label(&scheme.unique_title())) } }
                p.about { bdi { (crate::text::label(&scheme.description, 20 * self.detail.label)) } }
                (self.own_load(at))
                (self.connections(scheme, &link))
                (self.queues(scheme, &link))
            }
        }
    }

    /// A fold per connection; the one that sent most is open.
    fn connections(&self, scheme: &SchemeView, link: &str) -> Markup {
        let time = TimeRange::of_scheme(scheme);
        let shown = &scheme.connections[..scheme.connections.len().min(self.detail.connections)];
        let busiest = (0..shown.len()).rev().max_by_key(|&at| sent_bytes(&shown[at]));
        html! {
            @if !shown.is_empty() { h4 { "Connections" } }
            @for (at, view) in shown.iter().enumerate() {
                details.connection open[Some(at) == busiest] {
                    summary { (self.summary(view)) }
                    div.pair { (connection::Drawing { page: self, view, time, link }.connection_figures()) }
                }
            }
            @if shown.len() < scheme.connections.len() {
                p.note {
                    (units::counted(scheme.connections.len() - shown.len(), "more connection"))
                    " not drawn: the page is limited in size."
                }
            }
        }
    }

    fn summary(&self, view: &ConnectionView) -> Markup {
        let count = |kind| view.sequence.iter().filter(|p| p.kind == kind).count() as u64;
        let sent = format::group_digits(sent_bytes(view));
        let segments = count(SequenceKind::Sent);
        html! {
            bdi { (self.label(&view.label)) }
            span.counts {
                (sent) " B in " (format::group_digits(segments)) @if segments == 1 { " segment · " } @else { " segments · " }
                (count(SequenceKind::Retransmitted)) " retransmitted · "
                (count(SequenceKind::Dropped)) " dropped"
            }
        }
    }

    fn queues(&self, scheme: &SchemeView, link: &str) -> Markup {
        let time = TimeRange::of_scheme(scheme);
        let shown = &scheme.queues[..scheme.queues.len().min(self.detail.queues)];
        html! {
            @if !shown.is_empty() { h4 { "Queues" } }
            @for view in shown { (queue::Drawing { page: self, view, time, link }.figure_markup()) }
            @if shown.len() < scheme.queues.len() {
                p.note { (units::counted(scheme.queues.len() - shown.len(), "more queue")) " not drawn." }
            }
        }
    }
}

fn sent_bytes(view: &ConnectionView) -> u64 {
    let sent = view.sequence.iter().filter(|p| p.kind == SequenceKind::Sent);
    sent.map(|p| p.to.saturating_sub(p.from)).fold(0, u64::saturating_add)
}
