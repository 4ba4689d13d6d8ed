//! All assumptions of the agent about the kernel: functions that programs call, fields that they
//! read and write, operations, helpers, kinds of maps. None of them is a stable interface of the
//! kernel. [`crate::kernel::facts`] compares them with the running kernel's types before anything
//! is loaded, so that a renamed item is named. Tests compare them with `bpf/`. Some assumptions
//! show in no type, such as writable fields and the verifier's instructions: these show when
//! programs load.

use std::fmt::{self, Display, Formatter};

/// A part of the agent that has needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Everything: also first windows alone.
    Windows,
    /// Congestion controls of ours, whichever.
    Wrap,
    /// `hs_cubic`.
    Cubic,
    /// `hs_bbr`.
    Bbr,
    /// `hs_session`.
    Session,
}

/// Things of one sort, which a part needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assumption {
    /// The part that needs them.
    pub part: Part,
    /// Kind of the names.
    pub of: Sort,
    /// The names. If several have a bar between them, one of them is enough.
    pub names: &'static [&'static str],
}

/// Sort of a thing that a kernel may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A function that programs may call (kfunc).
    Function,
    /// A member of this structure.
    Member(&'static str),
    /// An operation of a congestion control.
    Operation,
    /// A helper function, by its number `BPF_FUNC_…`.
    Helper,
    /// A kind of map, by its number `BPF_MAP_TYPE_…`.
    Map,
}

/// The structure whose members are the operations of a congestion control.
pub(crate) const OPERATIONS: &str = "tcp_congestion_ops";

const fn of(part: Part, of: Sort, names: &'static [&'static str]) -> Assumption {
    Assumption { part, of, names }
}

use Part::{Bbr, Cubic, Session, Windows, Wrap};
use Sort::{Function, Helper, Map, Member, Operation};

/// All of it, and what of the agent needs it.
pub(crate) const ASSUMED: &[Assumption] = &[
    of(Windows, Map, &["HASH", "ARRAY", "LRU_HASH", "LPM_TRIE", "SK_STORAGE", "RINGBUF"]),
    of(
        Windows,
        Helper,
        &[
            "map_lookup_elem",
            "map_update_elem",
            "map_delete_elem",
            "ktime_get_ns",
            "get_prandom_u32",
            "sk_storage_get",
            "setsockopt",
            "getsockopt",
            "sock_ops_cb_flags_set",
            "skc_to_tcp_sock",
            "ringbuf_reserve",
            "ringbuf_submit",
            "probe_read_kernel",
            // Linux 5.10: only `report` needs it, which is loaded only if the operator asks for the
            // option.
            "reserve_hdr_opt",
            "store_hdr_opt",
        ],
    ),
    // Linux 5.13, like this one, also has two needs of the programs that types do not show. They
    // are atomic instructions that return the old value (5.12), and pointers as arguments of
    // functions that the verifier follows once (5.13).
    of(Windows, Helper, &["for_each_map_elem"]),
    of(Windows, Member("in6_addr"), &["in6_u"]),
    of(Windows, Member("ns_common"), &["inum"]),
    of(Windows, Member("net"), &["ns", "ipv4"]),
    of(Windows, Member("netns_ipv4"), &["sysctl_tcp_syn_retries"]),
    of(
        Windows,
        Member("sock_common"),
        &[
            "skc_daddr",
            "skc_dport",
            "skc_num",
            "skc_family",
            "skc_state",
            "skc_listener",
            "skc_net",
            "skc_v6_daddr",
        ],
    ),
    of(
        Windows,
        Member("sock"),
        &["__sk_common", "sk_max_pacing_rate", "sk_rcvbuf", "sk_userlocks"],
    ),
    of(
        Windows,
        Member("inet_connection_sock"),
        &["icsk_ca_ops", "icsk_ca_state", "icsk_ca_setsockopt", "icsk_rto", "icsk_syn_retries"],
    ),
    of(Windows, Member("minmax_sample"), &["v"]),
    of(Windows, Member("minmax"), &["s"]),
    of(
        Windows,
        Member("tcp_sock"),
        &[
            "inet_conn",
            "mss_cache",
            "snd_cwnd",
            "snd_cwnd_clamp",
            "snd_ssthresh",
            "prior_cwnd",
            "prior_ssthresh",
            "snd_nxt",
            "snd_una",
            "srtt_us",
            "packets_out",
            "delivered",
            "data_segs_out",
            "total_retrans",
            "bytes_acked",
            "delivered_mstamp",
            "first_tx_mstamp",
            "tcp_mstamp",
            "rtt_min",
        ],
    ),
    of(
        Windows,
        Member("bpf_sock_ops"),
        &["op", "args", "reply", "bpf_sock_ops_cb_flags", "sk", "skb_len", "skb_tcp_flags"],
    ),
    of(Windows, Member("bpf_sock_ops_kern"), &["sk"]),
    of(Windows, Operation, &["name"]),
    of(Wrap, Map, &["STRUCT_OPS", "QUEUE"]),
    of(Wrap, Helper, &["map_push_elem", "map_pop_elem", "set_retval", "spin_lock", "spin_unlock"]),
    of(Wrap, Member("bpf_sock"), &["protocol"]),
    of(
        Wrap,
        Member("bpf_sockopt"),
        &["sk", "optval", "optval_end", "level", "optname", "optlen", "retval"],
    ),
    of(Wrap, Member("sock"), &["sk_pacing_rate", "sk_pacing_status"]),
    of(Wrap, Member("inet_connection_sock"), &["icsk_ca_priv"]),
    of(
        Wrap,
        Member("tcp_sock"),
        &["write_seq", "sacked_out", "lost_out", "retrans_out", "max_packets_out", "tcp_wstamp_ns"],
    ),
    of(Wrap, Member("rate_sample"), &["acked_sacked"]),
    of(Wrap, Operation, &["ssthresh", "set_state", "cwnd_event", "undo_cwnd", "init", "release"]),
    of(Cubic, Member("netns_ipv4"), &["sysctl_tcp_min_tso_segs"]),
    of(Cubic, Member("bictcp"), &["cnt"]),
    of(Cubic, Member("ack_sample"), &["pkts_acked"]),
    of(Cubic, Operation, &["cong_avoid", "pkts_acked", "min_tso_segs"]),
    of(
        Cubic,
        Function,
        &[
            "cubictcp_init",
            "cubictcp_recalc_ssthresh",
            "cubictcp_cong_avoid",
            "cubictcp_state",
            "cubictcp_acked",
            "cubictcp_cwnd_event|cubictcp_cwnd_event_tx_start",
            "tcp_reno_undo_cwnd",
        ],
    ),
    of(Bbr, Member("bbr"), &["min_rtt_us", "bw", "full_bw_reached"]),
    of(Bbr, Operation, &["cong_control", "sndbuf_expand", "min_tso_segs"]),
    of(
        Bbr,
        Function,
        &[
            "bbr_init",
            "bbr_main",
            "bbr_sndbuf_expand",
            "bbr_undo_cwnd",
            "bbr_ssthresh",
            "bbr_min_tso_segs",
            "bbr_set_state",
            "bbr_cwnd_event|bbr_cwnd_event_tx_start",
        ],
    ),
    of(Session, Member("rate_sample"), &["rtt_us"]),
    of(Session, Member("tcp_sock"), &["is_cwnd_limited"]),
    of(Session, Operation, &["cong_control"]),
    of(
        Session,
        Function,
        &["tcp_reno_undo_cwnd", "tcp_reno_ssthresh", "tcp_slow_start", "tcp_cong_avoid_ai"],
    ),
];

