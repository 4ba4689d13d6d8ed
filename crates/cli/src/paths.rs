//! `headstart paths`: the paths that have names.

use crate::failure::Failure;
use crate::stdout;
use link::{DISCIPLINES, DisciplineDescriptor};
use race::path::{DEFAULT_PRESET, PRESETS};

pub(crate) fn run() -> Result<(), Failure> {
    let mut out = String::new();
    for preset in PRESETS {
        let default = match preset.name == DEFAULT_PRESET {
            true => "  (default)",
            false => "",
        };
        out += &format!("{}  {}{default}\n    {}\n", preset.name, preset.path, preset.rationale);
    }
    out += "\nA path of your own: --path RATE,RTT,QUEUE[,DISCIPLINE][,up=RATE][,loss=P],\n\
        like 20mbit,80ms,100p or 20mbit,80ms,100p,fq_codel.\n\
        RTT is the round trip. Without up= both ways have the same rate. QUEUE is packets (100p),\n\
        bytes (64kB), bandwidth-delay products (0.5bdp) or inf, the packet in service included.\n\
        loss= strikes each packet of either direction. DISCIPLINE is one of these, the first unless given:\n";
    for DisciplineDescriptor { name, about, source, .. } in DISCIPLINES {
        out += &format!("  {name:10}  {about} [{source}]\n");
    }
    stdout::print(&out)
}
