//! The reason why a kernel rejects programs, in words of an operator. libbpf and the verifier write
//! for programmers, and much. This module extracts the missing ability of the kernel.

/// Programs that could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// One sentence, or a part of one that goes on from "this kernel …".
    pub reason: String,
    /// The program that was rejected, if it was one.
    pub program: Option<String>,
    /// The whole output of libbpf and the verifier.
    pub details: String,
}

impl Rejection {
    /// Creates the report of a rejected attempt. `error` is the loader's own, `said` the whole
    /// output of the attempt.
    pub fn new(error: &str, said: &str) -> Self {
        let program = rejected_program(said);
        let details = format!("{error}\n{}", said.trim()).trim_end().to_owned();
        Self { reason: rejection_reason(error, said, program.as_deref()), program, details }
    }
}

/// Returns the name of the rejected program, from a line such as `libbpf: prog 'hs_window': failed
/// to load: -EACCES`.
fn rejected_program(said: &str) -> Option<String> {
    let line = said.lines().find(|line| line.contains("failed to load: -"))?;
    text_between(line, "prog '", "'").map(str::to_owned)
}

fn text_between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found)
}

/// Returns the reason for a rejection in plain words, if it is a known one; otherwise the
/// verifier's last message.
fn rejection_reason(error: &str, said: &str, program: Option<&str>) -> String {
    let known =
        KNOWN.iter().find_map(|known| known.in_words(said).or_else(|| known.in_words(error)));
    match (known, program) {
        (Some(words), _) => words,
        (None, Some(program)) => {
            let last = last_words(said).unwrap_or(error);
            format!("rejects program {program}: {last}")
        }
        (None, None) => format!("does not support what the programs need: {error}"),
    }
}

/// Returns the verifier's last message, before its statistics.
fn last_words(said: &str) -> Option<&str> {
    let mut log = said.lines().map(str::trim).take_while(|line| !line.starts_with("processed "));
    let is_told = |line: &&str| {
        let is_state = line.starts_with(|first: char| first.is_ascii_digit() || first == ';');
        !line.is_empty() && !is_state && !line.contains("libbpf:") && !line.contains("--")
    };
    log.by_ref().filter(is_told).last()
}

/// A known message, and its meaning.
struct KnownMessage {
    /// Text before what is named.
    before: &'static str,
    /// Text behind what is named.
    after: &'static str,
    /// `{}` stands for it.
    means: &'static str,
}

impl KnownMessage {
    fn in_words(&self, said: &str) -> Option<String> {
        let named = said.lines().find_map(|line| text_between(line, self.before, self.after))?;
        Some(self.means.replace("{}", named))
    }
}

const fn known_message(
    before: &'static str,
    after: &'static str,
    means: &'static str,
) -> KnownMessage {
    KnownMessage { before, after, means }
}

