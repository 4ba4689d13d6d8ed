//! Does `headstart race` name the cause, by its JSON alone?

use super::case::{CriticalMark, PageCase};
use super::load::LoadedPage;
use race::{Bound, CriticalPhases};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A case, the load of the browser, and headstart's judgement of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedPage {
    /// The case.
    pub case: &'static str,
    /// Its path.
    pub path: String,
    /// Objects of the page.
    pub objects: usize,
    /// The browser's time to the event `load`, seconds.
    pub browser_s: f64,
    /// The simulated time to the event `load`, seconds.
    pub simulated_s: Option<f64>,
    /// The cause that was built in.
    pub cause: &'static str,
    /// The shares of all causes.
    pub bound: BTreeMap<String, f64>,
    /// True if the cause's share is the largest one.
    pub is_bound_right: bool,
    /// True if the critical path shows the cause; `None` if the case does not say how.
    pub is_critical_right: Option<bool>,
    /// The analyser's first cause of the capture at the server.
    pub analysed: Option<&'static str>,
    /// True if it is the case's; `None` if a capture does not show the cause.
    pub is_analysed_right: Option<bool>,
    /// Scheduling delay of all packets but one in a hundred, seconds.
    pub lateness_p99_s: f64,
}

impl JudgedPage {
    /// Judges the JSON that a race of the page printed.
    pub fn of(case: &PageCase, loaded: &LoadedPage, race: &Value) -> Self {
        let row = scheme_row(race, &case.scheme());
        let bound: BTreeMap<String, f64> =
            serde_json::from_value(row["bound"].clone()).unwrap_or_default();
        let analysed = loaded.analysed.first;
        let names = case.analysed.iter().map(|cause| cause.name());
        Self {
            case: case.name,
            path: case.path.to_string(),
            objects: case.objects(),
            browser_s: loaded.load_s,
            simulated_s: row["milestones"]["load"]["time_s"].as_f64(),
            cause: case.bound.name(),
            is_bound_right: is_largest(case.bound, &bound),
            bound,
            is_critical_right: case.critical.as_ref().map(|mark| mark.is_on(race)),
            analysed,
            is_analysed_right: (!case.analysed.is_empty())
                .then(|| names.into_iter().any(|name| Some(name) == analysed)),
            lateness_p99_s: loaded.scheduling_delay_p99.as_secs_f64(),
        }
    }

    /// True if all that has to name the cause names it.
    pub fn is_named(&self) -> bool {
        let others = [self.is_critical_right, self.is_analysed_right];
        self.is_bound_right && others.into_iter().flatten().all(|is_right| is_right)
    }

    /// Simulated time over the browser's.
    pub fn ratio(&self) -> Option<f64> {
        self.simulated_s.map(|simulated| simulated / self.browser_s)
    }
}

/// The row of a scheme in simulation.
fn scheme_row<'a>(race: &'a Value, scheme: &str) -> &'a Value {
    let rows = race["schemes"].as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter().find(|row| row["name"] == scheme).unwrap_or(&Value::Null)
}

fn is_largest(cause: Bound, shares: &BTreeMap<String, f64>) -> bool {
    let own = shares.get(cause.name()).copied().unwrap_or_default();
    own > 0.0 && shares.iter().all(|(name, share)| name == cause.name() || *share < own)
}

impl CriticalMark {
    fn is_on(&self, race: &Value) -> bool {
        let objects = race["critical_path"]["objects"].as_array();
        let objects = objects.map(Vec::as_slice).unwrap_or_default();
        match self {
            Self::Chain(chain) => {
                let mut rest = objects.iter().map(at).skip_while(|at| *at != chain[0]);
                let after = |at: &String| {
                    let object = objects.iter().find(|object| self::at(object) == at);
                    object.is_some_and(|object| object["after"] != "connection")
                };
                chain.iter().all(|at| rest.next() == Some(at.as_str()) && after(at))
            }
            Self::Server(file) => {
                let longest =
                    objects.iter().max_by(|a, b| total_seconds(a).total_cmp(&total_seconds(b)));
                longest.is_some_and(|object| {
                    at(object) == *file && 2.0 * time(object, "server_s") > total_seconds(object)
                })
            }
            Self::Browser(files) => {
                let own = objects.iter().filter(|object| at(object).starts_with(files));
                let own: f64 = own.map(|object| time(object, "client_s")).sum();
                2.0 * own > objects.iter().map(total_seconds).sum::<f64>()
            }
            Self::Connections(count) => {
                let waits = objects.iter().filter(|object| object["after"] == "connection");
                waits.count() >= *count
            }
        }
    }
}

