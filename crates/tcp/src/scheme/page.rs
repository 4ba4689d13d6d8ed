//! The page of a scheme: its description from its entry, its policies and the changes in its text.

use super::catalogue::{NamedScheme, find_scheme};
use super::parameters::{IDLE_RESTARTS, MEMORIES, named_parameter};
use super::{Recipe, Scheme, SchemeParameter};
use crate::config::MemoryKind;
use crate::registry::{AnyParameter, Descriptor, PageStep, PolicyPage};

/// The output of `headstart schemes NAME`.
#[derive(Clone, Debug)]
pub struct SchemePage {
    /// The scheme's text.
    pub name: String,
    /// The sentence of its name's entry.
    pub about: &'static str,
    /// Description of the scheme, a sentence or a few each.
    pub summary: Vec<&'static str>,
    /// Papers, RFCs, drafts and public code.
    pub sources: Vec<PageSource>,
    /// Start-up, congestion control and recovery.
    pub parts: Vec<PagePart>,
    /// Steps of its start, in the order of time.
    pub steps: Vec<WrittenStep>,
    /// Differences from its sources, and the reasons.
    pub deviations: Vec<&'static str>,
    /// Options of its connections that decide how it starts.
    pub options: Vec<OptionInForce>,
    /// Parameters that its policies have of their own.
    pub parameters: Vec<OwnParameter>,
    /// Parameters that its text gives, in its order.
    pub given: Vec<GivenParameter>,
}

/// The part of the scheme that a source describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSource {
    /// The scheme or one of its policies.
    pub of: &'static str,
    /// Paper, RFC, draft or project, with its section.
    pub source: &'static str,
}

/// A policy of the scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagePart {
    /// The parameter that chooses it.
    pub kind: &'static str,
    /// Its name, as that parameter takes it.
    pub name: &'static str,
    /// Description of the part.
    pub about: &'static str,
}

/// A step with the scheme's own numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenStep {
    /// The flight or phase.
    pub phase: String,
    /// Data that is sent in it.
    pub sent: String,
    /// Pace of sending.
    pub pace: String,
    /// End of the phase.
    pub until: String,
}

/// An option, by the parameter that changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionInForce {
    /// The parameter's name.
    pub name: &'static str,
    /// Its value here.
    pub value: String,
    /// Its value under the name without parameters, where that is another.
    pub without: Option<String>,
}

/// A parameter that a scheme's text gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenParameter {
    /// Its full name.
    pub name: &'static str,
    /// Description of the effect.
    pub about: &'static str,
    /// Values it takes.
    pub values: &'static str,
}

impl From<&'static SchemeParameter> for GivenParameter {
    fn from(parameter: &'static SchemeParameter) -> Self {
        let SchemeParameter { name, about, values, .. } = parameter;
        Self { name, about, values }
    }
}

/// A parameter of one of the scheme's policies.
#[derive(Clone, Copy)]
pub struct OwnParameter {
    /// Returns the entry of the page: its name, its effect and its values.
    pub parameter: &'static dyn AnyParameter,
    /// The short form that this scheme takes, if it takes one.
    pub short: Option<&'static str>,
}

impl std::fmt::Debug for OwnParameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.parameter.name())
    }
}

impl Scheme {
    /// All that is known of the scheme.
    pub fn page(&self) -> SchemePage {
        let mut parts = self.name().split('+');
        let name = parts.next().unwrap_or_default();
        let named = find_scheme(name).expect("its text was read");
        let recipe = &*self.recipe;
        let pages: Vec<&PolicyPage> = named.page.into_iter().chain(recipe.startup.page).collect();
        let given = parts
            .filter_map(|part| named_parameter(recipe, part.split('=').next().unwrap_or_default()));
        let given = given.map(GivenParameter::from);
        SchemePage {
            name: self.name().to_owned(),
            about: named.about,
            summary: pages.iter().map(|page| page.summary).collect(),
            sources: sources(named, recipe),
            parts: policies(recipe),
            steps: written_steps(recipe, pages.iter().flat_map(|page| page.steps)),
            deviations: pages.iter().flat_map(|page| page.deviations).copied().collect(),
            options: in_force(recipe, &(named.recipe)()),
            parameters: own_parameters(recipe),
            given: given.collect(),
        }
    }

    /// Its paths begin with something that earlier connections left.
    pub fn remembers(&self) -> bool {
        self.config().memory != MemoryKind::None
    }

    /// Returns the value of a policy's parameter under this scheme; `None`: it is not set, and no
    /// text stands for that.
    pub fn value_of(&self, parameter: &dyn AnyParameter) -> Option<&str> {
        self.recipe.settings.given(parameter).or(parameter.default())
    }
}

/// The scheme's source, then those of policies that it does not name.
fn sources(named: &NamedScheme, recipe: &Recipe) -> Vec<PageSource> {
    let Recipe { startup, congestion, recovery, .. } = recipe;
    let mut all = vec![PageSource { of: "scheme", source: named.source }];
    let policies = [
        ("start-up", startup.source),
        ("congestion control", congestion.source),
        ("recovery", recovery.source),
    ];
    for (of, source) in policies {
        if !all.iter().any(|known| known.source == source) {
            all.push(PageSource { of, source });
        }
    }
    all
}

fn policies(recipe: &Recipe) -> Vec<PagePart> {
    fn part<P: ?Sized>(kind: &'static str, policy: &Descriptor<P>) -> PagePart {
        PagePart { kind, name: policy.name, about: policy.about }
    }
    let mut all = vec![part("startup", recipe.startup)];
    if recipe.startup.is_wrapper() {
        all.push(PagePart { kind: "inside", ..part("startup", recipe.inner) });
    }
    all.push(part("cc", recipe.congestion));
    all.push(part("recovery", recipe.recovery));
    all
}

