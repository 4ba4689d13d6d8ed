//! `ip route change PREFIX …`: which way packets go, which TCP does not see, and the metrics of the
//! route (ip-route(8)).

use super::Route;
use crate::error::Refusal;

/// Words of a way, each with a value, of which TCP knows nothing.
const OF_THE_WAY: [&str; 7] = ["dev", "via", "src", "proto", "scope", "table", "metric"];

/// Metrics of Linux that no scheme here takes from a route.
const NOT_MODELLED: [&str; 14] = [
    "congctl",
    "cwnd",
    "fastopen_no_cookie",
    "features",
    "hoplimit",
    "initrwnd",
    "quickack",
    "reordering",
    "rtt",
    "rttvar",
    "rto_min",
    "ssthresh",
    "window",
    "expires",
];

/// Returns the metrics in the words behind `ip route change`. The first word, the prefix, is passed
/// over, and so are the words of the next hop, `onlink`, and `lock` before a value.
///
/// # Errors
/// If a word is unknown, a value is missing or out of range, or a metric is not modelled. `congctl
/// cubic` is accepted.
pub(super) fn read(words: &[&str]) -> Result<Route, Refusal> {
    let mut route = Route::default();
    let mut rest = words.get(1..).unwrap_or_default();
    while let [name, behind @ ..] = rest {
        if *name == "onlink" {
            rest = behind;
            continue;
        }
        let locked = behind.first().is_some_and(|word| *word == "lock");
        let behind = &behind[usize::from(locked)..];
        let Some((value, behind)) = behind.split_first() else {
            return Err(check_known_word(name).err().unwrap_or_else(|| no_value(name)));
        };
        check_known_word(name)?;
        set(&mut route, name, value)?;
        rest = behind;
    }
    Ok(route)
}

fn no_value(name: &str) -> Refusal {
    format!("ip route: expected a value after {name}").into()
}

/// Refuses a word that Linux does not know.
fn check_known_word(name: &str) -> Result<(), Refusal> {
    const METRICS: [&str; 3] = ["advmss", "mtu", "initcwnd"];
    match [&METRICS[..], &OF_THE_WAY, &NOT_MODELLED].concat().contains(&name) {
        true => Ok(()),
        false => {
            let metrics = METRICS.join(", ");
            Err(format!("ip route: unknown word {name:?}; known metrics are {metrics}").into())
        }
    }
}

fn set(route: &mut Route, name: &str, value: &str) -> Result<(), Refusal> {
    let number = || {
        let number = value.parse::<u32>();
        number.map_err(|_| Refusal::from(format!("ip route: expected a number after {name}")))
    };
    match name {
        "advmss" => route.advmss = Some(number()?),
        "mtu" => route.mtu = Some(number()?),
        "initcwnd" => route.initcwnd = Some(number()?),
        "congctl" if value == "cubic" => {}
        name if NOT_MODELLED.contains(&name) => {
            return Err(Refusal::not_modelled(format!("{name} {value} of a route")));
        }
        _ => {}
    }
    if route.advmss.is_some_and(|mss| !(64..=65_495).contains(&mss)) || route.initcwnd == Some(0) {
        let why = "ip route: advmss must be from 64 to 65495, initcwnd at least 1";
        return Err(why.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::RefusalKind;

    fn of(text: &str) -> Result<Route, Refusal> {
        read(&text.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn metrics_are_read_beside_the_way() {
        let text =
            "192.0.2.0/24 via 192.0.2.9 dev tun0 onlink initcwnd 4 mtu lock 640 congctl lock cubic";
        let route = Route { advmss: None, mtu: Some(640), initcwnd: Some(4) };
        assert_eq!(of(text), Ok(route));
    }

    /// A metric that is passed over would leave the script to run over another route than it names.
    #[test]
    fn what_is_not_known_or_not_modelled_is_refused_by_name() {
        for (text, kind, word) in [
            ("192.0.2.0/24 dev tun0 foo 3 bar 4", RefusalKind::Wrong, "\"foo\""),
            ("192.0.2.0/24 dev tun0 mtu", RefusalKind::Wrong, "value after mtu"),
            ("192.0.2.0/24 dev tun0 initcwnd many", RefusalKind::Wrong, "number after initcwnd"),
            ("192.0.2.0/24 dev tun0 rto_min 50", RefusalKind::NotModelled, "rto_min 50"),
            ("192.0.2.0/24 dev tun0 congctl reno", RefusalKind::NotModelled, "congctl reno"),
            ("192.0.2.0/24 dev tun0 quickack 1", RefusalKind::NotModelled, "quickack 1"),
        ] {
            let refusal = of(text).unwrap_err();
            assert!(refusal.kind == kind && refusal.message.contains(word), "{refusal:?}");
        }
    }
}
