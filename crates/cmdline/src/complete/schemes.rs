//! Continuations of a scheme: its name, behind `+` the name of a parameter, behind `=` a value of
//! it.
//!
//! All of it comes from the registry that `headstart schemes` shows, and nothing is offered that
//! would be refused.

use super::{Asked, Candidate, Completion, FilesOffered};
use link::DISCIPLINES;
use race::World;
use std::borrow::Cow;
use tcp::scheme::{SchemeParameter, catalogue, parameters};
use tcp::{LinuxVersion, Scheme};

/// Values of the options that races and checks share.
pub fn shared(asked: &Asked<'_>) -> Option<Completion> {
    let is_scheme = |text: &str| Scheme::parse(text).is_ok();
    Some(match asked.argument {
        "schemes" => list(asked.typed, is_scheme),
        "scheme" => one(asked.typed, is_scheme),
        "on" => Completion::of(World::ALL.map(|world| Candidate::open(world.name(), ""))),
        "path" => path(asked.typed, &[UP, LOSS, ORDERED_JITTER, RTT_STEPS, FROM]),
        "linux" => Completion::named(LinuxVersion::ALL.map(|(name, _)| (name, ""))),
        "server_model" => Completion::named([("builtin", ""), ("nginx", "")]),
        "server" => {
            let named = Completion::named([("auto", ""), ("nginx", ""), ("builtin", "")]);
            Completion { files: Some(FilesOffered::Ending(&[])), ..named }
        }
        "browser" => Completion::named([
            ("loader", "as in simulation"),
            ("curl", "as it is installed"),
            ("chromium", "the same"),
        ]),
        _ => return None,
    })
}

/// Continuations of the last element of a list that commas separate.
pub fn list(typed: &str, is_scheme: impl Fn(&str) -> bool) -> Completion {
    let last = typed.rfind(',').map_or(0, |comma| comma + 1);
    one(&typed[last..], is_scheme).behind(last)
}

/// Continuations of one scheme; `is_scheme` decides whether a text would be accepted.
pub fn one(typed: &str, is_scheme: impl Fn(&str) -> bool) -> Completion {
    let Some(plus) = typed.rfind('+') else { return names(is_scheme) };
    match typed[plus..].find('=') {
        None => parameters_behind(&typed[..plus]).behind(plus + 1),
        Some(equals) => values_behind(typed, plus + equals, is_scheme),
    }
}

fn names(is_scheme: impl Fn(&str) -> bool) -> Completion {
    let all = catalogue().iter().map(|named| (named.name, named.about));
    let all = all.filter(|(name, _)| is_scheme(name));
    Completion::of(all.map(|(name, about)| Candidate::open(name, about)))
}

/// A parameter as it is offered.
struct OfferedParameter {
    name: &'static str,
    values: Vec<String>,
    about: Cow<'static, str>,
}

/// The parameters that a scheme has.
fn offered_parameters() -> Vec<OfferedParameter> {
    let offered = |parameter: &SchemeParameter| OfferedParameter {
        name: parameter.name,
        values: examples(&parameter.values, parameter.default),
        about: parameter.about.clone(),
    };
    parameters().iter().map(offered).collect()
}

/// Texts that may be values, from the registry's words: `on|off`, `fraction, like 0.05`, and the
/// default.
fn examples(values: &str, default: Option<&str>) -> Vec<String> {
    let words = values.split('|').map(|word| word.rsplit(' ').next().unwrap_or(word).to_owned());
    let mut all: Vec<String> = words.collect();
    all.extend(default.map(str::to_owned));
    all.dedup();
    all
}

/// Parameters that the scheme does not have yet.
fn parameters_behind(scheme: &str) -> Completion {
    let given = |name: &str| scheme.split('+').any(|part| part.split('=').next() == Some(name));
    let new = offered_parameters().into_iter().filter(|parameter| !given(parameter.name));
    Completion::of(new.map(|one| Candidate::open(format!("{}=", one.name), one.about)))
}

fn values_behind(typed: &str, equals: usize, is_scheme: impl Fn(&str) -> bool) -> Completion {
    let before = &typed[..=equals];
    let name = before[..equals].rsplit('+').next().unwrap_or_default();
    let of_name = offered_parameters().into_iter().find(|parameter| parameter.name == name);
    let values = of_name.map(|parameter| parameter.values).unwrap_or_default();
    let taken = values.into_iter().filter(|value| is_scheme(&format!("{before}{value}")));
    Completion::of(taken.map(|value| Candidate::open(value, ""))).behind(equals + 1)
}

/// The key of a path for the time at which a recorded rate begins.
pub const FROM: (&str, &str) = ("from=", "begins so far into a recorded rate");
/// The key of a path for delays that vary in order.
pub const ORDERED_JITTER: (&str, &str) =
    ("ordered-jitter=", "delays each packet by up to so much more, in order");
/// The key of a path for its rate up.
const UP: (&str, &str) = ("up=", "rate away from the client");
/// The key of a path for round trips that change.
const RTT_STEPS: (&str, &str) = ("rtt-steps=", "other round trips from times on, like 2s:80ms");
/// The key of one direction for delays that change.
pub const DELAY_STEPS: (&str, &str) = ("delay-steps=", "other delays from times on, like 2s:80ms");
/// The key of a path for random loss.
pub const LOSS: (&str, &str) = ("loss=", "probability that a packet is lost");

/// Behind `RATE,RTT,QUEUE` of a path, or `RATE,DELAY,QUEUE` of one direction: disciplines, and
/// what has a name.
pub fn path(typed: &str, keys: &[(&'static str, &'static str)]) -> Completion {
    let Some(comma) = typed.rfind(',') else { return Completion::default() };
    if typed[..comma].split(',').count() < 3 || typed[comma..].contains('=') {
        return Completion::default();
    }
    let queues = DISCIPLINES.iter().map(|queue| Candidate::open(queue.name, queue.about));
    let keys = keys.iter().map(|(key, about)| Candidate::open(*key, *about));
    Completion::of(queues.chain(keys)).behind(comma + 1)
}
