//! Short names for the keys of a sweep, where all of them are shown together.

/// The last parts of a dotted path: two, or as many as distinguish it from all other keys.
pub fn short_key<'a>(key: &'a str, keys: &[String]) -> &'a str {
    let starts = key.rmatch_indices('.').skip(1).map(|(at, _)| at + 1);
    let unique = |tail: &&str| {
        let tail = format!(".{tail}");
        keys.iter().filter(|other| *other != key).all(|other| !other.ends_with(&tail))
    };
    starts.map(|from| &key[from..]).find(unique).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::SCHEME;

    #[test]
    fn columns_have_names_of_their_own() {
        let keys = ["workload.a.traffic.rate", "workload.b.traffic.rate", "topology.hops", SCHEME]
            .map(str::to_owned);
        let titles = keys.each_ref().map(|key| short_key(key, &keys));
        assert_eq!(titles, ["a.traffic.rate", "b.traffic.rate", "topology.hops", SCHEME]);
    }
}