fn written_steps<'a>(
    recipe: &Recipe,
    steps: impl Iterator<Item = &'a PageStep>,
) -> Vec<WrittenStep> {
    let iw = recipe.config.initial_window.to_string();
    let pace = match recipe.config.pacing {
        true => "paced over the round trip (pacing=on)",
        false => "at once, then by ACKs",
    };
    let own: Vec<(String, &str)> = recipe
        .own_parameters()
        .iter()
        .filter_map(|own| {
            let value = recipe.settings.given(*own).or(own.default())?;
            Some((format!("{{{}}}", own.name()), value))
        })
        .collect();
    let text = |text: &str| {
        let with_window = text.replace("{iw}", &iw);
        own.iter().fold(with_window, |text, (name, value)| text.replace(name, value))
    };
    let step = |step: &PageStep| WrittenStep {
        phase: text(step.phase),
        sent: text(step.sent),
        pace: text(if step.pace.is_empty() { pace } else { step.pace }),
        until: text(step.until),
    };
    steps.map(step).collect()
}

/// The options that decide how a connection starts.
fn options(recipe: &Recipe) -> [(&'static str, String); 7] {
    let config = &recipe.config;
    let memory = MEMORIES.iter().find(|(_, kind)| *kind == config.memory).map_or("", |m| m.0);
    let idle = IDLE_RESTARTS.iter().find(|(_, rule)| *rule == config.idle).map_or("", |i| i.0);
    [
        ("iw", format!("{} segments", config.initial_window)),
        ("pacing", if config.pacing { "on" } else { "off" }.to_owned()),
        ("rwnd", format!("{} bytes at first", config.receive.initial_window)),
        ("rto_init", config.rto.initial.to_string()),
        ("rto_min", config.rto.min.to_string()),
        ("idle", idle.to_owned()),
        ("memory", memory.to_owned()),
    ]
}

fn in_force(recipe: &Recipe, without: &Recipe) -> Vec<OptionInForce> {
    let both = options(recipe).into_iter().zip(options(without));
    let option = |((name, value), (_, base))| {
        let without = (base != value).then_some(base);
        OptionInForce { name, value, without }
    };
    both.map(option).collect()
}

fn own_parameters(recipe: &Recipe) -> Vec<OwnParameter> {
    let own = |parameter: &'static dyn AnyParameter| {
        let short = parameter.name().split_once('_').map(|(_, short)| short);
        let is_its = |short: &&str| {
            named_parameter(recipe, short).is_some_and(|known| known.name == parameter.name())
        };
        OwnParameter { parameter, short: short.filter(is_its) }
    };
    recipe.own_parameters().into_iter().map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::catalogue;

    #[test]
    fn every_scheme_has_a_page_with_source_and_steps() {
        for named in catalogue() {
            let page = Scheme::parse(named.name).unwrap().page();
            assert_eq!(page.sources[0].source, named.source, "{}", named.name);
            assert!(page.summary.iter().all(|text| text.ends_with('.')), "{}", named.name);
            assert!(page.steps.len() >= 2, "{}", named.name);
            // Every number is filled in.
            let texts = page.steps.iter().flat_map(|s| [&s.phase, &s.sent, &s.pace, &s.until]);
            for text in texts {
                assert!(!text.is_empty() && !text.contains(['{', '}']), "{}: {text}", named.name);
            }
        }
    }

    /// 32 segments, paced, where `linux` sends ten at once.
    #[test]
    fn a_page_says_what_its_parameters_change() {
        let page = Scheme::parse("linux+iw=32+pacing=on").unwrap().page();
        let changed: Vec<_> = page.options.iter().filter(|one| one.without.is_some()).collect();
        let changed: Vec<_> = changed.iter().map(|one| (one.name, one.value.as_str())).collect();
        assert_eq!(changed, [("iw", "32 segments"), ("pacing", "on")]);
        assert_eq!(page.given.iter().map(|one| one.name).collect::<Vec<_>>(), ["iw", "pacing"]);
        assert!(page.steps[0].sent.contains("32 segments"), "{:?}", page.steps[0]);
        // Ensemble-TCP paces the whole old window, rate-based pacing three quarters of it.
        let sent = |text: &str| {
            let steps = Scheme::parse(text).unwrap().page().steps;
            let all: Vec<_> = steps.into_iter().map(|step| step.sent).collect();
            all.join(" ")
        };
        assert!(sent("linux-etcp").contains("1 of the old window"));
        assert!(sent("rbp").contains("0.75 of the old window"));
        assert!(sent("rbp+scale=0.5").contains("0.5 of the old window"));
        assert!(page.steps[0].pace.contains("pacing=on"), "{:?}", page.steps[0]);
    }

    /// A start-up that is given explains the page, whichever scheme it is given to.
    #[test]
    fn a_given_start_up_has_its_own_steps() {
        let steps = |text: &str| Scheme::parse(text).unwrap().page().steps;
        assert_eq!(steps("linux-reno+startup=suss"), steps("suss"));
    }

    #[test]
    fn a_page_names_short_forms_and_values() {
        let scheme = Scheme::parse("headstart+cold=wide").unwrap();
        let page = scheme.page();
        let own = |name: &str| {
            let found = page.parameters.iter().find(|own| own.parameter.name() == name).unwrap();
            (found.short, scheme.value_of(found.parameter))
        };
        assert_eq!(own("warm_cold"), (Some("cold"), Some("wide")));
        // On in `headstart`, off by default.
        assert_eq!(own("warm_together"), (Some("together"), Some("on")));
        assert_eq!(own("warm_cap"), (Some("cap"), Some("256")));
    }
}
