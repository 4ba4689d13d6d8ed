//! The plans that come with headstart.

/// Names and texts.
pub(super) const EXAMPLES: [(&str, &str); 1] =
    [("dumbbell", include_str!("../../../../plans/examples/dumbbell.toml"))];

/// The example of this name.
pub(super) fn parse(name: &str) -> Result<&'static str, String> {
    let found = EXAMPLES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| {
        let known = EXAMPLES.map(|(name, _)| name);
        format!("there are {}", known.join(", "))
    })
}
