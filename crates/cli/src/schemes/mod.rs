//! `headstart schemes`: the schemes that can race, their specifications and their parameters; with
//! a name, the page of one scheme.

mod page;
use cmdline::{Appendix, EXIT, Failure, stdout};
use link::{DISCIPLINES, DisciplineDescriptor};
use race::World;
use race::{LIMIT, PERFECT_START};
use serde::Serialize;
use tcp::congestion::CONTROLLERS;
use tcp::recovery::RECOVERIES;
use tcp::registry::Descriptor;
use tcp::scheme::{NamedScheme, SchemeParameter, catalogue, parameters};
use tcp::startup::STARTUPS;
use testbed::{Contender, runs_in};

/// The sentence for perfect start in the list of schemes.
pub(crate) const ABOUT_PERFECT_START: &str = "linux by servers that know the path's rate and their share, and lose nothing: as fast as a start can be";

/// Description of the limit, for users who look for it among the schemes.
pub(crate) const ABOUT_LIMIT: &str = "computed from page and path: the earliest that any TCP with handshakes can be; a second row is without them";

#[derive(Debug, clap::Args)]
pub(crate) struct SchemesArgs {
    /// A scheme whose page is wanted, with parameters like suss+suss_max=2; without it, all are
    /// listed
    ///
    /// The page says what the scheme is and where it is specified, and how it starts step by step.
    /// It also says where headstart's version differs from the source and why, which parameters it
    /// has, and how to try it.
    #[arg(value_name = "NAME")]
    scheme: Option<String>,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart schemes", "Lists schemes, policies, queues and parameters."),
            (
                "headstart schemes suss",
                "Says how SUSS starts, from which paper, and what differs here.",
            ),
            (
                "headstart schemes linux+iw=32+pacing=on",
                "Says what linux does, and what these parameters change.",
            ),
            (
                "headstart race --schemes linux,linux+iw=32+pacing=on",
                "Races a scheme with other parameters.",
            ),
        ],
        exit: EXIT,
        see_also: &["headstart-race", "headstart-lab-sim"],
        more: &["GLOSSARY.md"],
        ..Appendix::default()
    }
}

/// The answer of the command.
#[derive(Debug)]
pub enum SchemesReply {
    /// All schemes, and the policies and parameters that they are made of.
    Listing(SchemeListing),
    /// The page of one scheme, as the command prints it.
    Page {
        /// Its JSON.
        json: String,
        /// Its text.
        text: String,
    },
}

/// All schemes, and the policies and parameters that they are made of. Names of fields are keys of
/// the JSON.
#[derive(Debug, Serialize)]
pub struct SchemeListing {
    /// Schemes by name, and the rows of a race that are no schemes.
    pub schemes: Vec<SchemeEntry>,
    /// Values of the parameter `startup`.
    pub startups: Vec<PolicyEntry>,
    /// Values of the parameter `cc`.
    pub controllers: Vec<PolicyEntry>,
    /// Values of the parameter `recovery`.
    pub recoveries: Vec<PolicyEntry>,
    /// Disciplines of queues.
    pub queues: Vec<PolicyEntry>,
    /// Parameters of schemes.
    pub parameters: Vec<ParameterEntry>,
}

/// A scheme with a name.
#[derive(Debug, Serialize)]
pub struct SchemeEntry {
    /// Its name.
    pub name: &'static str,
    /// Description, in one sentence.
    pub about: &'static str,
    /// Its specification.
    pub source: &'static str,
    /// The worlds that have it (`race --on`).
    pub on: Vec<&'static str>,
}

/// A value of the parameter `startup`, `cc` or `recovery`, or a discipline of queues.
#[derive(Debug, Serialize)]
pub struct PolicyEntry {
    /// Its name.
    pub name: &'static str,
    /// Description, in one sentence.
    pub about: &'static str,
    /// Its specification.
    pub source: &'static str,
    /// Names of the parameters that it has of its own.
    pub parameters: Vec<&'static str>,
}

/// A parameter of schemes.
#[derive(Debug, Serialize)]
pub struct ParameterEntry {
    /// Its name.
    pub name: &'static str,
    /// The values that it takes.
    pub values: &'static str,
    /// Its effect.
    pub about: &'static str,
    /// The value where it is not given, if that does not follow from the scheme.
    pub default: Option<&'static str>,
}

impl SchemeEntry {
    fn new(name: &'static str, about: &'static str, source: &'static str) -> Self {
        let contender = Contender::parse(name);
        // A name that is no contender is the limit, which exists in all worlds.
        let has = |world: &World| {
            contender.as_ref().is_ok_and(|one| runs_in(one, *world)) || contender.is_err()
        };
        let on = World::ALL.into_iter().filter(has).map(World::name).collect();
        Self { name, about, source, on }
    }