/// The time of all phases that the race's JSON gives an object, seconds.
fn total_seconds(object: &Value) -> f64 {
    let names = CriticalPhases::default().named().map(|(name, _)| name);
    names.iter().map(|name| time(object, &format!("{name}_s"))).sum()
}

fn time(object: &Value, phase: &str) -> f64 {
    object[phase].as_f64().unwrap_or_default()
}

/// The address of an object, from the first slash behind its host on.
fn at(object: &Value) -> &str {
    let label = object["label"].as_str().unwrap_or_default();
    let rest = label.split_once("://").map_or(label, |(_, rest)| rest);
    rest.find('/').map_or(rest, |slash| &rest[slash..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(label: &str, after: &str, phase: &str, time: f64) -> Value {
        json!({ "label": format!("https://198.18.0.1{label}"), "after": after, phase: time })
    }

    fn path(objects: &[Value]) -> Value {
        json!({ "critical_path": { "objects": objects } })
    }

    #[test]
    fn the_largest_share_is_the_cause() {
        let shares =
            |server: f64| BTreeMap::from([("server".into(), server), ("path".into(), 0.4)]);
        assert!(is_largest(Bound::Server, &shares(0.5)));
        assert!(!is_largest(Bound::Server, &shares(0.4)), "of two equal ones none is");
        assert!(!is_largest(Bound::Server, &BTreeMap::new()), "a load without shares has no cause");
    }

    #[test]
    fn a_chain_is_whole_in_its_order_and_revealed() {
        let mark = CriticalMark::Chain(vec!["/a".into(), "/b".into()]);
        let [document, a, b] = [("/", "start"), ("/a", "discovery"), ("/b", "discovery")]
            .map(|(label, after)| object(label, after, "trip_s", 0.1));
        assert!(mark.is_on(&path(&[document.clone(), a.clone(), b.clone()])));
        assert!(!mark.is_on(&path(&[document.clone(), b.clone(), a.clone()])));
        assert!(!mark.is_on(&path(&[document.clone(), a.clone()])));
        let held = object("/b", "connection", "trip_s", 0.1);
        assert!(!mark.is_on(&path(&[document, a, held])));
        assert!(!mark.is_on(&json!({})));
    }

    #[test]
    fn a_server_or_browser_takes_most_of_the_time() {
        let of = |phase: &str, time: f64| {
            path(&[object("/", "start", "trip_s", 0.3), object("/x", "discovery", phase, time)])
        };
        assert!(CriticalMark::Server("/x").is_on(&of("server_s", 0.4)));
        assert!(!CriticalMark::Server("/x").is_on(&of("server_s", 0.2)), "it is not the longest");
        assert!(!CriticalMark::Server("/x").is_on(&of("trip_s", 0.4)), "the server takes none");
        let mut looked_up = object("/x", "discovery", "server_s", 0.4);
        looked_up["dns_s"] = json!(0.5);
        let most_is_lookup = path(&[object("/", "start", "trip_s", 0.3), looked_up]);
        assert!(!CriticalMark::Server("/x").is_on(&most_is_lookup), "the lookup takes most");
        assert!(CriticalMark::Browser("/x").is_on(&of("client_s", 0.4)));
        assert!(!CriticalMark::Browser("/x").is_on(&of("client_s", 0.2)));
        assert!(!CriticalMark::Browser("/x").is_on(&of("server_s", 0.4)));
    }

    #[test]
    fn waits_for_connections_are_counted() {
        let held = || object("/x", "connection", "trip_s", 0.1);
        let two = path(&[held(), object("/y", "discovery", "trip_s", 0.1), held()]);
        assert!(CriticalMark::Connections(2).is_on(&two));
        assert!(!CriticalMark::Connections(3).is_on(&two));
    }
}
