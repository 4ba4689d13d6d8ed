//! Bulk data at the machine's own speed: what the programs cost of it.

use crate::bed::{Bed, Server, finish};
use crate::cable::Cable;
use std::net::TcpStream;

/// Of a round, bytes.
const BYTES: u64 = 1 << 30;
/// Over one request: the server holds an answer in memory.
const REQUEST: u64 = 1 << 26;
const ROUNDS: usize = 9;

fn warmed_up(bed: &Bed, server: &Server) -> TcpStream {
    let mut stream = bed.open(server, REQUEST);
    finish(&mut stream, REQUEST);
    stream
}

/// Bits a second, thousand millions.
fn rate(stream: &mut TcpStream) -> f64 {
    let seconds: f64 =
        (0..BYTES / REQUEST).map(|_| Bed::again(stream, REQUEST).as_secs_f64()).sum();
    BYTES as f64 * 8e-9 / seconds
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// By turns, a round each; the ratio of each round, ours to the kernel's.
#[test]
#[ignore = "a benchmark: make bench-agent"]
fn bulk_data_goes_as_fast_as_without() {
    let Some(bed) = Bed::new() else { return };
    let Some(cable) = Cable::between_hosts_of(&bed) else { return };
    let mut slow = Vec::new();
    for (control, stock) in [("cubic", "cubic"), ("bbr", "bbr"), ("session", "cubic")] {
        let _agent = bed.agent_giving(control, &[]);
        let servers = [cable.serve(Some(stock)), cable.serve(None)];
        let mut streams = servers.each_ref().map(|server| warmed_up(&bed, server));
        let rounds: Vec<_> = (0..ROUNDS).map(|_| streams.each_mut().map(rate)).collect();
        let of = |n: usize| median(rounds.iter().map(|round| round[n]).collect());
        let ratio = median(rounds.iter().map(|round| round[1] / round[0]).collect());
        println!("{stock} {:.2} Gbit/s, hs_{control} {:.2} Gbit/s, {ratio:.3} of it", of(0), of(1));
        if ratio < 0.97 {
            slow.push((control, rounds));
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}
