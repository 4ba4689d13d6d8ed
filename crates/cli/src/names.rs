//! Names on the command line that stand for something with a list of its own, and what is said of unknown ones.

use race::path::{PRESETS, PathSpec, preset};
use tcp::Scheme;

/// Schemes that are simulated, the baseline among them.
#[derive(Clone, Debug)]
pub(crate) struct SchemeList(pub(crate) Vec<Scheme>);

/// A list of schemes, separated by commas; the baseline, against which others are held, comes first.
pub(crate) fn schemes(list: &str) -> Result<SchemeList, String> {
    let meant = |error: tcp::SchemeError| scheme_meant(list).unwrap_or_else(|| error.to_string());
    let mut schemes = race::contestants(list).map_err(meant)?;
    schemes.sort_by_key(|scheme| scheme.name() != race::BASELINE);
    Ok(SchemeList(schemes))
}

/// The path of this name.
pub(crate) fn path_preset(name: &str) -> Result<PathSpec, String> {
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let found = preset(name).map(|preset| preset.spec());
    found.ok_or_else(|| faults::unknown("path", name, &names, "`headstart paths` lists them"))
}

/// What people who know TCP call a scheme.
struct SchemeAlias {
    alias: &'static str,
    /// Its name here.
    name: &'static str,
    /// Why it is called so.
    why: &'static str,
}

const fn alias(alias: &'static str, name: &'static str, why: &'static str) -> SchemeAlias {
    SchemeAlias { alias, name, why }
}

const SCHEME_ALIASES: [SchemeAlias; 7] = [
    alias("cubic", "linux", "Linux' TCP, whose congestion control is CUBIC"),
    alias("bbr", "linux-bbr", "Linux' TCP with BBR"),
    alias("iw", "linux+iw=32", "the initial window is the parameter iw of any scheme"),
    alias("jumpstart", "jump-start", "Jump Start"),
    alias("bbr3", "bbr3-start", "BBR that begins as BBRv3"),
    alias("rapidstart", "rapid-start", "Rapid Start"),
    alias("default", "linux", "Linux' TCP as it comes"),
];

/// The right name of the first scheme of a list that goes by another one; `None` if there is no such scheme.
pub(crate) fn scheme_meant(list: &str) -> Option<String> {
    let is_called = |part: &str, alias: &str| {
        let name = part.split(['+', '=']).next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case(alias)
    };
    if list.split([',', '+']).any(|part| is_called(part, "initcwnd")) {
        return Some(
            "\"initcwnd\" is called iw here: linux+iw=32 begins with 32 segments".to_owned(),
        );
    }
    list.split(',').find_map(|part| {
        let SchemeAlias { alias, name, why } =
            SCHEME_ALIASES.iter().find(|scheme| is_called(part, scheme.alias))?;
        Some(format!("{alias:?} is called {name} here: {why}"))
    })
}
