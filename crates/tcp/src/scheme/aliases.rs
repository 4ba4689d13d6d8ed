//! Names of schemes elsewhere.

/// A scheme's name among people who know TCP.
struct SchemeAlias {
    alias: &'static str,
    /// The scheme's name in this project.
    name: &'static str,
    /// Reason for the name.
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

/// Returns the right name of the first scheme of a list that has another name; `None` if there is
/// none.
pub fn scheme_meant(list: &str) -> Option<String> {
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
