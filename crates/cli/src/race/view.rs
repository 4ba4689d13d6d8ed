//! A race as the report shows it: the libraries' records in the report's terms.

use super::raced::Raced;
use super::{side_by_side, table};
use crate::schemes::ABOUT_LIMIT;
use link::QueueLimit;
use race::limit::Limit;
use race::{
    Bound, BoundFrom, Contestant, Load, ProcessingDelay, Queue, Race, Recording, SequenceEvent,
    SequenceStep, TransferRecord, VisitKind, Visits,
};
use report::{
    BoundPoint, ConnectionView, LevelPoint, LimitView, ObjectSpan, QueueCapacity, QueuePoint,
    QueueView, RaceReport, SchemeView, SenderBound, SequenceKind, SequencePoint, WindowPoint,
};
use tcp::WindowChange;
use tcp::scheme::catalogue;
use units::{Duration, Instant};
use workload::{ConnectionRecord, Milestones, Object, Page};

/// The report of a race whose first loads were recorded.
pub(super) fn report(raced: &Raced) -> RaceReport {
    let Raced { race, outcome, result } = raced;
    let mut subtitle = facts(race);
    if race.repeats > 1 {
        subtitle.push("Figures show the first repeat".to_owned());
    }
    subtitle.extend(side_by_side::where_it_ran(result));
    subtitle.push("Name lookups are not part of a load".to_owned());
    RaceReport {
        title: format!("{} over {}", race.page.name(), race.path),
        subtitle,
        table: table::of(result),
        sections: side_by_side::sections(raced),
        schemes: outcome.contestants.iter().flat_map(|c| schemes(raced, c)).collect(),
        limit: limit(&outcome.limit),
    }
}

/// What was run, wherever.
fn facts(race: &Race) -> Vec<String> {
    let page = &race.page;
    let (objects, hosts) = (page.objects().len(), page.hosts().len());
    let megabytes = page.response_bytes() as f64 / 1e6;
    let path = &race.path;
    let mut facts = vec![
        format!(
            "Page: {}, {}, {megabytes:.2} MB, {}",
            page.name(),
            counted(objects, "object"),
            counted(hosts, "host")
        ),
        format!(
            "Path: {} down, {} up, round trip {}, queue {}, random loss {}",
            path.down(),
            path.up(),
            path.rtt(),
            path.queue(),
            path.loss()
        ),
        protocols(race),
    ];
    if race.background > 0 {
        facts.push(format!(
            "Background: {}, begun about ten seconds before the page",
            counted(race.background as usize, "bulk linux flow")
        ));
    }
    if race.visits.count > 1 {
        let Visits { count, idle, site, reconnects } = race.visits;
        let over = if reconnects { ", each over connections of its own" } else { "" };
        facts.push(match site {
            1 => format!("{count} visits, {idle} apart{over}"),
            n => format!("{count} visits, {idle} apart{over}, to {n} servers of each host in turn"),
        });
    }
    facts.push(match race.repeats {
        1 => format!("Seed {}", race.seed),
        n => format!("Seed {}, medians of {n} repeats", race.seed),
    });
    facts.push(processing(race.processing));
    facts.push(format!("Limit: {ABOUT_LIMIT}"));
    facts.extend(page.notes().iter().cloned());
    facts
}

/// So many of a thing, in the singular if there is one.
fn counted(n: usize, thing: &str) -> String {
    match n {
        1 => format!("1 {thing}"),
        n => format!("{n} {thing}s"),
    }
}

/// How long simulated hosts work on a packet.
fn processing(delay: ProcessingDelay) -> String {
    match delay {
        ProcessingDelay::NONE => "Simulated hosts take no time to answer (--exact)".to_owned(),
        ProcessingDelay { least, most, .. } => {
            format!("Simulated hosts take {least} to {most} to answer a packet, as real ones do")
        }
    }
}

