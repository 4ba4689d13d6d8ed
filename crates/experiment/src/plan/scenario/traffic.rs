//! Traffic of members, in numbers.

use crate::plan::document::{
    self, Amount, AskingOrder, At, Bytes, Naming, PageSizes, PageTraffic, Requests, SpreadSpec,
    TextOr, Times, Traffic, Written,
};
use crate::plan::error::Fault;
use crate::plan::files::Files;
use std::sync::Arc;
use units::{Duration, Rate};
use workload::{
    Distribution, Http, Kilobyte, LoaderConfig, NamingPart, ObjectSizes, RequestModel,
    RequestOrder, RequestTiming, Tls,
};

/// Rounds of transfers; sizes in bytes, jitter in seconds.
#[derive(Clone, Debug)]
pub(crate) struct RoundsPlan {
    pub(crate) size: Distribution,
    pub(crate) rounds: u32,
    pub(crate) jitter: Distribution,
    pub(crate) first_jitter: Option<Distribution>,
    pub(crate) idle: Duration,
    pub(crate) every: Duration,
}

/// A user; sizes in bytes, times in seconds.
#[derive(Clone, Debug)]
pub(crate) struct UserPlan {
    pub(crate) size: Distribution,
    pub(crate) objects: Distribution,
    pub(crate) pause: Distribution,
    pub(crate) think: Distribution,
    pub(crate) pages: Option<u64>,
}

/// A workload's traffic, checked.
#[derive(Clone, Debug)]
pub(crate) enum Activity {
    /// `parallel` connections at once; sizes in bytes, `None` without end. Their weights in turn,
    /// none if all weigh the same.
    Bulk { size: Option<Distribution>, parallel: u32, weights: Vec<u32>, close: bool },
    /// Rounds of transfers.
    Rounds(Box<RoundsPlan>),
    /// Transfers that come and go; gaps in seconds, sizes in bytes.
    Poisson { gaps: Distribution, size: Distribution, count: Option<u64> },
    /// Objects one after another, and time to think between pages; times in seconds, sizes in
    /// bytes.
    User(Box<UserPlan>),
    /// Visits to a page; time to think in seconds.
    Page {
        page: Arc<workload::Page>,
        config: LoaderConfig,
        visits: u64,
        think: Distribution,
        one_way: bool,
    },
    /// Messages of `bytes` bytes; gaps in seconds.
    Telnet { gaps: Distribution, bytes: u64, count: Option<u64> },
    /// Datagrams.
    Cbr { interval: Duration, wire_bytes: u32, count: Option<u64> },
    /// Bursts of datagrams; lengths in seconds.
    OnOff { rate: Rate, wire_bytes: u32, on: Distribution, off: Distribution },
}

impl Activity {
    /// Whether a transfer of it has no end: its goodput is its throughput in the measured interval.
    pub(crate) const fn has_endless_transfers(&self) -> bool {
        match self {
            Self::Bulk { size, .. } => size.is_none(),
            Self::Telnet { .. } => true,
            Self::Rounds(_)
            | Self::Poisson { .. }
            | Self::User(_)
            | Self::Page { .. }
            | Self::Cbr { .. }
            | Self::OnOff { .. } => false,
        }
    }

    /// Whether it never finishes.
    pub(crate) const fn is_endless(&self) -> bool {
        match self {
            Self::Bulk { size, .. } => size.is_none(),
            Self::Rounds(_) | Self::Page { .. } => false,
            Self::Poisson { count, .. } | Self::Telnet { count, .. } | Self::Cbr { count, .. } => {
                count.is_none()
            }
            Self::User(user) => user.pages.is_none(),
            Self::OnOff { .. } => true,
        }
    }

