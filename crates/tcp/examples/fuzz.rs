//! Plays random input against the host until the given number of segments was delivered, and prints
//! a summary:
//!
//!     cargo run --release -p headstart-tcp --example fuzz -- [SEGMENTS] [SEED]
//!
//! The same numbers give the same run. If an invariant fails, it panics with the input in its
//! message.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tcp::testing::{Played, play, play_crowd};

/// Bytes of one input.
const LONGEST: usize = 6000;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let mut number = |default| match arguments.next() {
        None => default,
        Some(Ok(n)) => n,
        Some(Err(_)) => {
            eprintln!("fuzz: whole numbers, please: [SEGMENTS] [SEED]");
            std::process::exit(2)
        }
    };
    let (wanted, seed) = (number(10_000_000), number(1));
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let (mut total, mut inputs) = (Played::default(), 0_u64);
    let mut data = vec![0; LONGEST];
    while total.segments() < wanted {
        rng.fill_bytes(&mut data);
        let length = 2 + rng.next_u64() as usize % (LONGEST - 2);
        let input = &data[..length];
        let outcome =
            std::panic::catch_unwind(
                || {
                    if inputs % 4 == 0 { play(input) } else { play_crowd(input) }
                },
            );
        match outcome {
            Ok(played) => total += played,
            Err(_) => {
                let which = if inputs % 4 == 0 { "play" } else { "play_crowd" };
                eprintln!("fuzz: input {inputs} of seed {seed} broke {which}: {input:?}");
                std::process::exit(1)
            }
        }
        inputs += 1;
    }
    println!("{inputs} inputs of seed {seed}, {} segments: {total:#?}", total.segments());
}
