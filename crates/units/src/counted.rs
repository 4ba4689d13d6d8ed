//! Numbers of things in words.

use std::fmt::Display;

/// Number and name of a thing whose plural ends in s, in the singular if there is one: `1 object`,
/// `2 objects`.
pub fn counted<N: Display + PartialEq + From<u8>>(n: N, thing: &str) -> String {
    let plural = if n == N::from(1) { "" } else { "s" };
    format!("{n} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let shown = [0u64, 1, 2].map(|n| counted(n, "host"));
        assert_eq!(shown, ["0 hosts", "1 host", "2 hosts"]);
    }
}
