//! A server of scheme `linux` with one connection, of which scripts append the rest.

use script::{RefusalKind, RunReport, parse, run};

/// A listener, before a connection comes.
pub(crate) const LISTENER: &str = "\
0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0  setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0  bind(3, ..., ...) = 0
+0  listen(3, 1) = 0
";

/// The handshake, with a window scale of 7, and the accepted connection 4.
pub(crate) const OPENING: &str = "\
+0  < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0  > S. 0:0(0) ack 1 <...>
+.02 < . 1:1(0) ack 1 win 257
+0  accept(3, ..., ...) = 4
";

/// Plays `text`; what is wrong in words.
pub(crate) fn run_text(text: &str) -> Result<RunReport, String> {
    let script = parse("test.pkt", text).map_err(|error| error.to_string())?;
    run(&script, None).map_err(|mismatch| mismatch.to_string())
}

/// Plays `rest` behind the opening.
pub(crate) fn est(rest: &str) -> Result<RunReport, String> {
    run_text(&format!("{LISTENER}{OPENING}{rest}\n"))
}

/// The actual event instead of the one that `rest`, behind the opening, expects.
#[track_caller]
pub(crate) fn actual(rest: &str) -> String {
    let script = parse("test.pkt", format!("{LISTENER}{OPENING}{rest}\n")).expect("a script");
    run(&script, None).expect_err(rest).actual
}

/// The kind and the message of the refusal of `text`.
#[track_caller]
pub(crate) fn refused(text: &str) -> (RefusalKind, String) {
    let error = parse("test.pkt", text).expect_err(text);
    (error.kind, error.message)
}