    /// Checks the plan's values.
    pub(super) fn of(plan: &Traffic, files: &Files) -> Result<Self, Fault> {
        Ok(match plan {
            Traffic::Bulk(plan) => {
                let size = plan.size.as_ref().map(distribution).transpose()?;
                let parallel = plan.parallel.map_or(1, |count| count.0);
                let weights = plan.weights.iter().map(|weight| weight.0).collect();
                Self::Bulk { size, parallel, weights, close: plan.close }
            }
            Traffic::Rounds(plan) => Self::Rounds(Box::new(rounds_plan(plan)?)),
            Traffic::Poisson(plan) => Self::Poisson {
                gaps: mean_gap(&plan.mean_gap)?,
                size: distribution(&plan.size)?,
                count: plan.flows.map(|count| u64::from(count.0)),
            },
            Traffic::User(plan) => Self::User(Box::new(user(plan)?)),
            Traffic::Page(plan) => Self::Page {
                page: load_page(plan, files)?,
                config: loader(plan)?,
                visits: plan.visits.map_or(1, |visits| u64::from(visits.0)),
                think: or_fixed(plan.think.as_ref(), 0.0)?,
                one_way: plan.one_way,
            },
            Traffic::Telnet(plan) => Self::Telnet {
                gaps: match &plan.gaps {
                    Some(gaps) => some_time(gaps)?,
                    None => Distribution::telnet(),
                },
                bytes: plan.size.map_or(1, |size| size.0.0),
                count: plan.messages.map(|count| u64::from(count.0)),
            },
            Traffic::Cbr(plan) => {
                let wire_bytes = packet(plan.packet.as_ref())?;
                Self::Cbr {
                    interval: plan.rate.0.transmit_time(u64::from(wire_bytes)),
                    wire_bytes,
                    count: plan.packets.map(|count| u64::from(count.0)),
                }
            }
            Traffic::OnOff(plan) => Self::OnOff {
                rate: plan.rate.0,
                wire_bytes: packet(plan.packet.as_ref())?,
                on: distribution(&plan.on)?,
                off: distribution(&plan.off)?,
            },
        })
    }
}

fn rounds_plan(plan: &document::RoundsTraffic) -> Result<RoundsPlan, Fault> {
    Ok(RoundsPlan {
        size: distribution(&plan.size)?,
        rounds: plan.rounds.0,
        jitter: or_fixed(plan.jitter.as_ref(), 0.0)?,
        first_jitter: plan.first_jitter.as_ref().map(distribution).transpose()?,
        idle: plan.idle.map_or(Duration::ZERO, |idle| idle.0),
        every: plan.every.map_or(Duration::ZERO, |every| every.0),
    })
}

fn user(plan: &document::UserTraffic) -> Result<UserPlan, Fault> {
    Ok(UserPlan {
        size: distribution(&plan.size)?,
        objects: match &plan.objects {
            Some(objects) => distribution(objects)?,
            None => or_fixed(None, 1.0)?,
        },
        pause: or_fixed(plan.pause.as_ref(), 0.0)?,
        think: some_time(&plan.think)?,
        pages: plan.pages.map(|pages| u64::from(pages.0)),
    })
}

/// A value that is the same each time or drawn.
fn distribution<T: Amount>(
    plan: &At<TextOr<T, SpreadSpec<Written<T>>>>,
) -> Result<Distribution, Fault> {
    let made = match &**plan {
        TextOr::Text(value) => Distribution::fixed(value.number()).map_err(|e| e.to_string()),
        TextOr::Kind(spread) => spread.distribution(),
    };
    made.map_err(|why| Fault::new(plan.span(), why))
}

/// A distribution that is not always 0: repeated events must let time pass.
fn some_time(plan: &Times) -> Result<Distribution, Fault> {
    match distribution(plan)? {
        gaps if gaps.mean() == 0.0 => {
            Err(Fault::new(plan.span(), "gaps of 0s never let time pass: use longer ones"))
        }
        gaps => Ok(gaps),
    }
}

/// A page that is built in, or the one in a file.
fn load_page(plan: &PageTraffic, files: &Files) -> Result<Arc<workload::Page>, Fault> {
    let model = request_model(plan)?;
    if let Some(page) = workload::Page::builtin_with(&plan.page, model) {
        return Ok(Arc::new(page));
    }
    let spans = [
        plan.requests.as_ref().map(At::span),
        plan.request_delay.as_ref().map(At::span),
        plan.small_sizes.as_ref().map(At::span),
        plan.medium_sizes.as_ref().map(At::span),
        plan.order.as_ref().map(At::span),
        plan.naming.as_ref().map(At::span),
        plan.kilobyte.as_ref().map(At::span),
    ];
    if let Some(span) = spans.into_iter().flatten().next() {
        let why = "a HAR file says itself what is asked for and when: leave requests, request_delay, \
                   small_sizes, medium_sizes, order, naming and kilobyte out";
        return Err(Fault::new(span, why));
    }
    let page = workload::parse_har(files.bytes(&plan.page), &plan.page);
    page.map(Arc::new).map_err(|error| Fault::new(plan.page.span(), error))
}

