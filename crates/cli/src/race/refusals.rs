//! Refuses impossible combinations of options, with the way out.

use super::RaceArgs;
use cmdline::Failure;
use race::{Race, World};
use workload::{Http, PageHost, ServerModel, Tls};

pub(super) fn check(args: &RaceArgs, race: &Race) -> Result<(), Failure> {
    refuse_of_http3(args, race)?;
    match args.is_simulated_only() {
        true => refuse_without_a_kernel(args),
        false => refuse_beyond_simulation(args, race),
    }
}

/// Refuses worlds of real time for a race that another program asks for: they need a process of
/// `headstart` in each network namespace.
pub(super) fn check_embedded(args: &RaceArgs) -> Result<(), Failure> {
    match args.is_simulated_only() {
        true => Ok(()),
        false => Err(Failure::input(
            "--on wire and kernel need the program: run `headstart race --json`, or leave --on away",
        )),
    }
}

/// Refuses settings that leave a race nothing to compare, or that put a host before a step.
pub(super) fn check_simulation(args: &RaceArgs, race: &Race) -> Result<(), Failure> {
    if args.upload.is_some() && args.client_window.is_some() {
        return Err(Failure::input(
            "--client-window gives all rows the same client, and --upload compares clients: leave one out, \
             or give each scheme its window, like linux+rwnd=1MB",
        ));
    }
    // A step is the delay of the access link, which has the round trip of the nearest host.
    let path = race.path.rtt();
    let is_nearer = |host: &&PageHost| host.rtt.is_some_and(|rtt| rtt < path);
    match race.page.hosts().iter().find(is_nearer) {
        Some(host) if race.path.rtt_steps().is_some() => Err(Failure::input(format!(
            "--rtt-of: {} is nearer than the path, whose round trip changes by rtt-steps= for all hosts: \
             give it {path} at least, or leave rtt-steps= out",
            host.name
        ))),
        _ => Ok(()),
    }
}

/// Refuses with HTTP/3 what only TCP has.
fn refuse_of_http3(args: &RaceArgs, race: &Race) -> Result<(), Failure> {
    let is_loaded =
        race.page.hosts().iter().any(|host| race.loader.protocol(host).http == Http::Http3);
    let is_asked = args.http == Some(Http::Http3);
    let asked = [
        (
            is_asked && !args.is_simulated_only(),
            "--http 3 is for simulations: leave --on away, or use --http 2",
        ),
        (
            is_asked && matches!(args.tls, Some(Tls::None | Tls::Tls12)),
            "--http 3 has TLS 1.3 in it (RFC 9001): leave --tls out, or use 1.3 or 0rtt",
        ),
        (
            is_asked && args.server_model == Some(ServerModel::Nginx),
            "--server-model nginx writes to TCP: leave it out, or use --http 2",
        ),
        (
            is_loaded && args.pcap.is_some(),
            "--pcap writes segments of TCP: leave it out, or use --http 2",
        ),
    ];
    match asked.into_iter().find(|(is_so, _)| *is_so) {
        Some((_, why)) => Err(Failure::input(why)),
        None => Ok(()),
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

/// Real worlds have no background, and their hosts' processing times cannot be set. Servers of a
/// site share a memory only with agents and a gateway: in simulation and in the kernel.
fn refuse_beyond_simulation(args: &RaceArgs, race: &Race) -> Result<(), Failure> {
    let asked = [
        ("--background", race.background > 0),
        ("--site", race.visits.site > 1 && args.on.contains(&World::Wire)),
        ("--exact", args.exact),
        ("--rtt-of", !args.rtt_of.is_empty()),
        ("--dns", args.dns.is_some()),
        ("--linux", args.linux.is_some()),
        ("--upload", args.upload.is_some()),
        ("rtt-steps= in --path", race.path.rtt_steps().is_some()),
    ];
    if let Some((option, _)) = asked.iter().find(|(_, is_asked)| *is_asked) {
        let way_out = match *option {
            "--site" => "is for --on sim and kernel: leave wire away, or --site",
            _ => &format!("is for simulations: leave --on away, or {option}"),
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
