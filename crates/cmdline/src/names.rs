//! Names and paths on the command line: those that stand for something with a list of its own, and
//! errors for unknown ones.

use crate::failure::note;
use crate::input;
use link::path::{PRESETS, PathSpec, preset};
use std::path::Path;
use tcp::Scheme;
use tcp::scheme::scheme_meant;

/// Schemes that are simulated, the baseline among them.
#[derive(Clone, Debug)]
pub struct SchemeList(pub Vec<Scheme>);

/// A list of schemes, separated by commas; the baseline, against which others are held, comes
/// first.
pub fn schemes(list: &str) -> Result<SchemeList, String> {
    let meant = |error: tcp::SchemeError| scheme_meant(list).unwrap_or_else(|| error.to_string());
    let mut schemes = race::contestants(list).map_err(meant)?;
    schemes.sort_by_key(|scheme| scheme.name() != race::BASELINE);
    Ok(SchemeList(schemes))
}

/// A path as it is written, or one of `headstart paths` by its name; recordings are read from their
/// files.
pub fn path(text: &str) -> Result<PathSpec, String> {
    // A path that is written out has commas.
    if !text.contains(',') {
        let unnamed = "; or write it as RATE,RTT,QUEUE, like 20mbit,80ms,100p";
        return path_preset(text).map_err(|why| why + unnamed);
    }
    PathSpec::read(text, &recording).map_err(|error| error.to_string())
}

/// The text of a file with a recorded rate.
pub fn recording(file: &str) -> Result<String, String> {
    input::read_text(Path::new(file), "a recorded rate").map_err(|failure| failure.why().to_owned())
}

/// Notes on the recordings that a path follows: columns, units and rates.
pub fn recorded_notes(path: &PathSpec) -> Vec<String> {
    let recorded = [path.recorded_down(), path.recorded_up()].into_iter().flatten();
    // The mobile downlink is no file.
    let files = recorded.filter(|recorded| !recorded.is_built_in());
    let mut notes: Vec<String> = files.map(ToString::to_string).collect();
    if path.has_default_up() {
        let up = path.up().as_bps() as f64 / 1e6;
        notes
            .push(format!("the rate up is a fifth of the mean down, {up:.2} Mbit/s (up= sets it)"));
    }
    notes
}

/// Prints the notes on the recordings of a path on standard error.
pub fn warn_recorded(path: &PathSpec) {
    recorded_notes(path).iter().for_each(|one| note(one));
}

/// The path of this name.
pub fn path_preset(name: &str) -> Result<PathSpec, String> {
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let found = preset(name).map(|preset| preset.spec());
    found.ok_or_else(|| {
        support::errors::unknown("path", name, &names, "`headstart paths` lists them")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_out_or_named() {
        assert_eq!(path("dsl"), path_preset("dsl"));
        assert_eq!(path("16mbit,50ms,128kB,up=1mbit"), path("dsl"));
        let why = path("5gg").unwrap_err();
        assert!(why.starts_with("no path \"5gg\" (did you mean \"5g\"?)"), "{why}");
        assert!(why.contains("`headstart paths` lists them; or write it as RATE,RTT"), "{why}");
        let why = path("20mbit,80ms").unwrap_err();
        assert!(why.starts_with("queue: is missing"), "{why}");
    }
}
