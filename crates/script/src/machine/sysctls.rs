//! The sysctls that scripts may set: their names, and what each changes here.
//!
//! A sysctl whose mechanism the model has in one form only takes the value of that form, and
//! refuses others by name. Meanings are those of `Documentation/networking/ip-sysctl.rst`.

use super::{
    RequestedEcn, ScriptMachine, TFO_CLIENT, TFO_CLIENT_NO_COOKIE, TFO_IGNORED, TFO_SERVER,
    TFO_SERVER_ALL, TFO_SERVER_NO_COOKIE,
};
use crate::error::Refusal;

/// Takes a sysctl's value, or refuses it.
type SetsMachine = fn(&mut ScriptMachine, &str) -> Result<(), Refusal>;

/// A sysctl that is known.
#[derive(Clone, Copy)]
pub struct Sysctl {
    /// Its name below `net.ipv4.`
    pub name: &'static str,
    /// Its effect here.
    pub about: &'static str,
    /// It changes something here, or only one value is possible.
    pub has_effect: bool,
    pub(crate) set: SetsMachine,
}

impl std::fmt::Debug for Sysctl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sysctl").field("name", &self.name).finish_non_exhaustive()
    }
}

const fn sysctl(name: &'static str, about: &'static str, set: SetsMachine) -> Sysctl {
    Sysctl { name, about, has_effect: true, set }
}

/// A sysctl whose value is checked and means nothing here. Scripts that set it have a note.
const fn without_effect(name: &'static str, about: &'static str, set: SetsMachine) -> Sysctl {
    Sysctl { has_effect: false, ..sysctl(name, about, set) }
}