/// Messages in the order in which they are looked for. Their sources are libbpf.c (`extern`, `map`,
/// `struct_ops`) and the kernel's kernel/bpf/verifier.c.
const KNOWN: &[KnownMessage] = &[
    known_message("extern (func ksym) '", "'", "has no function {} for programs"),
    known_message("unresolved weak ksym '", "'", "has no function {} for programs"),
    known_message("Cannot find member ", " in", "has no operation {} of congestion controls"),
    known_message(
        "calling kernel function ",
        " is not allowed",
        "lets programs not call its function {}",
    ),
    known_message("func '", "' doesn't have", "has an operation {} with fewer arguments"),
    known_message(
        "expected pointer to STRUCT ",
        " but",
        "has a module with types (BTF) of its own: struct {}",
    ),
    known_message("unknown func ", "#", "has no helper {} for programs of this type"),
    known_message(
        "program of this type cannot use helper ",
        "#",
        "has no helper {} for programs of this type",
    ),
    known_message(
        "no write support to 'struct ",
        "'",
        "does not let programs write fields of struct {}",
    ),
    known_message(
        "no write support to ",
        " at off",
        "does not let programs write fields of struct {}",
    ),
    known_message(
        "write access at off ",
        " ",
        "does not let programs write a field that they need (Linux 6.0)",
    ),
    known_message(
        "BPF_STX uses reserved",
        "",
        "lacks atomic instructions of programs (Linux 5.12)",
    ),
    known_message(
        "BPF_ATOMIC uses reserved",
        "",
        "lacks atomic instructions of programs (Linux 5.12)",
    ),
    known_message(
        "unknown opcode ",
        "",
        "does not know an instruction of the programs (Linux 5.12)",
    ),
    known_message(
        "BPF program is too large",
        "",
        "has a verifier that gives up on programs of this size",
    ),
    known_message("map '", "': failed to create", "cannot create map {}"),
    known_message(
        "Operation not permitted",
        "",
        "does not allow it: run as root, or with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN; in a container its seccomp profile \
         has to allow bpf, too",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn words(said: &str) -> String {
        Rejection::new("Invalid argument (os error 22)", said).reason
    }

    /// Messages of libbpf 1.7 and the verifiers of Linux 6.1, 5.10 and 7.1.
    #[test]
    fn what_the_verifier_says_is_told_in_words_of_an_operator() {
        let cases = [
            (
                "libbpf: extern (func ksym) 'cubictcp_cwnd_event': not found in kernel or module BTFs",
                "has no function cubictcp_cwnd_event for programs",
            ),
            ("libbpf: map 'hs_cubic': failed to create: -EINVAL", "cannot create map hs_cubic"),
            (
                "func 'cong_control' doesn't have 4-th argument\ninvalid bpf_context access off=24 size=8",
                "has an operation cong_control with fewer arguments",
            ),
            (
                "19: (b4) w1 = -22\nunknown func bpf_set_retval#187",
                "has no helper bpf_set_retval for programs of this type",
            ),
            (
                "kernel function bbr_init R1 expected pointer to STRUCT sock but R1 has a pointer to STRUCT tcp_sock",
                "has a module with types (BTF) of its own: struct sock",
            ),
            ("BPF_STX uses reserved fields", "lacks atomic instructions of programs (Linux 5.12)"),
            (
                "libbpf: struct_ops init_kern hs_cubic: Cannot find member cwnd_event_tx_start in kernel BTF",
                "has no operation cwnd_event_tx_start of congestion controls",
            ),
        ];
        for (said, expected) in cases {
            assert_eq!(words(said), expected, "{said}");
        }
    }

    /// The log of Linux 6.1, in which a pointer to memory was no key of a map.
    const UNKNOWN: &str = "libbpf: prog 'hs_window': BPF program load failed: -EACCES
libbpf: prog 'hs_window': -- BEGIN PROG LOAD LOG --
Validating finish_handshake() func#5...
; struct path *path = key ? bpf_map_lookup_elem(&paths, key) : NULL;
1104: (85) call bpf_map_lookup_elem#1
R2 type=mem expected=fp, pkt, pkt_meta, map_key, map_value
processed 6 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0
-- END PROG LOAD LOG --
libbpf: prog 'hs_window': failed to load: -EACCES
libbpf: failed to load object 'agent'";

    #[test]
    fn what_is_not_known_is_the_verifiers_last_word() {
        let rejection = Rejection::new("Permission denied (os error 13)", UNKNOWN);
        assert_eq!(rejection.program.as_deref(), Some("hs_window"));
        assert_eq!(
            rejection.reason,
            "rejects program hs_window: R2 type=mem expected=fp, pkt, pkt_meta, map_key, map_value"
        );
        assert!(rejection.details.starts_with("Permission denied (os error 13)\nlibbpf: prog"));
    }

    /// If bpf(2) itself is refused, as by a container's seccomp profile, there is nothing but the
    /// error.
    #[test]
    fn what_bpf_itself_refuses_is_told_by_its_error() {
        let rejection = Rejection::new("Operation not permitted (os error 1)", "");
        assert!(
            rejection.reason.starts_with("does not allow it: run as root"),
            "{}",
            rejection.reason
        );
        assert!(rejection.reason.ends_with("seccomp profile has to allow bpf, too"));
    }

    #[test]
    fn what_is_about_no_program_is_the_loaders_own() {
        let rejection = Rejection::new("Out of memory (os error 12)", "");
        assert_eq!(rejection.program, None);
        assert_eq!(
            rejection.reason,
            "does not support what the programs need: Out of memory (os error 12)"
        );
    }
}
