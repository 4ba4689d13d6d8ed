//! A race as the report shows it: the libraries' records in the report's terms.

use super::distances::lookups_left_out;
use super::raced::Raced;
use super::waterfall::report_instant;
use super::{critical, diagnosis, glossary, side_by_side, table, waterfall};
use crate::schemes::{ABOUT_LIMIT, ABOUT_PERFECT_START};
use cmdline::installed;
use link::QueueLimit;
use link::path::{PathSpec, TraceStart};
use link::recording::RecordedLink;
use race::limit::Limit;
use race::{
    BASELINE, Bound, BoundFrom, Contestant, CriticalPath, LoadRecording, MeasuredLoad,
    PERFECT_START, ProcessingDelay, Queue, Race, RaceMetric, RaceResult, SequenceEvent,
    SequenceStep, TransferRecord, VisitKind, Visits,
};
use report::{
    Block, BoundPoint, ConnectionView, LevelPoint, LimitView, Links, MilestoneView, QueueCapacity,
    QueuePoint, QueueView, RaceReport, SchemeView, Section, SenderBound, SequenceKind,
    SequencePoint, WindowPoint,
};
use tcp::WindowChange;
use tcp::scheme::catalogue;
use units::{Duration, Instant, Rate, counted};
use workload::{ClientModel, ConnectionRecord, Page, PageHost, PageMilestone, ServerModel, Tls};

/// The report of a race whose first loads were recorded.
pub(super) fn report(raced: &Raced) -> RaceReport {
    let Raced { race, outcome, result, .. } = raced;
    let mut assumptions = race_facts(race);
    assumptions.extend(side_by_side::where_it_ran(result));
    let looks_up = race.page.hosts().iter().any(|host| host.lookup.is_some());
    if !looks_up {
        let recorded = lookups_left_out(&race.page);
        let note = recorded.unwrap_or_else(|| "name lookups are not part of a load".to_owned());
        assumptions.push(capitalised(&note));
    }
    let views = load_views(raced);
    RaceReport {
        title: format!("{} over {}", race.page.name(), in_title(&race.path)),
        assumptions,
        words: diagnosis::first_load_summary(result),
        glossary: glossary::definitions(result),
        lead: critical::section(result).into_iter().collect(),
        leading: result.critical.as_ref().map_or(0, |path| critical_load_index(path, &views)),
        table: table::of(result),
        sections: sections(raced),
        compared: compared(result, &views),
        schemes: views.into_iter().map(|view| view.shown).collect(),
        which_loads: which_loads(result),
        limit: limit(&outcome.limit),
        links: Links { documents: installed::documents(), ..Links::default() },
    }
}

/// The loads of the figures; the tables have medians of all loads.
fn which_loads(result: &RaceResult) -> String {
    let first =
        |count: usize, one: &str| (count > 1).then(|| format!("first of {}", counted(count, one)));
    let repeats = first(result.repeats as usize, "repeat");
    let parts = [repeats, first(result.runs.len(), "run")].into_iter().flatten();
    parts.collect::<Vec<_>>().join(", ")
}

/// Milestones, and real worlds side by side.
fn sections(raced: &Raced) -> Vec<Section> {
    let milestones = table::milestones(&raced.result, raced.race.page.objects().len());
    let milestones = milestones.map(|table| Section {
        heading: "Milestones".to_owned(),
        blocks: vec![Block::Table(table)],
    });
    milestones.into_iter().chain(side_by_side::sections(raced)).collect()
}

/// The index of the load that has the critical path.
fn critical_load_index(path: &CriticalPath, views: &[View<'_>]) -> usize {
    let is_its = |view: &View<'_>| {
        view.visit == VisitKind::First
            && view.contestant.name == path.scheme
            && view.contestant.world == path.on
    };
    views.iter().position(is_its).unwrap_or(0)
}

/// Facts about the race in all worlds.
fn race_facts(race: &Race) -> Vec<String> {
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
            rate(path.down(), path.recorded_down()),
            rate(path.up(), path.recorded_up()),
            path.rtt(),
            path.queue(),
            path.loss()
        ),
        protocols(race),
    ];
    facts.extend(distances(page));
    let recorded = [path.recorded_down(), path.recorded_up()];
    facts.extend(recorded.into_iter().flatten().map(|recorded| format!("Recorded: {recorded}")));
    if path.is_changing() && path.trace_start() == TraceStart::Anywhere {
        facts.push("Each repeat starts at another time of the recording".to_owned());
    }
    if race.background > 0 {
        facts.push(format!(
            "Background: {}, started about ten seconds before the page",
            counted(race.background as usize, "bulk linux flow")
        ));
    }
    if race.visits.count > 1 {
        let Visits { count, idle, site, reconnects, other: _ } = race.visits;
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
    facts.extend(models(race));
    facts.push(processing(race.processing));
    facts.push(format!("Limit: {ABOUT_LIMIT}"));
    facts.extend(page.notes().iter().map(|note| capitalised(note)));
    facts
}