/// The sysctls that are known.
pub const SYSCTLS: &[Sysctl] = &[
    without_effect("tcp_base_mss", "none: there is no MTU probing here", |_, v| {
        parse_number(v).map(drop)
    }),
    sysctl("tcp_congestion_control", "`cubic` alone: name another scheme by `--scheme`", |_, v| {
        parse_one_of(v, &["cubic"])
    }),
    sysctl("tcp_dsack", "`dsack=`: duplicates are reported", |m, v| {
        m.dsack = Some(flag(v)?);
        Ok(())
    }),
    sysctl("tcp_early_retrans", "`tlp=`: 3 and 4 tail-loss probes, 0 none", |m, v| {
        parse_one_of(v, &["0", "3", "4"])?;
        m.tail_probes = Some(v != "0");
        Ok(())
    }),
    sysctl(
        "tcp_ecn",
        "`ecn=` of listeners and of other sockets: 0 off, 1 on, 2 on and off, 3 accurate, 4 accurate and on, 5 accurate and off",
        |m, v| {
            let variants = [
                ("0", "off", "off"),
                ("1", "on", "on"),
                ("2", "on", "off"),
                ("3", "accurate", "accurate"),
                ("4", "accurate", "on"),
                ("5", "accurate", "off"),
            ];
            parse_one_of(v, &variants.map(|(value, ..)| value))?;
            let known = variants.into_iter().find(|(value, ..)| *value == v);
            m.ecn = known.map(|(_, accepted, requested)| RequestedEcn { accepted, requested });
            Ok(())
        },
    ),
    sysctl("tcp_ecn_fallback", "`ecn_fallback=`", |m, v| {
        m.ecn_fallback = Some(flag(v)?);
        Ok(())
    }),
    sysctl("tcp_ecn_option", "`ecn_option=`: 0 never, 1 minimum, 2 full, 3 persist", |m, v| {
        const USES: [&str; 4] = ["never", "minimum", "full", "persist"];
        m.ecn_option = Some(USES[parse_between(v, 0, 3)? as usize]);
        Ok(())
    }),
    without_effect(
        "tcp_ecn_option_beacon",
        "none: three AccECN options for each round trip, with `ecn_option=minimum`",
        |_, v| parse_number(v).map(drop),
    ),
    sysctl("tcp_fack", "0 alone", |_, v| parse_one_of(v, &["0"])),
    sysctl(
        "tcp_fastopen",
        "bits 0x1 client, 0x2 server, 0x4 and 0x200 without cookies, 0x400 all listeners",
        |m, v| {
            const KNOWN: u32 = TFO_CLIENT
                | TFO_SERVER
                | TFO_CLIENT_NO_COOKIE
                | TFO_SERVER_NO_COOKIE
                | TFO_SERVER_ALL
                | TFO_IGNORED;
            let bits = parse_between(v, 0, u32::MAX.into())? as u32;
            if bits & !KNOWN != 0 {
                return Err(format!("the bits {:#x} are not known", bits & !KNOWN).into());
            }
            m.fast_open = Some(bits);
            Ok(())
        },
    ),
    sysctl(
        "tcp_fastopen_blackhole_timeout_sec",
        "how long lost data in SYNs stops Fast Open; 0: not",
        |m, v| {
            m.blackhole_seconds = Some(parse_between(v, 0, 86_400)?);
            Ok(())
        },
    ),
    sysctl("tcp_fastopen_cookies", "cookies of peers that are kept: 0 forgets all", |_, v| {
        parse_number(v).map(drop)
    }),
    sysctl("tcp_fastopen_key", "the key of the cookies given out", |m, v| {
        m.fast_open_key = Some(key(v)?);
        Ok(())
    }),
    sysctl("tcp_fin_timeout", "60 alone: seconds in FIN-WAIT-2", |_, v| match v {
        "60" => Ok(()),
        _ => {
            parse_number(v).and(Err(Refusal::not_modelled("another time in FIN-WAIT-2 than 60 s")))
        }
    }),
    sysctl("tcp_frto", "1 and 2: F-RTO with SACK and without", |_, v| parse_one_of(v, &["1", "2"])),
    sysctl(
        "tcp_invalid_ratelimit",
        "500 ms between answers to invalid segments, or 0: none",
        |m, v| {
            parse_one_of(v, &["0", "500"])?;
            m.answers_all_invalid = Some(v == "0");
            Ok(())
        },
    ),
    sysctl("tcp_min_tso_segs", "`tso_least=`: segments of a batch at least", |m, v| {
        m.least_batch = Some(parse_between(v, 1, 65_535)? as u32);
        Ok(())
    }),
    sysctl("tcp_mtu_probing", "0 alone: there is no MTU probing here", |_, v| match v {
        "0" => Ok(()),
        _ => Err(Refusal::not_modelled("probes of the path's MTU")),
    }),
    without_effect(
        "tcp_notsent_lowat",
        "none: what `TCP_NOTSENT_LOWAT` of a socket says at first, and whatever is written is taken",
        |_, v| parse_number(v).map(drop),
    ),
    sysctl("tcp_pacing_ca_ratio", "120 alone", |_, v| parse_one_of(v, &["120"])),
    sysctl("tcp_pacing_ss_ratio", "200 alone", |_, v| parse_one_of(v, &["200"])),
    sysctl("tcp_recovery", "1 alone: RACK", |_, v| parse_one_of(v, &["1"])),
    sysctl("tcp_reordering", "3 alone", |_, v| parse_one_of(v, &["3"])),
    sysctl("tcp_retries2", "15 alone: timeouts until a connection is given up", |_, v| match v {
        "15" => Ok(()),
        _ => parse_number(v).and(Err(Refusal::not_modelled("another number of timeouts than 15"))),
    }),
    sysctl(
        "tcp_rmem",
        "`rcvbuf=`, `rcvbuf_max=`: the first and the largest receive buffer",
        |m, v| {
            m.receive_buffer = Some(three(v)?);
            Ok(())
        },
    ),
    sysctl("tcp_rto_max_ms", "`rto_max=`: the longest timeout, also of SYN-ACKs", |m, v| {
        m.rto_max_ms = Some(parse_between(v, 1000, 120_000)?);
        Ok(())
    }),
    sysctl("tcp_sack", "`sack=`", |m, v| {
        m.sack = Some(flag(v)?);
        Ok(())
    }),
    sysctl("tcp_shrink_window", "0 alone: an offered window is never taken back", |_, v| match v {
        "0" => Ok(()),
        _ => Err(Refusal::not_modelled("windows that are taken back")),
    }),
    sysctl("tcp_slow_start_after_idle", "`idle=`: 1 `decay`, 0 `keep`", |m, v| {
        m.slow_start_after_idle = Some(flag(v)?);
        Ok(())
    }),
    sysctl("tcp_syn_retries", "number of SYN retransmissions", |m, v| {
        m.syn_retries = Some(parse_between(v, 0, 127)? as u32);
        Ok(())
    }),
    sysctl("tcp_synack_retries", "number of SYN-ACK retransmissions", |m, v| {
        m.syn_ack_retries = Some(parse_between(v, 0, 127)? as u32);
        Ok(())
    }),
    sysctl("tcp_syncookies", "1 cookies when the backlog is full, 2 always", |m, v| {
        parse_one_of(v, &["1", "2"])?;
        m.always_cookies = v == "2";
        Ok(())
    }),
    sysctl("tcp_timestamps", "`timestamps=`", |m, v| {
        m.timestamps = Some(parse_number(v)? != 0);
        Ok(())
    }),
    without_effect(
        "tcp_tso_win_divisor",
        "none: the model sends at once where the kernel may wait for a larger batch",
        |_, v| parse_between(v, 1, 1000).map(drop),
    ),
    sysctl("tcp_window_scaling", "1 alone", |_, v| match v {
        "1" => Ok(()),
        _ => flag(v).and(Err(Refusal::not_modelled("hosts that offer no window scale"))),
    }),
    without_effect("tcp_wmem", "none: whatever is written is taken", |_, v| three(v).map(drop)),
];

