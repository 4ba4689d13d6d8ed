//! Checks of the policies' descriptions: names are unique, defaults are values.

use policy::congestion::CONTROLLERS;
use policy::recovery::RECOVERIES;
use policy::registry::{AnyParameter, Descriptor};
use policy::startup::STARTUPS;
use std::collections::BTreeSet;

fn names<P: ?Sized>(all: &[&Descriptor<P>]) -> Vec<&'static str> {
    all.iter().map(|policy| policy.name).collect()
}

fn parameters() -> Vec<&'static dyn AnyParameter> {
    let startups = STARTUPS.iter().flat_map(|policy| policy.parameters);
    let controllers = CONTROLLERS.iter().flat_map(|policy| policy.parameters);
    let recoveries = RECOVERIES.iter().flat_map(|policy| policy.parameters);
    startups.chain(controllers).chain(recoveries).copied().collect()
}

#[test]
fn names_are_unique_within_a_kind() {
    for names in [names(STARTUPS), names(CONTROLLERS), names(RECOVERIES)] {
        let different: BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{names:?}");
    }
}

#[test]
fn every_policy_says_what_it_is_and_where_it_is_specified() {
    let of_startups = STARTUPS.iter().map(|p| (p.name, p.about, p.source));
    let of_controllers = CONTROLLERS.iter().map(|p| (p.name, p.about, p.source));
    let of_recoveries = RECOVERIES.iter().map(|p| (p.name, p.about, p.source));
    for (name, about, source) in of_startups.chain(of_controllers).chain(of_recoveries) {
        assert!(!name.is_empty() && !about.is_empty() && !source.is_empty(), "{name:?}");
        assert!(!about.ends_with('.') && about.split(' ').count() <= 25, "{name}: {about}");
    }
}

/// [`policy::registry::ParameterValues::get`] relies on it.
#[test]
fn defaults_are_values() {
    for parameter in parameters() {
        let readable = parameter.default().is_none_or(|text| parameter.check(text).is_ok());
        assert!(readable, "{parameter:?}: {:?}", parameter.default());
    }
}

/// A parameter that two policies share is one and the same.
#[test]
fn a_name_stands_for_one_parameter() {
    for one in parameters() {
        for other in parameters() {
            let same = one.about() == other.about() && one.values() == other.values();
            assert!(one.name() != other.name() || same, "{one:?}");
        }
    }
}

/// The page of a scheme has steps for any start-up.
#[test]
fn every_start_up_has_a_page_with_steps() {
    for startup in STARTUPS {
        let page = startup.page.unwrap_or_else(|| panic!("{startup:?} has no page"));
        assert!(page.summary.ends_with('.'), "{startup:?}: {}", page.summary);
        assert!(page.steps.len() >= 2, "{startup:?}");
        for step in page.steps {
            let texts = [step.phase, step.sent, step.until];
            assert!(texts.iter().all(|text| !text.is_empty()), "{startup:?}: {step:?}");
        }
        assert!(page.deviations.iter().all(|text| text.ends_with('.')), "{startup:?}");
    }
}