/// Versions of Linux that introduced things which older ones in use lack.
const SINCE: &[(&str, &str)] = &[
    ("STRUCT_OPS", "5.6"),
    ("RINGBUF", "5.8"),
    ("for_each_map_elem", "5.13"),
    ("set_retval", "5.18"),
];

/// A function that is used if it exists (Linux 6.2). Without it connections that open at once do
/// not share a path's window: the first one takes all.
pub(crate) const COUNTS_HANDSHAKES: &str = "bpf_cast_to_kern_ctx";

/// An operation that is registered if it exists (Linux 7.1); older kernels report the start by
/// `cwnd_event`.
pub(crate) const OWN_TX_START: &str = "cwnd_event_tx_start";

/// Arguments of `cong_control` since Linux 6.10; it has two before.
pub(crate) const ARGUMENTS_WITH_ACK: usize = 4;

/// A flag of maps (Linux 6.4): a congestion control is listed only as long as its link lives.
/// Before, it stays listed after `kill -9` until an agent takes it away.
pub(crate) const LINKED: &str = "BPF_F_LINK";

/// Members of the kernel's BBR that came with its versions 2 and 3, which keep other state.
pub(crate) const OF_NEWER_BBR: &[&str] = &["inflight_hi", "bw_hi", "inflight_longterm"];

impl Assumption {
    /// Describes one of several names, for messages; with the version of Linux that introduced it,
    /// if known.
    pub(crate) fn described_by(&self, names: &str) -> String {
        let since = SINCE.iter().find(|(name, _)| *name == names);
        let since = since.map(|(_, version)| format!(" (Linux {version})")).unwrap_or_default();
        let names = names.replace('|', " or ");
        let shown = match self.of {
            Sort::Function => format!("function {names}"),
            Sort::Member(of) => format!("field {of}.{names}"),
            Sort::Operation => format!("operation {names} of congestion controls"),
            Sort::Helper => format!("helper bpf_{names}"),
            Sort::Map => format!("map of type {names}"),
        };
        shown + &since
    }
}

