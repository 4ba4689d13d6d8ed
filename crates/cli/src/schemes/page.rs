//! The page of one scheme: `headstart schemes NAME`.

use super::{SchemeEntry, SchemesReply};
use cmdline::{Failure, stdout};
use race::World;
use serde::Serialize;
use tcp::Scheme;
use tcp::scheme::{
    GivenParameter, OptionInForce, OwnParameter, PagePart, PageSource, SchemePage, WrittenStep,
};
use testbed::{Contender, runs_in};

/// Characters of a line, where its words allow.
const WIDTH: usize = 110;

/// Characters of the columns of steps: phase, what is sent, pace, end.
const COLUMNS: [usize; 4] = [22, 32, 24, 32];

#[derive(Serialize)]
struct Page {
    name: String,
    about: &'static str,
    summary: Vec<&'static str>,
    sources: Vec<Source>,
    /// The worlds that have it (`race --on`).
    on: Vec<&'static str>,
    parts: Vec<Part>,
    steps: Vec<Step>,
    deviations: Vec<&'static str>,
    options: Vec<Options>,
    parameters: Vec<Parameter>,
    given: Vec<Given>,
    /// Commands to try it.
    commands: Vec<String>,
}

#[derive(Serialize)]
struct Source {
    of: &'static str,
    source: &'static str,
}

/// A policy of the scheme; `inside`: the start-up that one leaves something to.
#[derive(Serialize)]
struct Part {
    kind: &'static str,
    name: &'static str,
    about: &'static str,
}

#[derive(Serialize)]
struct Step {
    phase: String,
    sent: String,
    pace: String,
    until: String,
}

#[derive(Serialize)]
struct Options {
    name: &'static str,
    value: String,
    /// Without what the scheme's text gives, if that is another value.
    without: Option<String>,
}

/// A parameter of the scheme's own policies.
#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    /// Short form that the scheme accepts instead of the name.
    short: Option<&'static str>,
    values: String,
    default: Option<&'static str>,
    /// The value in force; empty if no text stands for it.
    value: Option<String>,
    about: &'static str,
}

/// A parameter that the scheme's text gives.
#[derive(Serialize)]
struct Given {
    name: &'static str,
    values: &'static str,
    about: &'static str,
}

/// The page of a scheme, whose name may be one that people who know TCP use.
pub(super) fn of(text: &str) -> Result<SchemesReply, Failure> {
    if let Some(entry) = SchemeEntry::references().into_iter().find(|entry| entry.name == text) {
        let SchemeEntry { name, about, source, .. } = &entry;
        let text = format!("{name}: {about} ({source})\n");
        return Ok(SchemesReply::Page { json: stdout::json(&entry)?, text });
    }
    let scheme =
        Scheme::parse(text).map_err(|error| Failure::input(unknown_scheme_error(text, &error)))?;
    let page = Page::of(&scheme);
    Ok(SchemesReply::Page { json: stdout::json(&page)?, text: page.to_text() })
}

/// Error for an unknown scheme, with what was probably meant.
fn unknown_scheme_error(text: &str, error: &tcp::SchemeError) -> String {
    match tcp::scheme::scheme_meant(text) {
        Some(meant) => meant,
        None if tcp::startup::find(text).is_some() => {
            format!("{text:?} is a start-up, not a scheme: headstart schemes linux+startup={text}")
        }
        None => error.to_string(),
    }
}

impl Page {
    fn of(scheme: &Scheme) -> Self {
        let page = scheme.page();
        let contender = Contender::new(scheme.clone());
        let worlds = World::ALL.into_iter().filter(|world| runs_in(&contender, *world));
        let on: Vec<_> = worlds.map(World::name).collect();
        let commands = commands(scheme, &on);
        let own = |own: &OwnParameter| Parameter::of(own, scheme);
        let parameters = page.parameters.iter().map(own).collect();
        let SchemePage { name, about, summary, deviations, .. } = page;
        Self {
            name,
            about,
            summary,
            sources: page.sources.into_iter().map(Source::from).collect(),
            on,
            parts: page.parts.into_iter().map(Part::from).collect(),
            steps: page.steps.into_iter().map(Step::from).collect(),
            deviations,
            options: page.options.into_iter().map(Options::from).collect(),
            parameters,
            given: page.given.into_iter().map(Given::from).collect(),
            commands,
        }
    }

    fn to_text(&self) -> String {
        let mut out = format!("{}: {}\n\n", self.name, self.about);
        for text in &self.summary {
            out += &wrap_paragraph(text, WIDTH, "", "");
        }
        out += "\nSources\n";
        for Source { of, source } in &self.sources {
            out += &wrap_paragraph(source, WIDTH, &format!("  {of}: "), "      ");
        }
        out += &format!("\nRuns on {}\n", self.on.join(", "));
        for Part { kind, name, about } in &self.parts {
            out += &wrap_paragraph(about, WIDTH, &format!("  {kind} {name}: "), "      ");
        }
        out += "\nHow it starts\n";
        out += &steps_table(&self.steps);
        out += &self.differences();
        out += &self.parameters();
        out += "\nTry it\n";
        for command in &self.commands {
            out += &format!("  {command}\n");
        }
        out
    }

