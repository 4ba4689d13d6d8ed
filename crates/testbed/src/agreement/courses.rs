//! Loads of several courses. Where connections meet in a small queue, tenths of a millisecond
//! decide which packet is dropped. A load then takes one of a few courses, whose times are far
//! apart. Medians of seven are then of any of them, also where both worlds take each as often.
//! Simulation shows which loads are of this kind before any is measured. Those loads run three
//! times as often in all worlds, whatever the result.

use super::CellRace;
use super::plan::{loaded, longest_first, of_each};
use crate::kernel::ServerProgram;
use race::World;
use race::{Race, RaceMetric, RaceResult};
use std::io;

/// Number of simulated loads that show it.
const SEEDS: u32 = 21;
/// Ratio of the longest to the shortest time from which times are of several courses. Hosts that
/// wake up now or then cause smaller ratios.
const COURSE_TIME_RATIO: f64 = 1.05;
/// Factor by which loads of several courses run more often.
const TIMES: u32 = 3;

/// Repeats the `races` that take several courses more often; `jobs` threads find them.
pub(super) fn load_more_often(races: &mut [CellRace], jobs: usize) -> io::Result<()> {
    let several = of_each(races, longest_first(races), jobs, &has_several)?;
    for (cell, _) in races.iter_mut().zip(several).filter(|(_, several)| *several) {
        cell.race.repeats *= TIMES;
    }
    Ok(())
}

fn has_several(cell: &CellRace) -> io::Result<bool> {
    let race = Race { repeats: SEEDS, ..cell.race.clone() };
    let simulated = CellRace { load: cell.load.clone(), captures: None, race };
    let outcome = loaded(&simulated, &[World::Sim], &ServerProgram::Builtin, None, &|| ())?;
    let result = RaceResult::new(&simulated.race, &outcome);
    let mut spreads = result.measured().filter_map(|row| row.spread(RaceMetric::PageSeconds));
    Ok(spreads.any(|spread| spread.max > COURSE_TIME_RATIO * spread.min))
}

#[cfg(test)]
mod tests {
    use super::super::Grid;
    use super::*;
    use tcp::Scheme;

    /// 30 KB over 100 Mbit/s and 200 ms fill nothing; BBR's page in half a product of 20 Mbit/s and
    /// 20 ms took 0.65 to 0.95 s in all worlds.
    #[test]
    fn what_overflows_a_small_queue_together_is_loaded_more_often() {
        let grid = Grid { repeats: 7, ..Grid::full(vec![Scheme::parse("linux-bbr").unwrap()]) };
        let of = |path: &str, load: &str| {
            let all = grid.races().into_iter();
            let mut races: Vec<_> = all
                .filter(|cell| cell.race.path.to_string() == path && cell.load == load)
                .collect();
            assert_eq!(races.len(), 1, "{load} over {path}");
            load_more_often(&mut races, 1).unwrap();
            races[0].race.repeats
        };
        assert_eq!(of("100mbit,200ms,1bdp", "30 KB"), 7);
        assert_eq!(of("20mbit,20ms,0.5bdp", "news"), 21);
    }
}