/// What the hosts speak, each kind once.
fn protocols(race: &Race) -> String {
    let mut kinds: Vec<String> = Vec::new();
    for host in race.page.hosts() {
        let protocol = race.loader.protocol(host);
        let kind = format!("HTTP/{}, TLS {}", protocol.http, protocol.tls);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds.join("; ")
}

/// Only the two instants: the bounds of objects hold for each by itself, not for all in one load.
fn limit(limit: &Limit) -> LimitView {
    LimitView {
        html: limit.html.map(|after| Instant::ZERO + after),
        page: Some(Instant::ZERO + limit.page),
        objects: Vec::new(),
    }
}

/// Everything about an object but its times.
fn described(page: &Page, object: &Object) -> ObjectSpan {
    ObjectSpan {
        label: object.label.clone(),
        host: page.host(object.host).name.clone(),
        kind: object.kind.name().to_owned(),
        bytes: object.body_bytes,
        ..ObjectSpan::default()
    }
}

/// A view of each recorded load: the first visit's, and a repeated one's if there is one.
fn schemes(raced: &Raced, contestant: &Contestant) -> Vec<SchemeView> {
    let Raced { race, outcome, result } = raced;
    let world = Some(contestant.world).filter(|_| result.worlds().len() > 1);
    let load = |kind| contestant.first().and_then(|turn| turn.loads(kind).first());
    let recorded = [VisitKind::First, VisitKind::Repeated].map(|kind| (kind, load(kind)));
    let views = recorded.into_iter().filter_map(|(kind, load)| {
        let mut view = scheme(race, (contestant, load?))?;
        if let Some(world) = world {
            view.name = format!("{} · {world}", view.name);
        }
        if race.visits.count > 1 {
            view.name = format!("{} · {} visit", view.name, kind.name());
            view.limit = (kind == VisitKind::Repeated).then(|| limit(&outcome.limit_again));
        }
        Some(view)
    });
    views.collect()
}

fn scheme(race: &Race, (contestant, load): (&Contestant, &Load)) -> Option<SchemeView> {
    let recording = load.recording.as_ref()?;
    let labels = connection_labels(&race.page, recording);
    let at = |after: Option<Duration>| after.map(|d| Instant::ZERO + d);
    Some(SchemeView {
        name: contestant.name.clone(),
        description: description(&contestant.name),
        html_done: at(load.html),
        page_done: at(load.page),
        objects: objects(race, recording, &labels),
        connections: connections(load, recording, &labels),
        queues: recording.queues.iter().map(|q| queue(race, recording, q)).collect(),
        limit: None,
    })
}

fn description(name: &str) -> String {
    let (base, changed) = name.split_once('+').unwrap_or((name, ""));
    let about = catalogue().iter().find(|named| named.name == base);
    let about = about.map_or("", |named| named.about);
    match changed {
        "" => about.to_owned(),
        changed => format!("{about}; changed: {}", changed.replace('+', ", ")),
    }
}

/// `host #n`, numbered per host in the order of opening.
fn connection_labels(page: &Page, recording: &Recording) -> Vec<String> {
    let mut opened = vec![0u32; page.hosts().len()];
    let label = |connection: &ConnectionRecord| {
        let nth = &mut opened[connection.host.index()];
        *nth += 1;
        format!("{} #{nth}", page.host(connection.host).name)
    };
    recording.transfers.iter().map(|t| &t.connection).map(label).collect()
}

fn objects(race: &Race, recording: &Recording, labels: &[String]) -> Vec<ObjectSpan> {
    let shift = |at: Option<Instant>| at.map(|at| shifted(recording, at));
    let span = |(object, milestones): (&Object, &Milestones)| {
        let connection = milestones.connection.map(|c| labels[c.index()].clone());
        Some(ObjectSpan {
            connection: connection.unwrap_or_default(),
            discovered: shift(milestones.discovered)?,
            requested: shift(milestones.requested),
            first_byte: shift(milestones.first_byte),
            done: shift(milestones.done),
            ..described(&race.page, object)
        })
    };
    let objects = race.page.objects().iter().zip(&recording.milestones);
    let mut spans: Vec<ObjectSpan> = objects.filter_map(span).collect();
    spans.sort_by_key(|object| object.discovered);
    spans
}

fn connections(load: &Load, recording: &Recording, labels: &[String]) -> Vec<ConnectionView> {
    let level = |(at, bytes)| LevelPoint { at: shifted(recording, at), bytes };
    let view = |(index, transfer): (usize, &TransferRecord)| ConnectionView {
        label: labels[index].clone(),
        sequence: transfer.sequence.iter().map(|e| sequence_point(recording, e)).collect(),
        window: transfer.window.iter().map(|c| window_point(recording, c)).collect(),
        flight: transfer.flight().into_iter().map(level).collect(),
        offered: transfer.offers.iter().map(|offer| level((offer.at, offer.window))).collect(),
        // None of a load that did not end.
        bounds: load
            .senders
            .get(index)
            .into_iter()
            .flatten()
            .map(|b| bound(recording, b))
            .collect(),
    };
    let transfers = recording.transfers.iter().enumerate();
    transfers
        .filter(|(_, transfer)| transfer.was_watched() && !transfer.is_unused(recording))
        .map(view)
        .collect()
}

fn bound(recording: &Recording, from: &BoundFrom) -> BoundPoint {
    let shown = |bound| match bound {
        Bound::Path => SenderBound::Path,
        Bound::CongestionWindow => SenderBound::CongestionWindow,
        Bound::ReceiveWindow => SenderBound::ReceiveWindow,
        Bound::Recovery => SenderBound::Recovery,
        Bound::Server => SenderBound::Server,
        Bound::Client => SenderBound::Client,
        Bound::Rounds => SenderBound::Rounds,
    };
    BoundPoint { at: shifted(recording, from.at), bound: from.bound.map(shown) }
}

fn sequence_point(recording: &Recording, event: &SequenceEvent) -> SequencePoint {
    SequencePoint {
        at: shifted(recording, event.at),
        from: event.from,
        to: event.to,
        kind: match event.step {
            SequenceStep::Sent => SequenceKind::Sent,
            SequenceStep::Retransmitted => SequenceKind::Retransmitted,
            SequenceStep::Dropped => SequenceKind::Dropped,
            SequenceStep::Acked => SequenceKind::Acked,
            SequenceStep::Sacked => SequenceKind::Sacked,
        },
    }
}

fn window_point(recording: &Recording, change: &WindowChange) -> WindowPoint {
    WindowPoint {
        at: shifted(recording, change.at),
        cwnd: change.cwnd,
        ssthresh: (change.ssthresh != u64::MAX).then_some(change.ssthresh),
        cause: change.cause.name().into(),
    }
}

fn queue(race: &Race, recording: &Recording, queue: &Queue) -> QueueView {
    let links = race.path.links();
    let config = if queue.link == "up" { links.reverse } else { links.forward };
    let points = queue.levels.iter().map(|level| QueuePoint {
        at: shifted(recording, level.at),
        packets: level.packets,
        bytes: level.bytes,
    });
    QueueView {
        label: format!("access link, {}", queue.link),
        capacity: match config.queue() {
            QueueLimit::Packets(n) => Some(QueueCapacity::Packets(u64::from(n))),
            QueueLimit::Bytes(n) => Some(QueueCapacity::Bytes(n)),
            QueueLimit::Unlimited => None,
        },
        points: points.collect(),
        drops: queue.drops.iter().map(|at| shifted(recording, *at)).collect(),
    }
}

/// An instant of the simulation on the report's clock, which starts with the load.
fn shifted(recording: &Recording, at: Instant) -> Instant {
    Instant::ZERO + recording.since_start(at)
}