    fn differences(&self) -> String {
        if self.deviations.is_empty() {
            return String::new();
        }
        let mut out = "\nWhere this differs from the source\n".to_owned();
        for text in &self.deviations {
            out += &wrap_paragraph(text, WIDTH, "  - ", "    ");
        }
        out
    }

    fn parameters(&self) -> String {
        let mut out = "\nOptions in force\n".to_owned();
        for Options { name, value, without } in &self.options {
            let without = without.as_ref().map(|text| format!(" (without: {text})"));
            out += &format!("  {name} = {value}{}\n", without.unwrap_or_default());
        }
        if !self.given.is_empty() {
            out += "\nParameters given\n";
        }
        for Given { name, values, about } in &self.given {
            out += &wrap_paragraph(about, WIDTH, &format!("  {name}={values}: "), "      ");
        }
        if !self.parameters.is_empty() {
            out += "\nParameters of its own\n";
        }
        for parameter in &self.parameters {
            out += &parameter.to_text();
        }
        out + "  (`headstart schemes` lists the parameters that every scheme has)\n"
    }
}

impl Parameter {
    fn of(own: &OwnParameter, scheme: &Scheme) -> Self {
        let OwnParameter { parameter, short } = own;
        Self {
            name: parameter.name(),
            short: *short,
            values: parameter.values(),
            default: parameter.default(),
            value: scheme.value_of(*parameter).map(str::to_owned),
            about: parameter.about(),
        }
    }

    fn to_text(&self) -> String {
        let Self { name, short, values, default, value, about } = self;
        let mut notes: Vec<String> = Vec::new();
        notes.extend(short.map(|short| format!("short: {short}")));
        notes.extend(default.map(|text| format!("default: {text}")));
        let here = value.as_deref().filter(|value| Some(*value) != *default);
        notes.extend(here.map(|value| format!("here: {value}")));
        let heading = format!("  {name}={values} [{}]\n", notes.join("; "));
        heading.replace(" []", "") + &wrap_paragraph(about, WIDTH, "      ", "      ")
    }
}

impl From<PageSource> for Source {
    fn from(PageSource { of, source }: PageSource) -> Self {
        Self { of, source }
    }
}

impl From<PagePart> for Part {
    fn from(PagePart { kind, name, about }: PagePart) -> Self {
        Self { kind, name, about }
    }
}

impl From<WrittenStep> for Step {
    fn from(WrittenStep { phase, sent, pace, until }: WrittenStep) -> Self {
        Self { phase, sent, pace, until }
    }
}

impl From<OptionInForce> for Options {
    fn from(OptionInForce { name, value, without }: OptionInForce) -> Self {
        Self { name, value, without }
    }
}

impl From<GivenParameter> for Given {
    fn from(GivenParameter { name, about, values }: GivenParameter) -> Self {
        Self { name, values, about }
    }
}

/// Commands that show the scheme beside `linux`: once, repeated where it remembers, in other
/// worlds, and on the scoreboard.
fn commands(scheme: &Scheme, on: &[&str]) -> Vec<String> {
    let name = scheme.name();
    let race = format!("headstart race 300kB --path 50mbit,80ms,0.25bdp --schemes {name}");
    let mut all = vec![match scheme.remembers() {
        true => format!("{race} --visits 2 --reconnect --idle 5"),
        false => race.clone(),
    }];
    if on.len() > 1 {
        all.push(format!("sudo {race} --on {}", on.join(",")));
    }
    all.push(format!("headstart lab scoreboard --quick --schemes {name}"));
    all
}

/// The steps as a table whose cells wrap.
fn steps_table(steps: &[Step]) -> String {
    let heading = ["phase", "what is sent", "pace", "until"].map(str::to_owned);
    let mut out = table_row(&heading);
    out += &table_row(&COLUMNS.map(|width| "-".repeat(width)));
    for Step { phase, sent, pace, until } in steps {
        out += &table_row(&[phase, sent, pace, until].map(String::clone));
    }
    out
}

fn table_row(cells: &[String; 4]) -> String {
    let mut columns: Vec<Vec<String>> = Vec::new();
    for (cell, width) in cells.iter().zip(COLUMNS) {
        columns.push(lines(cell, width));
    }
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = String::new();
    for n in 0..height {
        let mut line = String::from(" ");
        for (column, width) in columns.iter().zip(COLUMNS) {
            let text = column.get(n).map_or("", String::as_str);
            line += &format!(" {text:width$}");
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

/// The words of a text in lines of at most `width` characters, if no word is longer.
fn lines(text: &str, width: usize) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match all.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => all.push(word.to_owned()),
        }
    }
    all
}

/// A paragraph that begins with `first`; its later lines begin with `later`.
fn wrap_paragraph(text: &str, width: usize, first: &str, later: &str) -> String {
    let all = lines(&format!("{first}{text}"), width.saturating_sub(later.len()));
    let mut out = String::new();
    for (n, line) in all.iter().enumerate() {
        out += &format!("{}{line}\n", if n == 0 { "" } else { later });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five letters and a space leave no room for four more in nine.
    #[test]
    fn words_wrap_where_a_line_is_full() {
        assert_eq!(lines("seven four ten", 9), ["seven", "four ten"]);
        assert_eq!(wrap_paragraph("seven four ten", 11, "- ", "  "), "- seven\n  four ten\n");
    }
}
