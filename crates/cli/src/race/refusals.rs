//! What cannot be asked for together, with the way out.

use super::RaceArgs;
use cmdline::Failure;
use race::{Race, World};

pub(super) fn check(args: &RaceArgs, race: &Race) -> Result<(), Failure> {
    match args.is_simulated_only() {
        true => refuse_without_a_kernel(args),
        false => refuse_beyond_simulation(args, race),
    }
}

/// The simulator has no other client than the loader.
fn refuse_without_a_kernel(args: &RaceArgs) -> Result<(), Failure> {
    if !args.browser.is_loader() {
        return Err(Failure::input(
            "--client curl and chromium are for --on wire or kernel; in simulation there is the loader",
        ));
    }
    Ok(())
}

/// Real worlds have no background, and their hosts take the time they take. Servers of a site share what they learn where
/// there are agents, and so a gateway: in simulation and in the kernel.
fn refuse_beyond_simulation(args: &RaceArgs, race: &Race) -> Result<(), Failure> {
    let asked = [
        ("--background", race.background > 0),
        ("--site", race.visits.site > 1 && args.on.contains(&World::Wire)),
        ("--exact", args.exact),
    ];
    if let Some((option, _)) = asked.iter().find(|(_, is_asked)| *is_asked) {
        let way_out = match *option {
            "--site" => "is for --on sim and kernel: leave wire away, or --site",
            "--background" => "is for simulations: leave --on away, or --background",
            _ => "is for simulations: leave --on away, or --exact",
        };
        return Err(Failure::input(format!("{option} {way_out}")));
    }
    match args.browser.refusal(race, args.contenders(), &args.on) {
        Some(why) => Err(Failure::input(format!("--client: {why}"))),
        None => Ok(()),
    }
}

impl RaceArgs {
    /// No real world is asked for.
    pub(super) fn is_simulated_only(&self) -> bool {
        self.on.iter().all(|world| *world == World::Sim)
    }
}
