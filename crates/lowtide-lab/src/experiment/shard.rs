//! A part of an experiment's runs, for one of several processes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::str::FromStr;

use crate::key::Key;
use crate::scenario_file::Cell;

/// The n-th of so many parts of all runs, as in `3/64`: counted from 1.
///
/// The dearest run first, as far as the setting tells (rate times duration), each goes to the part that has
/// least to do; of equals the content of their cells decides. The parts so cost nearly the same, however the axes of the grid lie
/// to their number. A run that moves to another part because the grid has
/// grown is not made again, as every process finds it in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 0.
    index: usize,
    count: usize,
}

/// Not a part of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected K/N with K from 1 to N and N at most {MAX_SHARDS}, as in 3/64")]
pub struct NoShard;

/// The most parts.
const MAX_SHARDS: usize = 1_000_000;

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let (k, n) = text.split_once('/').ok_or(NoShard)?;
        let number = |text: &str| text.parse().ok().filter(|n| (1..=MAX_SHARDS).contains(n));
        let (k, n): (usize, usize) = (number(k).ok_or(NoShard)?, number(n).ok_or(NoShard)?);
        match k <= n {
            true => Ok(Self {
                index: k - 1,
                count: n,
            }),
            false => Err(NoShard),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}

impl Shard {
    /// Its runs: cells by their place, and seeds, in the order of both.
    pub(super) fn runs(self, cells: &[Cell]) -> Vec<(usize, u64)> {
        let mut runs: Vec<(u64, Key, u64, usize)> = Vec::new();
        for (n, cell) in cells.iter().enumerate() {
            let (cost, seeds) = (cell.setting.cost(), cell.setting.seeds);
            runs.extend(seeds.iter().map(|seed| (cost, cell.key, seed, n)));
        }
        runs.sort_unstable();
        let mut loads: BinaryHeap<_> = (0..self.count).map(|n| Reverse((0, n))).collect();
        let mut own: Vec<(usize, u64)> = Vec::new();
        for (cost, _, seed, n) in runs.into_iter().rev() {
            if let Some(mut least) = loads.peek_mut() {
                let Reverse((load, shard)) = &mut *least;
                *load += cost;
                if *shard == self.index {
                    own.push((n, seed));
                }
            }
        }
        own.sort_unstable();
        own
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::contender::Contenders;
    use crate::scenario_file::ScenarioFile;

    #[test]
    fn shards_are_counted_from_one() {
        for wrong in ["0/3", "4/3", "1", "1/0", "/", "-1/3", "1/1000001", "a/b"] {
            assert_eq!(wrong.parse::<Shard>(), Err(NoShard), "{wrong}");
        }
        assert_eq!("3/3".parse(), Ok(Shard { index: 2, count: 3 }));
    }

    #[test]
    fn shards_share_runs_and_costs_evenly_and_leave_none_out() {
        let text = "flows = [{ controller = 'bbr' }]\nlink = { rate = '1mbit' }\n[run]\nseeds = 3\n\
                    [sweep]\n'path.rtt' = ['10ms', '20ms', '30ms', '40ms', '50ms']\n\
                    'link.rate' = ['1mbit', '10mbit', '100mbit', '50mbit']\n";
        let file = ScenarioFile::parse(Path::new("s.toml"), text.to_string()).unwrap();
        let cells = file.cells(&Contenders::default()).unwrap();
        let mut all = Vec::new();
        let mut costs = Vec::new();
        // As many as the last axis has values: dealt in the order of the file each would have one rate.
        for k in 1..=4 {
            let own = format!("{k}/4").parse::<Shard>().unwrap().runs(&cells);
            costs.push(
                own.iter()
                    .map(|(n, _)| cells[*n].setting.cost())
                    .sum::<u64>(),
            );
            all.extend(own);
        }
        all.sort_unstable();
        let each = (0..20).flat_map(|n| (1..=3).map(move |seed| (n, seed)));
        assert_eq!(all, each.collect::<Vec<_>>());
        let (least, most) = (costs.iter().min().unwrap(), costs.iter().max().unwrap());
        assert!(*most < least + least / 10, "{costs:?}");
    }
}
