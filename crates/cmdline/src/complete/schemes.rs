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

/// Returns all parameters of the registry; a single scheme may refuse some of their values.
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

/// Returns the parameters that the text of a scheme does not set yet, as `name=`. A short form,
/// like `cold=` for `warm_cold=`, sets its parameter, too.
fn parameters_behind(scheme: &str) -> Completion {
    let sets = |given: &str, name: &str| {
        name.strip_suffix(given).is_some_and(|start| start.is_empty() || start.ends_with('_'))
    };
    let given = |name: &str| {
        scheme
            .split('+')
            .filter_map(|part| part.split_once('='))
            .any(|(given, _)| sets(given, name))
    };
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

/// Completes the rest of a path after `RATE,RTT,QUEUE`, or of one direction after
/// `RATE,DELAY,QUEUE`: a discipline, unless one is given, and the `keys` that are not given yet. A
/// key's value is free text, so nothing is offered for it.
pub fn path(typed: &str, keys: &[(&'static str, &'static str)]) -> Completion {
    let Some(comma) = typed.rfind(',') else { return Completion::default() };
    let given: Vec<&str> = typed[..comma].split(',').collect();
    if given.len() < 3 || typed[comma..].contains('=') {
        return Completion::default();
    }
    let has_queue = DISCIPLINES.iter().any(|queue| given.contains(&queue.name));
    let queues = DISCIPLINES.iter().filter(|_| !has_queue);
    let queues = queues.map(|queue| Candidate::open(queue.name, queue.about));
    let is_new = |key: &str| !given.iter().any(|part| part.starts_with(key));
    let keys = keys.iter().filter(|(key, _)| is_new(key));
    let keys = keys.map(|(key, about)| Candidate::open(*key, *about));
    Completion::of(queues.chain(keys)).behind(comma + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(completion: &Completion) -> Vec<&str> {
        completion.candidates.iter().map(|candidate| &*candidate.text).collect()
    }

    /// The parser refuses a second discipline, and a key that is given twice.
    #[test]
    fn a_path_has_a_discipline_and_each_key_once() {
        let keys = [UP, LOSS];
        let first = path("20mbit,80ms,9p,", &keys);
        assert!(texts(&first).contains(&"codel") && texts(&first).ends_with(&["up=", "loss="]));
        assert_eq!(texts(&path("20mbit,80ms,9p,codel,", &keys)), ["up=", "loss="]);
        let second = path("20mbit,80ms,9p,loss=0.01,", &keys);
        assert!(texts(&second).contains(&"codel") && texts(&second).ends_with(&["up="]));
    }

    /// `cold=` is the short form of `warm_cold=`; `iw=` is no short form of another parameter.
    #[test]
    fn a_scheme_has_each_parameter_once() {
        let offered = one("headstart+cold=stock+", |_| true);
        assert!(!texts(&offered).contains(&"warm_cold="));
        assert!(texts(&offered).contains(&"iw="));
        assert!(!texts(&one("linux+iw=4+", |_| true)).contains(&"iw="));
    }
}
