//! `headstart.schemes`.

use crate::error::Fault;
use crate::results::{self, Reply, Results, Shown};
use crate::table::{Table, table};
use cli::{ParameterEntry, PolicyEntry, SchemeEntry, SchemeListing, SchemesReply};
use pyo3::prelude::*;
use std::io;
use support::parquet::RowColumn;

/// An answer of `headstart schemes`.
struct Schemes {
    reply: SchemesReply,
    /// The answer in words.
    words: [String; 1],
}

/// Lists the schemes, or gives the page of the one named.
#[pyfunction(name = "schemes")]
pub(crate) fn list_schemes(py: Python<'_>, name: Option<&str>) -> PyResult<Results> {
    let reply = cli::schemes(name).map_err(|failure| Fault::from(failure).raised(py))?;
    let words = [match &reply {
        SchemesReply::Listing(listing) => listing.to_text(),
        SchemesReply::Page { text, .. } => text.clone(),
    }];
    Results::of(py, Schemes { reply, words }, Ok(()))
}

impl Reply for Schemes {
    fn json(&self) -> serde_json::Result<String> {
        match &self.reply {
            SchemesReply::Listing(listing) => results::json(listing),
            SchemesReply::Page { json, .. } => Ok(json.clone()),
        }
    }

    fn tables(&self) -> Vec<String> {
        match self.reply {
            SchemesReply::Listing(_) => results::names([
                "schemes",
                "startups",
                "controllers",
                "recoveries",
                "queues",
                "parameters",
            ]),
            SchemesReply::Page { .. } => Vec::new(),
        }
    }

    fn table(&self, name: &str) -> io::Result<Table> {
        let SchemesReply::Listing(listing) = &self.reply else {
            return Err(io::Error::other("a page has no tables"));
        };
        let SchemeListing { schemes, startups, controllers, recoveries, queues, parameters } =
            listing;
        match name {
            "schemes" => table(&scheme_columns(), schemes.iter()),
            "startups" => table(&policy_columns(), startups.iter()),
            "controllers" => table(&policy_columns(), controllers.iter()),
            "recoveries" => table(&policy_columns(), recoveries.iter()),
            "queues" => table(&policy_columns(), queues.iter()),
            _ => table(&parameter_columns(), parameters.iter()),
        }
    }

    fn shown(&self) -> Shown<'_> {
        Shown { sentences: &self.words, tables: &[] }
    }

    fn notes(&self) -> &[String] {
        &[]
    }
}

fn scheme_columns<'a>() -> [RowColumn<&'a SchemeEntry>; 4] {
    [
        RowColumn::text("name", "Name of the scheme.", |one| one.name.into()),
        RowColumn::text("about", "Description.", |one| one.about.into()),
        RowColumn::text("source", "Specification.", |one| one.source.into()),
        RowColumn::text("on", "Worlds that have it, separated by commas.", |one| {
            one.on.join(",").into()
        }),
    ]
}

fn policy_columns<'a>() -> [RowColumn<&'a PolicyEntry>; 4] {
    [
        RowColumn::text("name", "Name of the policy.", |one| one.name.into()),
        RowColumn::text("about", "Description.", |one| one.about.into()),
        RowColumn::text("source", "Specification.", |one| one.source.into()),
        RowColumn::text("parameters", "Parameters of its own, separated by commas.", |one| {
            one.parameters.join(",").into()
        }),
    ]
}

fn parameter_columns<'a>() -> [RowColumn<&'a ParameterEntry>; 4] {
    [
        RowColumn::text("name", "Name of the parameter.", |one| one.name.into()),
        RowColumn::text("values", "Values that it takes.", |one| one.values.into()),
        RowColumn::text("about", "Effect.", |one| one.about.into()),
        RowColumn::text("default", "Value where it is not given; else by the scheme.", |one| {
            one.default.into()
        }),
    ]
}
