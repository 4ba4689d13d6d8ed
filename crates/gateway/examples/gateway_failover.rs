//! Measures a site with three gateways over one Redis server while agents report and ask, each over
//! mutual TLS. One gateway after the other is killed (`kill -9`) and restarted. The program prints
//! for how long an agent has no answer, how often each report counts, and which reports are missing
//! in the store.
//!
//! ```text
//! cargo run --release -p headstart-gateway --example gateway_failover -- \
//!     [KILLS] [REPORTS A SECOND] [QUESTIONS A SECOND] [AGENTS]
//! ```

#[expect(dead_code, reason = "tests take more of it")]
#[path = "../tests/gateway/bed.rs"]
mod bed;
#[path = "../tests/failover/mod.rs"]
mod failover;
#[expect(dead_code, reason = "the gateways here are not measured")]
#[path = "gateway_load/process.rs"]
mod process;
#[expect(dead_code, reason = "tests take more of it")]
#[path = "../tests/gateway/store.rs"]
mod store;

use failover::FailoverLoad;
use std::env;
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Time between two kills.
const BETWEEN: Duration = Duration::from_secs(6);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1).peekable();
    if arguments.next_if_eq("serve").is_some() {
        let config = arguments.next().ok_or("which configuration?")?;
        let runtime = tokio::runtime::Runtime::new()?;
        return runtime.block_on(process::serve(config.as_ref()));
    }
    let mut number =
        |otherwise: u32| arguments.next().map_or(Ok(otherwise), |text| text.parse::<u32>());
    let load = FailoverLoad {
        kills: number(6)? as usize,
        reports_per_s: number(20_000)?,
        questions_per_s: number(2_000)?,
        agents: number(6)? as usize,
        between: BETWEEN,
        gateway,
    };
    println!("{load:?}");
    if let Some(outcome) = load.run() {
        print!("{outcome}");
        println!("without an answer for {:?} at most", outcome.longest_silence());
    }
    Ok(())
}

/// Returns the command that runs this program as a gateway.
fn gateway(config: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap_or_default());
    command.arg("serve").arg(config);
    command
}