/// The hosts with round trips of their own, and the lookups of names.
fn distances(page: &Page) -> impl Iterator<Item = String> {
    let listed = |what: &str, time: fn(&PageHost) -> Option<Duration>| {
        let own = page.hosts().iter().filter_map(|host| Some((&host.name, time(host)?)));
        let own: Vec<String> = own.map(|(name, time)| format!("{name} {time}")).collect();
        (!own.is_empty()).then(|| format!("{what}: {}", own.join(", ")))
    };
    let rtts = listed("Other round trips", |host| host.rtt);
    rtts.into_iter().chain(listed("Name lookups", |host| host.lookup))
}

/// A path without folders of its recordings.
fn in_title(path: &PathSpec) -> String {
    let folder = |file: &str| file.rfind('/').map(|end| file[..=end].to_owned());
    let recorded = [path.recorded_down(), path.recorded_up()].into_iter().flatten();
    let folders = recorded.filter_map(|recorded| folder(recorded.file()));
    folders.fold(path.to_string(), |text, folder| text.replacen(&folder, "", 1))
}

/// A rate, or the mean of one that changes.
fn rate(rate: Rate, recorded: Option<&RecordedLink>) -> String {
    match recorded {
        Some(_) => format!("{:.2} Mbit/s (mean)", rate.as_bps() as f64 / 1e6),
        None => rate.to_string(),
    }
}

/// Models that simulated servers and the loader imitate, if any.
fn models(race: &Race) -> impl Iterator<Item = String> + use<> {
    let (server, client) = (race.loader.server, race.loader.client);
    let server = (server != ServerModel::default())
        .then(|| format!("Simulated servers write as {server} (--server-model)"));
    let client = (client != ClientModel::default())
        .then(|| format!("The loader loads as {client} (--client-model)"));
    server.into_iter().chain(client)
}

/// Processing delay of simulated hosts.
fn processing(delay: ProcessingDelay) -> String {
    match delay {
        ProcessingDelay::NONE => "Simulated hosts take no time to answer (--exact)".to_owned(),
        ProcessingDelay { least, most, .. } => {
            format!("Simulated hosts take {least} to {most} to answer a packet, as real ones do")
        }
    }
}

