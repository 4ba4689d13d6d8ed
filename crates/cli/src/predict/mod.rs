//! `headstart predict`: the transfers of captures once more, under other schemes.

mod args;
mod shown;

pub(crate) use args::{PredictArgs, appendix};

use crate::analyze::Feed;
use crate::failure::{Failure, remark};
use crate::jobs;
use crate::progress::CountBar;
use crate::stdout;
use forecast::{CapturedVisitors, Forecast, ForecastOptions, Visitors};
use shown::{ForecastJson, PathsTold};
use trace::{EngineConfig, OnlyServers};
use units::counted;

pub(crate) fn run(args: &PredictArgs) -> Result<(), Failure> {
    let visitors = read(args)?;
    if visitors.clients.is_empty() {
        return Err(Failure::input(
            "no transfer in these captures was acknowledged to its end, so there is nothing to predict; `headstart analyze` \
             says what they hold",
        ));
    }
    said_of(&visitors, args.most_transfers);
    let forecast = Forecast::of(visitors);
    let told = PathsTold::of(&forecast);
    let schemes = &args.schemes.0;
    let bar = CountBar::begin((forecast.networks() * schemes.len()) as u64, "replays");
    let options = ForecastOptions {
        seed: args.seed,
        threads: jobs::threads(args.jobs),
        on_replay: &|| bar.step(),
    };
    let result = forecast.run(schemes, options);
    bar.end();
    if args.json {
        return stdout::print_json(&ForecastJson { paths: &told, result: &result });
    }
    shown::print(&told, &result)
}

/// The visitors of the captures.
fn read(args: &PredictArgs) -> Result<CapturedVisitors, Failure> {
    let servers = args.servers();
    let config = EngineConfig {
        acks_only: args.acks_only,
        vantage: args.vantage()?,
        servers: servers.clone(),
        ..EngineConfig::default()
    };
    let mut feed = Feed::open(&args.files).attended()?;
    let models = feed.models(&args.sender, &config, jobs::threads(args.jobs))?;
    let sink = OnlyServers::new(servers, Visitors::up_to(args.most_transfers));
    let (found, _) = feed.run(EngineConfig { models, ..config }, sink)?;
    Ok(found.inner.finish())
}

/// What of the captures is not replayed.
fn said_of(visitors: &CapturedVisitors, most: u64) {
    if visitors.incomplete > 0 {
        let transfers = counted(visitors.incomplete, "transfer");
        remark(&format!("{transfers} not acknowledged to the end: left out"));
    }
    if visitors.begun_before > 0 {
        let connections = counted(visitors.begun_before, "connection");
        remark(&format!("{connections} whose handshake is not in the captures: left out"));
    }
    if visitors.left_out > 0 {
        let transfers = counted(visitors.left_out, "transfer");
        remark(&format!("{transfers} behind the first {most}: left out; see --most-transfers"));
    }
}
