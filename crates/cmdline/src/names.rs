//! Names on the command line that stand for something with a list of its own, and errors for
//! unknown ones.

use link::path::{PRESETS, PathSpec, preset};
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

/// The path of this name.
pub fn path_preset(name: &str) -> Result<PathSpec, String> {
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let found = preset(name).map(|preset| preset.spec());
    found.ok_or_else(|| {
        support::errors::unknown("path", name, &names, "`headstart paths` lists them")
    })
}
