//! Appendices of all commands, for their man pages.

use crate::{appendix, calls, certificates, init_appendix, observe, replay, status};
use cmdline::man::ManAppendix;

/// Returns the appendix of a command, by its name after `headstart gateway`.
pub(crate) fn appendix_of(command: &str) -> ManAppendix {
    ManAppendix::OnOwnPage(match command {
        "" => appendix(),
        "ask" => calls::ask_appendix(),
        "forget" => calls::forget_appendix(),
        "init" => init_appendix(),
        "observe" => observe::observe_appendix(),
        "certificate" => certificates::certificate_appendix(),
        "replay" => replay::replay_appendix(),
        "load" => replay::load_appendix(),
        "request" => certificates::request_appendix(),
        "revoke" => certificates::revoke_appendix(),
        "status" => status::status_appendix(),
        _ => return ManAppendix::OnParentsPage,
    })
}

#[cfg(test)]
mod tests;