impl Display for Part {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Windows => "first windows",
            Self::Wrap => "congestion controls",
            Self::Cubic => "hs_cubic",
            Self::Bbr => "hs_bbr",
            Self::Session => "hs_session",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    /// The programs' sources, one behind the other.
    fn programs() -> String {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf");
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        files.map(|file| fs::read_to_string(file).unwrap()).collect()
    }

    fn kernel_header() -> String {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf/kernel.h")).unwrap()
    }

    /// `of` as a key: the structure of a member, the sort of everything else.
    fn assumed(of: &str) -> BTreeSet<String> {
        let keyed = ASSUMED.iter().filter(|assumption| match assumption.of {
            Sort::Member(structure) => structure == of,
            Sort::Operation => OPERATIONS == of,
            other => format!("{other:?}") == of,
        });
        let names = keyed.flat_map(|assumption| assumption.names.iter());
        names.flat_map(|names| names.split('|')).map(str::to_owned).collect()
    }

    fn words(text: &str) -> Vec<&str> {
        let is_apart = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        text.split(is_apart).filter(|word| !word.is_empty()).collect()
    }

    /// The name that a declaration in C declares: `void (*name)(…);`, `type name[4];`,
    /// `u8 name : 1;`.
    fn declared(line: &str) -> Option<&str> {
        let line = line.split("/*").next()?.trim();
        if let Some((_, rest)) = line.split_once("(*") {
            return words(rest).first().copied();
        }
        let line = line.split([';', '[', ':']).next()?;
        line.contains(' ').then(|| words(line).last().copied())?
    }

    /// Fields by which a kind of socket begins with a more general one.
    const BASES: [(&str, &str); 2] = [("inet_sock", "sk"), ("inet_connection_sock", "icsk_inet")];

    /// The structures of kernel.h whose fields are looked up in the kernel, with those.
    fn structures() -> Vec<(String, BTreeSet<String>)> {
        let text = kernel_header();
        let (_, text) = text.split_once("attribute push").unwrap();
        let (text, _) = text.split_once("attribute pop").unwrap();
        let mut found = Vec::new();
        for part in text.split("\nstruct ").skip(1) {
            let (name, rest) = part.split_once(" {\n").unwrap();
            let (body, _) = rest.split_once("\n}").unwrap();
            let fields = body.lines().filter(|line| line.contains(';'));
            let fields = fields.filter_map(declared).map(str::to_owned).collect();
            found.push((name.to_owned(), fields));
        }
        found
    }

    #[test]
    fn every_field_that_programs_use_is_assumed_and_no_other() {
        let structures = structures();
        assert!(structures.len() > 15, "{structures:?}");
        for (name, mut fields) in structures {
            // One of these two is always there, whichever the kernel has.
            fields.remove(OWN_TX_START);
            // Members of nameless parts of a structure count as its own.
            fields.remove("u6_addr32");
            // Programs cast sockets, and read no such field.
            for (_, base) in BASES.iter().filter(|(of, _)| *of == name) {
                fields.remove(*base);
            }
            assert_eq!(assumed(&name), fields, "struct {name}");
        }
    }

    #[test]
    fn every_function_of_the_kernel_that_programs_call_is_assumed_and_no_other() {
        let text = kernel_header();
        // Declarations may go over two lines.
        let declarations = text.split(';').filter(|part| part.contains("__ksym"));
        let names: BTreeSet<_> = declarations
            .filter_map(|part| part.split_once("extern "))
            .filter_map(|(_, part)| words(part.split_once('(')?.0).last().copied())
            // The same function under its older arguments.
            .filter(|name| !name.contains("___") && *name != COUNTS_HANDSHAKES)
            .map(str::to_owned)
            .collect();
        assert_eq!(assumed("Function"), names);
    }

    #[test]
    fn every_helper_and_kind_of_map_that_programs_use_is_assumed() {
        let text = programs();
        // Macros of libbpf's, and what `bpf_core_read` calls.
        let of_libbpf = ["core_field_exists", "core_field_size", "core_type_size", "ksym_exists"];
        let called = text.match_indices("bpf_").filter_map(|(at, _)| {
            let (name, rest) = text[at + 4..].split_at(words(&text[at + 4..])[0].len());
            rest.starts_with('(').then_some(name)
        });
        let mut called: BTreeSet<_> = called
            .filter(|name| !of_libbpf.contains(name) && *name != "cast_to_kern_ctx")
            .map(|name| if name == "core_read" { "probe_read_kernel" } else { name }.to_owned())
            .collect();
        // A sign of what no type shows.
        called.insert("for_each_map_elem".to_owned());
        assert_eq!(assumed("Helper"), called);
        let maps = text.split("__uint(type, BPF_MAP_TYPE_").skip(1);
        let mut maps: BTreeSet<_> = maps.map(|rest| words(rest)[0].to_owned()).collect();
        maps.insert("STRUCT_OPS".to_owned());
        assert_eq!(assumed("Map"), maps);
    }
}
