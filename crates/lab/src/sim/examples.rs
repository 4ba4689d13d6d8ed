//! The plans that come with headstart, and what they read.

/// Names and texts.
const EXAMPLES: [(&str, &str); 8] = [
    ("dumbbell", include_str!("../../../../plans/examples/dumbbell.toml")),
    ("parking-lot", include_str!("../../../../plans/examples/parking-lot.toml")),
    ("chain", include_str!("../../../../plans/examples/chain.toml")),
    ("asymmetric", include_str!("../../../../plans/examples/asymmetric.toml")),
    ("graph", include_str!("../../../../plans/examples/graph.toml")),
    ("sweep", include_str!("../../../../plans/examples/sweep.toml")),
    ("trace-driven", include_str!("../../../../plans/examples/trace-driven.toml")),
    ("changing.trace", include_str!("../../../../plans/examples/traces/changing.trace")),
];

/// The names of all.
pub(crate) fn names() -> [&'static str; EXAMPLES.len()] {
    EXAMPLES.map(|(name, _)| name)
}

/// The example of this name.
pub(super) fn parse(name: &str) -> Result<&'static str, String> {
    let found = EXAMPLES.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, text)| *text)
        .ok_or_else(|| support::errors::unknown("example", name, &names(), ""))
}
