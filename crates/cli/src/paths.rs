//! `headstart paths`: the paths that have names.

use cmdline::{Appendix, EXIT, Failure, stdout};
use link::path::{DEFAULT_PRESET, PRESETS};
use link::{DISCIPLINES, DisciplineDescriptor};

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart paths", "Lists the paths by name, and how to write one of your own."),
            ("headstart race --path-preset lte", "Races over one of them."),
        ],
        exit: EXIT,
        see_also: &["headstart-race"],
        more: &["docs/race.md"],
        ..Appendix::default()
    }
}

pub(crate) fn run() -> Result<(), Failure> {
    let mut out = String::new();
    for preset in PRESETS {
        let default = match preset.name == DEFAULT_PRESET {
            true => "  (default)",
            false => "",
        };
        out += &format!("{}  {}{default}\n    {}\n", preset.name, preset.path, preset.rationale);
    }
    out += "\nA path of your own: --path RATE,RTT,QUEUE[,DISCIPLINE][,up=RATE][,loss=P]\n\
        [,ordered-jitter=TIME][,rtt-steps=TIME:RTT/…][,from=TIME],\n\
        like 20mbit,80ms,100p or 20mbit,80ms,100p,fq_codel.\n\
        RTT is the round trip. Without up= both directions have the same rate. QUEUE is packets (100p),\n\
        bytes (64kB), bandwidth-delay products (0.5bdp), a time of sending (50ms) or inf; it counts the packet in service.\n\
        loss= is the probability that a packet is lost, in either direction. ordered-jitter= delays each packet by\n\
        up to TIME more, in order. rtt-steps=2s:80ms/5s:40ms changes the round trip later. RATE may be trace=FILE, a recorded\n\
        rate: a trace of mahimahi, or a table with a time and a rate in each row. from=TIME starts that far into it;\n\
        without from=, each repeat of a race starts at another time. DISCIPLINE is one of these;\n\
        without it, it is the first:\n";
    for DisciplineDescriptor { name, about, source, .. } in DISCIPLINES {
        out += &format!("  {name:10}  {about} [{source}]\n");
    }
    stdout::print(&out)
}
