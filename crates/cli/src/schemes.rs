//! `headstart schemes`: what can race, where it is specified, and what can be changed about it.

use crate::failure::Failure;
use crate::stdout;
use experiment::race::LIMIT;
use serde::Serialize;
use tcp::scheme::{NamedScheme, Parameter, catalogue, parameters};

/// What the limit is, for those who look for it among the schemes.
pub(crate) const ABOUT_LIMIT: &str =
    "computed from page and path: the earliest instants that no TCP can beat";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Listing {
    schemes: Vec<Scheme>,
    parameters: Vec<ParameterEntry>,
}

#[derive(Serialize)]
struct Scheme {
    name: &'static str,
    about: &'static str,
    source: &'static str,
}

#[derive(Serialize)]
struct ParameterEntry {
    name: &'static str,
    values: &'static str,
    about: &'static str,
}

impl From<&NamedScheme> for Scheme {
    fn from(named: &NamedScheme) -> Self {
        Self { name: named.name, about: named.about, source: named.source }
    }
}

impl From<&Parameter> for ParameterEntry {
    fn from(parameter: &Parameter) -> Self {
        Self { name: parameter.name, values: parameter.values, about: parameter.about }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let limit = Scheme { name: LIMIT, about: ABOUT_LIMIT, source: "docs/race.md" };
    let listing = Listing {
        schemes: catalogue().iter().map(Scheme::from).chain([limit]).collect(),
        parameters: parameters().iter().map(ParameterEntry::from).collect(),
    };
    match args.json {
        true => stdout::print_json(&listing),
        false => stdout::print(&listing.to_text()),
    }
}

impl Listing {
    fn to_text(&self) -> String {
        let name_width = self.schemes.iter().map(|s| s.name.len()).max().unwrap_or(0);
        let mut out = "Schemes\n".to_owned();
        for Scheme { name, about, source } in &self.schemes {
            out += &format!("  {name:name_width$}  {about}\n  {:name_width$}  [{source}]\n", "");
        }
        out += "\nParameters, added to a name: linux+iw=32+pacing=on\n";
        let headings: Vec<String> =
            self.parameters.iter().map(|p| format!("{}={}", p.name, p.values)).collect();
        for (heading, parameter) in headings.iter().zip(&self.parameters) {
            out += &format!("  {heading}\n      {}\n", parameter.about);
        }
        out
    }
}