    /// The rows of a race that are no schemes.
    fn references() -> [Self; 2] {
        let on = vec![World::Sim.name()];
        let perfect =
            Self { name: PERFECT_START, about: ABOUT_PERFECT_START, source: "docs/race.md", on };
        [perfect, Self::new(LIMIT, ABOUT_LIMIT, "docs/race.md")]
    }
}

impl From<&NamedScheme> for SchemeEntry {
    fn from(named: &NamedScheme) -> Self {
        Self::new(named.name, named.about, named.source)
    }
}

impl From<&'static SchemeParameter> for ParameterEntry {
    fn from(parameter: &'static SchemeParameter) -> Self {
        let SchemeParameter { name, values, about, default, .. } = parameter;
        Self { name, values, about, default: *default }
    }
}

impl From<&DisciplineDescriptor> for PolicyEntry {
    fn from(queue: &DisciplineDescriptor) -> Self {
        let DisciplineDescriptor { name, about, source, .. } = *queue;
        Self { name, about, source, parameters: Vec::new() }
    }
}

fn policies<P: ?Sized>(all: &[&Descriptor<P>]) -> Vec<PolicyEntry> {
    let policy = |one: &&Descriptor<P>| PolicyEntry {
        name: one.name,
        about: one.about,
        source: one.source,
        parameters: one.parameters.iter().map(|parameter| parameter.name()).collect(),
    };
    all.iter().map(policy).collect()
}

pub(crate) fn run(args: &SchemesArgs) -> Result<(), Failure> {
    match (schemes(args.scheme.as_deref())?, args.json) {
        (SchemesReply::Listing(listing), true) => stdout::print_json(&listing),
        (SchemesReply::Listing(listing), false) => stdout::print(&listing.to_text()),
        (SchemesReply::Page { json, .. }, true) => stdout::print(&json),
        (SchemesReply::Page { text, .. }, false) => stdout::print(&text),
    }
}

/// Lists the schemes, or gives the page of the one named.
///
/// # Errors
/// If there is no scheme of this name.
pub fn schemes(name: Option<&str>) -> Result<SchemesReply, Failure> {
    name.map_or_else(|| Ok(SchemesReply::Listing(SchemeListing::of_all())), page::of)
}

impl SchemeListing {
    fn of_all() -> Self {
        let named = catalogue().iter().map(SchemeEntry::from);
        Self {
            schemes: named.chain(SchemeEntry::references()).collect(),
            startups: policies(STARTUPS),
            controllers: policies(CONTROLLERS),
            recoveries: policies(RECOVERIES),
            queues: DISCIPLINES.iter().map(PolicyEntry::from).collect(),
            parameters: parameters().iter().map(ParameterEntry::from).collect(),
        }
    }

    /// The listing as the command prints it.
    pub fn to_text(&self) -> String {
        let name_width = self.schemes.iter().map(|s| s.name.len()).max().unwrap_or(0);
        let mut out = "Schemes\n".to_owned();
        for SchemeEntry { name, about, source, on } in &self.schemes {
            let on = on.join(", ");
            out += &format!(
                "  {name:name_width$}  {about}\n  {:name_width$}  [{source}] on {on}\n",
                ""
            );
        }
        out += &policies_to_text("Start-ups, chosen by startup=", &self.startups);
        out += &policies_to_text("Congestion control, chosen by cc=", &self.controllers);
        out += &policies_to_text("Loss recovery, chosen by recovery=", &self.recoveries);
        out += &policies_to_text("Queues, as part of a path: 20mbit,80ms,100p,codel", &self.queues);
        out += "\nParameters, added to a name: linux+iw=32+pacing=on\n";
        for ParameterEntry { name, values, about, default } in &self.parameters {
            let default = default.map(|text| format!(" [default: {text}]")).unwrap_or_default();
            out += &format!("  {name}={values}{default}\n      {about}\n");
        }
        out
    }
}

fn policies_to_text(heading: &str, policies: &[PolicyEntry]) -> String {
    let name_width = policies.iter().map(|policy| policy.name.len()).max().unwrap_or(0);
    let mut out = format!("\n{heading}\n");
    for PolicyEntry { name, about, source, parameters } in policies {
        out += &format!("  {name:name_width$}  {about}\n  {:name_width$}  [{source}]", "");
        if !parameters.is_empty() {
            out += &format!(" takes {}", parameters.join(", "));
        }
        out.push('\n');
    }
    out
}
