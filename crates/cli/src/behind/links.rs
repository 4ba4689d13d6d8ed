//! The link between a command and what it talks to, as the command line describes it.

// Help texts have brackets around what may be left out.
#![allow(rustdoc::broken_intra_doc_links)]

use super::one_way::OneWay;
use cmdline::Failure;
use emulator::EmulationOptions;
use link::path::{DEFAULT_PRESET, PathSpec, preset};
use link::{Duplex, LinkConfig};
use units::Duration;

#[derive(Debug, clap::Args)]
pub(crate) struct LinkArgs {
    /// The path: RATE,RTT,QUEUE[,DISCIPLINE][,up=RATE][,loss=P]
    /// [,ordered-jitter=TIME][,rtt-steps=TIME:RTT/…][,from=TIME], like 20mbit,80ms,100p
    ///
    /// RATE is the rate towards the command. up= is the rate away from it; without up= both rates
    /// are equal. RTT is the round trip without transmission times. QUEUE is the size of the queue
    /// in each direction, like 100p (packets), 64kB, 0.5bdp (bandwidth-delay products), 50ms (of
    /// sending) or inf; it counts the packet in service. DISCIPLINE is droptail (the default),
    /// pdrop, red, codel, fq_codel or acks-first. loss= is the probability that a packet is lost in
    /// either direction. It is written like 0.01 or 1%. With ordered-jitter= each packet is late by
    /// up to TIME, and none overtakes another. With rtt-steps=2s:80ms/5s:40ms the round trip
    /// changes 2 s and 5 s after the links begin; packets keep their order.
    ///
    /// trace=FILE in place of a rate follows a recorded rate over and over: a trace of mahimahi, or
    /// a table with a time and a rate in each row. If the header does not name columns and units,
    /// options behind FILE do: :column=NAME :unit=kbit/s :time=NAME :time-unit=ms, without spaces.
    /// Without up= the rate up is then a fifth of the mean. from=TIME begins that far into the
    /// recording.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["path_preset", "down", "up"], value_parser = cmdline::names::path)]
    path: Option<PathSpec>,

    /// A path by name (`headstart paths`) [default: cable]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["down", "up"], value_parser = cmdline::names::path_preset)]
    path_preset: Option<PathSpec>,

    /// The link towards the command:
    /// RATE|trace=FILE,DELAY,QUEUE[,DISCIPLINE][,loss=P]
    /// [,jitter=TIME][,ordered-jitter=TIME][,delay-steps=TIME:DELAY/…]
    ///
    /// DELAY is the delay of this direction alone. A recorded rate is given by trace=FILE in place
    /// of RATE, as in --path, and from=TIME begins that far into it. With jitter=TIME each packet
    /// has up to that time of delay more, so packets may overtake each other. With ordered-jitter=
    /// they keep their order. delay-steps=2s:80ms changes the delay 2 s after the links begin. With
    /// aggregate=TIME packets arrive in bursts, one per interval.
    #[arg(long, value_name = "SPEC", requires = "up", value_parser = OneWay::parse_downlink)]
    down: Option<OneWay>,

    /// The link away from the command, in the same form
    #[arg(long, value_name = "SPEC", requires = "down", value_parser = OneWay::parse_uplink)]
    up: Option<OneWay>,

    /// Seed of losses, jitter and random drops
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Look at the clock instead of sleeping when a packet is due within TIME
    ///
    /// Packets are then delivered more exactly, and each costs up to TIME of a core. Above about 20
    /// Mbit/s this helps if gaps between packets matter and a core is free.
    #[arg(long, value_name = "TIME", default_value = "0ms")]
    spin: Duration,
}

impl LinkArgs {
    /// The emulation that they describe.
    pub(crate) fn options(&self) -> Result<EmulationOptions, Failure> {
        let [forward, reverse] = self.links()?;
        let links = Duplex { forward, reverse };
        Ok(EmulationOptions { seed: self.seed, spin: self.spin, ..EmulationOptions::new(links) })
    }

    /// A path, or a link of each direction, was given.
    pub(crate) const fn is_given(&self) -> bool {
        self.path.is_some() || self.path_preset.is_some() || self.down.is_some()
    }

    /// Says on standard error what was taken of the recordings that the links follow.
    pub(crate) fn warn_recorded(&self) {
        if let Some(path) = &self.path {
            cmdline::names::warn_recorded(path);
        }
        for way in [&self.down, &self.up].into_iter().flatten() {
            if let Some(recorded) = &way.recorded {
                cmdline::note(&recorded.to_string());
            }
        }
    }

    /// The links down and up.
    fn links(&self) -> Result<[LinkConfig; 2], Failure> {
        if let (Some(down), Some(up)) = (&self.down, &self.up) {
            let rtt = down.delay + up.delay;
            return Ok([
                down.link(rtt).map_err(|why| Failure::input(format!("--down: {why}")))?,
                up.link(rtt).map_err(|why| Failure::input(format!("--up: {why}")))?,
            ]);
        }
        let default = || preset(DEFAULT_PRESET).map(|preset| preset.spec());
        let path = self.path.or(self.path_preset).or_else(default);
        let links = path.ok_or_else(|| Failure::input("no default path"))?.links();
        Ok([links.forward, links.reverse])
    }
}