/// Requests and contents of the papers' pages.
fn request_model(plan: &PageTraffic) -> Result<RequestModel, Fault> {
    let timing = plan.requests.as_ref().map_or(RequestTiming::default(), |asked| match **asked {
        Requests::FirstSegment => RequestTiming::FirstSegment,
        Requests::EvenlySpread => RequestTiming::EvenlySpread,
        Requests::AtEnd => RequestTiming::AtEnd,
        Requests::AllAtOnce => RequestTiming::AllAtOnce,
    });
    let sizes = |plan: &Option<At<PageSizes>>| match plan.as_ref().map(|sizes| **sizes) {
        None => ObjectSizes::default(),
        Some(PageSizes::Spread) => ObjectSizes::Spread,
        Some(PageSizes::Smallest) => ObjectSizes::Smallest,
        Some(PageSizes::Middle) => ObjectSizes::Middle,
        Some(PageSizes::Largest) => ObjectSizes::Largest,
    };
    let (small, medium) = (sizes(&plan.small_sizes), sizes(&plan.medium_sizes));
    let order = plan.order.as_ref().map_or(RequestOrder::default(), |order| match **order {
        AskingOrder::AsListed => RequestOrder::AsListed,
        AskingOrder::Reversed => RequestOrder::Reversed,
    });
    let naming = plan.naming.as_ref().map_or(NamingPart::default(), |naming| match **naming {
        Naming::Frames => NamingPart::Frames,
        Naming::Largest => NamingPart::Largest,
        Naming::Root => NamingPart::Root,
    });
    let kilobyte = match plan.kilobyte.as_ref().map(|bytes| (**bytes, bytes.span())) {
        None | Some((1024, _)) => Kilobyte::Binary,
        Some((1000, _)) => Kilobyte::Decimal,
        Some((bytes, span)) => {
            return Err(Fault::new(span, format!("a kilobyte of {bytes} bytes: use 1024 or 1000")));
        }
    };
    let delay = plan.request_delay.as_ref().map_or(Duration::ZERO, |delay| (**delay).0);
    Ok(RequestModel {
        timing,
        delay,
        small,
        medium,
        order,
        naming,
        kilobyte,
        ..RequestModel::default()
    })
}

fn loader(plan: &PageTraffic) -> Result<LoaderConfig, Fault> {
    let http = plan.http.as_ref().map(|text| match text.parse() {
        Ok(Http::Persistent) | Err(_) => {
            Err(Fault::new(text.span(), format!("{:?}: use 1.0, 1.1, 2 or 3", **text)))
        }
        Ok(Http::Http3) if plan.one_way => Err(Fault::new(
            text.span(),
            "HTTP/3 needs a dialogue: use another version, or leave one_way out",
        )),
        Ok(http) => Ok(http),
    });
    if let Some(tls) = plan.tls.as_ref().filter(|_| plan.one_way) {
        return Err(Fault::new(tls.span(), "TLS needs a dialogue: leave it or one_way out"));
    }
    let tls = plan.tls.as_ref().map(|text| {
        let wrong =
            |_| Fault::new(text.span(), format!("{:?}: use none, 1.2, 1.3 or 0rtt", **text));
        text.parse::<Tls>().map_err(wrong)
    });
    Ok(LoaderConfig {
        http: http.transpose()?,
        tls: tls.transpose()?,
        connections: plan.connections.map(|connections| connections.0),
        turnaround: plan.turnaround.as_ref().map_or(Duration::ZERO, |time| (**time).0),
        ..LoaderConfig::default()
    })
}

fn mean_gap(plan: &At<Written<Duration>>) -> Result<Distribution, Fault> {
    let made = Distribution::exponential(plan.0.as_secs_f64());
    made.map_err(|error| Fault::new(plan.span(), error))
}

fn or_fixed(plan: Option<&Times>, value: f64) -> Result<Distribution, Fault> {
    match plan {
        Some(plan) => distribution(plan),
        None => Distribution::fixed(value).map_err(|error| Fault::new(0..0, error)),
    }
}

/// Bytes of a datagram.
fn packet(plan: Option<&At<Written<Bytes>>>) -> Result<u32, Fault> {
    const DEFAULT: u32 = 1000;
    // The headers of IPv4 and UDP.
    const MIN_DATAGRAM: u64 = 28;
    const MAX_DATAGRAM: u64 = 65_535;
    match plan {
        None => Ok(DEFAULT),
        Some(plan) if (MIN_DATAGRAM..=MAX_DATAGRAM).contains(&plan.0.0) => Ok(plan.0.0 as u32),
        Some(plan) => {
            let why = format!(
                "a datagram of {} bytes: use {MIN_DATAGRAM}, which its headers take, to {MAX_DATAGRAM}, an IP \
                 packet's most",
                plan.0.0
            );
            Err(Fault::new(plan.span(), why))
        }
    }
}
