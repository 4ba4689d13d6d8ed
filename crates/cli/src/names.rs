//! Names on the command line that stand for something with a list of its own, and what is said of unknown ones.

use race::path::{PRESETS, PathSpec, preset};

/// The path of this name.
pub(crate) fn path_preset(name: &str) -> Result<PathSpec, String> {
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let found = preset(name).map(|preset| preset.spec());
    found.ok_or_else(|| faults::unknown("path", name, &names, "`headstart paths` lists them"))
}

/// What people who know TCP call a scheme, its name here, and why it is called so.
const SCHEME_ALIASES: [(&str, &str, &str); 6] = [
    ("cubic", "linux", "Linux' TCP, whose congestion control is CUBIC"),
    ("bbr", "linux-bbr", "Linux' TCP with BBR"),
    ("initcwnd", "linux+iw=32", "the initial window is the parameter iw of any scheme"),
    ("iw", "linux+iw=32", "the initial window is the parameter iw of any scheme"),
    ("jumpstart", "jump-start", "Jump Start"),
    ("default", "linux", "Linux' TCP as it comes"),
];

/// The right name of the first scheme of a list that goes by another one; `None` if there is no such scheme.
pub(crate) fn scheme_meant(list: &str) -> Option<String> {
    let is_called = |part: &str, alias: &str| {
        let name = part.split(['+', '=']).next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case(alias)
    };
    list.split(',').find_map(|part| {
        let (alias, name, why) =
            SCHEME_ALIASES.iter().find(|(alias, ..)| is_called(part, alias))?;
        Some(format!("{alias:?} is called {name} here: {why}"))
    })
}
