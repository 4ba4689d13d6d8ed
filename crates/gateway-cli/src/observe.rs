//! `headstart gateway observe`: packets of the site's servers as reports to a gateway.

use clap::Args;
use cmdline::{Appendix, Failure, stdout};
use gateway_observe::{ObserveConfig, SiteObserver};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ObserveArgs {
    /// Run by this configuration; `headstart gateway init DIR --observe INTERFACE` writes one
    #[arg(long, value_name = "FILE.toml", default_value = "/etc/headstart/observe/observe.toml")]
    config: PathBuf,
    /// Only read the configuration, and say what is wrong with it
    #[arg(long)]
    check: bool,
}

pub(crate) fn observe_appendix() -> Appendix {
    Appendix {
        examples: &[(
            "sudo headstart gateway observe --config DIR/observe/observe.toml",
            "Reports the transfers that pass the interfaces, and announces visitors.",
        )],
        notes: "It needs CAP_NET_RAW for interfaces, and nothing for a file or a pipe. It ends when a signal or the end of its file ends it."
            .into(),
        exit: &[
            ("0", "ended by a signal or the end of its file, all reported"),
            ("1", "it failed while it ran, or no gateway took the last reports"),
            ("2", "the configuration is wrong, or it may not capture"),
        ],
        more: &["docs/gateway/operate.md"],
        ..Appendix::default()
    }
}

pub(crate) fn run(args: &ObserveArgs) -> Result<(), Failure> {
    let config = ObserveConfig::read(&args.config).map_err(Failure::input)?;
    if args.check {
        return stdout::print(&format!("{}: good\n", args.config.display()));
    }
    SiteObserver::start(&config).map_err(Failure::input)?.run().map_err(Failure::failed)
}