/// Owner of `defaults.sh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptDefaults {
    /// `gtests/net/common/defaults.sh` of google/packetdrill.
    Packetdrill,
    /// `tools/testing/selftests/net/packetdrill/defaults.sh` of Linux, which stands beside its
    /// scripts.
    Selftests,
}

/// Applies `defaults.sh`. The two versions differ in Fast Open: the kernel's has no listener that
/// accepts data without a cookie.
pub(super) fn set_defaults(machine: &mut ScriptMachine, whose: ScriptDefaults) {
    let fast_open = match whose {
        ScriptDefaults::Packetdrill => "0x70403",
        ScriptDefaults::Selftests => "0x3",
    };
    const DEFAULTS: &[(&str, &str)] = &[
        ("tcp_rmem", "4096 540000 15728640"),
        ("tcp_wmem", "4096 262144 4194304"),
        ("tcp_timestamps", "1"),
        ("tcp_syn_retries", "5"),
        ("tcp_synack_retries", "5"),
        ("tcp_sack", "1"),
        ("tcp_dsack", "1"),
        ("tcp_slow_start_after_idle", "0"),
        ("tcp_early_retrans", "4"),
        ("tcp_tso_win_divisor", "3"),
        ("tcp_ecn", "0"),
        ("tcp_notsent_lowat", "4294967295"),
        ("tcp_fastopen_key", "a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4"),
    ];
    for (name, value) in DEFAULTS.iter().chain(&[("tcp_fastopen", fast_open)]) {
        let known = SYSCTLS.iter().find(|sysctl| sysctl.name == *name);
        let done = known.map(|sysctl| (sysctl.set)(machine, value));
        debug_assert_eq!(done, Some(Ok(())), "{name}");
    }
    machine.paced = Some(false);
    machine.drops = false;
}

/// Buffers that the model takes, bytes.
const MIN_BUFFER: u64 = 1024;
const MAX_BUFFER: u64 = 1 << 30;

fn parse_one_of(value: &str, values: &[&str]) -> Result<(), Refusal> {
    match values.contains(&value) {
        true => Ok(()),
        false => Err(format!("only {} is possible here", values.join(", ")).into()),
    }
}

fn flag(value: &str) -> Result<bool, Refusal> {
    parse_one_of(value, &["0", "1"]).map(|()| value == "1")
}

fn parse_number(value: &str) -> Result<u64, Refusal> {
    let parsed = match value.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => value.parse(),
    };
    parsed.map_err(|_| "expected a number".into())
}

fn parse_between(value: &str, least: u64, most: u64) -> Result<u64, Refusal> {
    let number = parse_number(value)?;
    match (least..=most).contains(&number) {
        true => Ok(number),
        false => Err(format!("expected a number from {least} to {most}").into()),
    }
}

fn three(value: &str) -> Result<[u64; 3], Refusal> {
    let one = |word| parse_between(word, MIN_BUFFER, MAX_BUFFER);
    let numbers: Vec<_> = value.split_whitespace().map(one).collect::<Result<_, _>>()?;
    numbers.try_into().map_err(|_| "expected three numbers: least, first, most".into())
}

/// Four words of eight hexadecimal digits, each the lowest byte first in the key
/// (`proc_tcp_fastopen_key`).
fn key(value: &str) -> Result<[u8; 16], Refusal> {
    let words: Option<Vec<u32>> =
        value.split('-').map(|word| u32::from_str_radix(word, 16).ok()).collect();
    let words = words.filter(|words| words.len() == 4);
    let words = words.ok_or("expected a key like 01234567-…, four words")?;
    let mut bytes = [0; 16];
    for (chunk, word) in bytes.chunks_mut(4).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_known_and_the_table_is_in_order() {
        for whose in [ScriptDefaults::Packetdrill, ScriptDefaults::Selftests] {
            set_defaults(&mut ScriptMachine::default(), whose);
        }
        assert!(SYSCTLS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn the_key_s_words_are_little_endian() {
        // The word a0bf63f7 is kept as f7 63 bf a0.
        let bytes = key("a0bf63f7-ed803d81-cd641d30-cebc4a90").unwrap();
        assert_eq!(bytes[..8], [0xf7, 0x63, 0xbf, 0xa0, 0x81, 0x3d, 0x80, 0xed]);
        assert!(key("a0bf63f7").is_err());
    }
}
