//! Bulk data at the machine's own speed: the cost of the programs.

use crate::bed::{Bed, Server, finish};
use crate::cable::Cable;
use std::net::TcpStream;

/// Bytes of a turn, over one request: the server holds an answer in memory. A turn takes a tenth of
/// a second, in which a shared machine is equally fast for both of a pair. That does not hold for
/// longer times.
const BYTES: u64 = 1 << 26;
const PAIRS: usize = 200;

fn warmed_up(bed: &Bed, server: &Server) -> TcpStream {
    let mut stream = bed.open(server, BYTES);
    finish(&mut stream, BYTES);
    stream
}

/// Bits a second, thousand millions.
fn rate(stream: &mut TcpStream) -> f64 {
    BYTES as f64 * 8e-9 / Bed::again(stream, BYTES).as_secs_f64()
}

/// Rates of both, interleaved, with a changing order.
fn pairs(streams: &mut [TcpStream; 2]) -> Vec<[f64; 2]> {
    let pair = |n: usize| {
        let mut rates = [0.0; 2];
        for which in [n % 2, 1 - n % 2] {
            rates[which] = rate(&mut streams[which]);
        }
        rates
    };
    (0..PAIRS).map(pair).collect()
}

/// The median, and the interval that contains it in 95 of 100 cases if pairs are independent. With
/// 200 values these are the 86th and the 115th: a binomial of one half and 100, 1.96 standard
/// deviations of 7.07 either way.
fn median_within(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() as f64 / 2.0 - 0.98 * (values.len() as f64).sqrt()) as usize;
    [values[rank - 1], values[values.len() / 2], values[values.len() - rank]]
}

/// The kernel's CUBIC beside itself shows what the machine's noise is; then ours beside the
/// kernel's own.
#[test]
#[ignore = "a benchmark: make bench-agent"]
fn bulk_data_goes_as_fast_as_without() {
    let Some(bed) = Bed::new() else { return };
    let Some(cable) = Cable::between_hosts_of(&bed) else { return };
    let mut slow = Vec::new();
    let mut compare = |stock: &str, ours: Option<&str>| {
        let servers = [Some(stock), ours].map(|control| cable.serve(control));
        let mut streams = servers.each_ref().map(|server| warmed_up(&bed, server));
        let pairs = pairs(&mut streams);
        let of = |n: usize| median_within(pairs.iter().map(|pair| pair[n]).collect())[1];
        let ratios = pairs.iter().map(|pair| pair[1] / pair[0]).collect();
        let [least, ratio, most] = median_within(ratios);
        let (a, b) = (of(0), of(1));
        let line = format!(
            "{stock} {a:.2} Gbit/s, beside it {b:.2}: {ratio:.3} ({least:.3} to {most:.3}) of it"
        );
        if most < 0.97 {
            slow.push(line.clone());
        }
        line
    };
    println!("cubic beside itself: {}", compare("cubic", Some("cubic")));
    for (control, stock) in [("cubic", "cubic"), ("bbr", "bbr"), ("session", "cubic")] {
        let _agent = bed.agent_giving(control, &[]);
        println!("hs_{control}: {}", compare(stock, None));
    }
    assert!(slow.is_empty(), "{slow:?}");
}