/// A note as a line of its own; the name of a host stays as it is.
fn capitalised(note: &str) -> String {
    if note.split(' ').next().is_some_and(|word| word.contains('.')) {
        return note.to_owned();
    }
    let mut letters = note.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// Protocols of the hosts, each kind once.
fn protocols(race: &Race) -> String {
    let mut kinds: Vec<String> = Vec::new();
    for host in race.page.hosts() {
        let protocol = race.loader.protocol(host);
        let kind = match protocol.tls {
            Tls::None => format!("HTTP/{}, no TLS", protocol.http),
            version => format!("HTTP/{}, TLS {version}", protocol.http),
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds.join("; ")
}

/// Only the two instants: the bounds of objects hold for each by itself, not for all in one load.
fn limit(limit: &Limit) -> LimitView {
    LimitView {
        document: limit.times.get(PageMilestone::Document).map(|after| Instant::ZERO + after),
        page: Some(Instant::ZERO + limit.page),
        objects: Vec::new(),
    }
}

/// A recorded load as it is shown, and whose it is.
struct View<'a> {
    shown: SchemeView,
    contestant: &'a Contestant,
    visit: VisitKind,
}

/// The load of each contestant's first visit, and of a repeated one if there is one.
fn load_views(raced: &Raced) -> Vec<View<'_>> {
    raced.outcome.contestants.iter().flat_map(|contestant| views_of(raced, contestant)).collect()
}

fn views_of<'a>(raced: &'a Raced, contestant: &'a Contestant) -> Vec<View<'a>> {
    let Raced { race, outcome, result, .. } = raced;
    let world = Some(contestant.world).filter(|_| result.worlds().len() > 1);
    let load = |kind| contestant.first().and_then(|turn| turn.loads(kind).first());
    let recorded = [VisitKind::First, VisitKind::Repeated].map(|visit| (visit, load(visit)));
    let views = recorded.into_iter().filter_map(|(visit, load)| {
        let load = load?;
        let (mut shown, phase) = (scheme_view(race, contestant, load)?, load.phase);
        let kind = (race.visits.count > 1).then(|| format!("{} visit", visit.name()));
        let place = world.map(|world| world.name().to_owned()).into_iter().chain(kind);
        shown.place = place.collect::<Vec<_>>().join(" · ");
        if visit == VisitKind::Repeated {
            let own = phase.map(|phase| race.limit(visit, Some(phase)));
            shown.limit = Some(limit(own.as_ref().unwrap_or(&outcome.limit_again)));
        }
        Some(View { shown, contestant, visit })
    });
    views.collect()
}

/// Indices of `linux` and of the fastest other scheme: in the same world, at the same kind of
/// visit, by the median.
fn compared(result: &RaceResult, views: &[View<'_>]) -> Option<(usize, usize)> {
    let median = |view: &View<'_>| {
        let row = result.row(&view.contestant.name, view.contestant.world, view.visit)?;
        row.median(RaceMetric::PageSeconds)
    };
    let linux = views.iter().position(|view| view.contestant.name == BASELINE)?;
    let beside = &views[linux];
    let others = views.iter().enumerate().filter(|(at, view)| {
        *at != linux
            && view.contestant.name != PERFECT_START
            && (view.contestant.world, view.visit) == (beside.contestant.world, beside.visit)
    });
    let others = others.filter_map(|(at, view)| Some((at, median(view)?)));
    let (best, _) = others.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    Some((linux, best))
}

fn scheme_view(race: &Race, contestant: &Contestant, load: &MeasuredLoad) -> Option<SchemeView> {
    let recording = load.recording.as_ref()?;
    let labels = connection_labels(&race.page, recording);
    let at = |after: Option<Duration>| after.map(|d| Instant::ZERO + d);
    let milestone = |milestone: PageMilestone| MilestoneView {
        name: milestone.name().to_owned(),
        at: at(load.times.get(milestone)),
    };
    Some(SchemeView {
        name: contestant.name.clone(),
        place: String::new(),
        description: description(&contestant.name),
        milestones: PageMilestone::ALL.map(milestone).into(),
        page_done: at(load.page),
        objects: waterfall::objects(race, load, recording, &labels),
        connections: connections(load, recording, &labels),
        queues: recording.queues.iter().map(|q| queue(race, recording, q)).collect(),
        limit: None,
    })
}

fn description(name: &str) -> String {
    let (base, changed) = name.split_once('+').unwrap_or((name, ""));
    let about = catalogue().iter().find(|named| named.name == base);
    let about = match name {
        PERFECT_START => ABOUT_PERFECT_START,
        _ => about.map_or("", |named| named.about),
    };
    match changed {
        "" => about.to_owned(),
        changed => format!("{about}; changed: {}", changed.replace('+', ", ")),
    }
}

/// `host #n`, numbered per host in the order of opening.
fn connection_labels(page: &Page, recording: &LoadRecording) -> Vec<String> {
    let mut opened = vec![0u32; page.hosts().len()];
    let label = |connection: &ConnectionRecord| {
        let nth = &mut opened[connection.host.index()];
        *nth += 1;
        format!("{} #{nth}", page.host(connection.host).name)
    };
    recording.transfers.iter().map(|t| &t.connection).map(label).collect()
}

fn connections(
    load: &MeasuredLoad,
    recording: &LoadRecording,
    labels: &[String],
) -> Vec<ConnectionView> {
    let level = |(at, bytes)| LevelPoint { at: report_instant(recording, at), bytes };
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
            .map(|b| bound_point(recording, b))
            .collect(),
    };
    let transfers = recording.transfers.iter().enumerate();
    transfers
        .filter(|(_, transfer)| transfer.was_watched() && !transfer.is_unused(recording))
        .map(view)
        .collect()
}

fn bound_point(recording: &LoadRecording, from: &BoundFrom) -> BoundPoint {
    let shown = |bound| match bound {
        Bound::Path => Some(SenderBound::Path),
        Bound::CongestionWindow => Some(SenderBound::CongestionWindow),
        Bound::ReceiveWindow => Some(SenderBound::ReceiveWindow),
        Bound::Recovery => Some(SenderBound::Recovery),
        Bound::Server => Some(SenderBound::Server),
        Bound::Rounds => Some(SenderBound::Rounds),
        // They bound the page. A connection that nothing is requested on has no bound.
        Bound::Client | Bound::Dns => None,
    };
    BoundPoint { at: report_instant(recording, from.at), bound: from.bound.and_then(shown) }
}

fn sequence_point(recording: &LoadRecording, event: &SequenceEvent) -> SequencePoint {
    SequencePoint {
        at: report_instant(recording, event.at),
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

fn window_point(recording: &LoadRecording, change: &WindowChange) -> WindowPoint {
    WindowPoint {
        at: report_instant(recording, change.at),
        cwnd: change.cwnd,
        ssthresh: (change.ssthresh != u64::MAX).then_some(change.ssthresh),
        cause: change.cause.name().into(),
    }
}

fn queue(race: &Race, recording: &LoadRecording, queue: &Queue) -> QueueView {
    let links = race.path.links();
    let config = if queue.link == "up" { links.reverse } else { links.forward };
    let points = queue.levels.iter().map(|level| QueuePoint {
        at: report_instant(recording, level.at),
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
        drops: queue.drops.iter().map(|at| report_instant(recording, *at)).collect(),
    }
}
