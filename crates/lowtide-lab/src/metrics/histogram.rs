//! Counts of values in bins of three significant digits, in as much memory as the values' spread
//! needs.
//!
//! The bins are those of `hdrhistogram` with three digits, and so are the percentiles. That library
//! keeps a count for every bin from zero to the largest value, 32 kB for delays of 100 ms: three of
//! them for each of a thousand flows are far more than a processor's cache holds, and hardly any two
//! packets in a row belong to the same flow. A flow's delays fall into few of the bins, so here
//! only the cache lines of counts that are in use exist.

use serde::{Deserialize, Serialize};

/// Bins of an octave: 1/1024 is the coarsest resolution.
const PER_OCTAVE_LOG2: u32 = 10;
/// Values below this have a bin each.
const EXACT_BELOW: u64 = 2 << PER_OCTAVE_LOG2;
/// Bins of a block: a cache line of 32-bit counts.
const BLOCK: usize = 16;

/// A histogram with counts of type `C`, which saturate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Histogram<C> {
    /// Per block of bins, its number in `blocks` plus 1; 0: nothing was recorded there.
    places: Vec<u16>,
    blocks: Vec<[C; BLOCK]>,
}

impl<C> Default for Histogram<C> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            blocks: Vec::new(),
        }
    }
}

#[inline]
fn bin_of(value: u64) -> usize {
    let shift = (EXACT_BELOW - 1).leading_zeros() - (value | (EXACT_BELOW - 1)).leading_zeros();
    ((u64::from(shift) << PER_OCTAVE_LOG2) + (value >> shift)) as usize
}

/// The largest value of a bin.
fn largest_of(bin: usize) -> u64 {
    let bin = bin as u64;
    let shift = (bin >> PER_OCTAVE_LOG2).saturating_sub(1);
    let next = bin - (shift << PER_OCTAVE_LOG2) + 1;
    // The last bin's end is 2^64.
    (next << shift).wrapping_sub(1)
}

impl<C: Copy + Default + Into<u64> + TryFrom<u64>> Histogram<C> {
    /// Counts a value `times` times.
    #[inline]
    pub(super) fn record(&mut self, value: u64, times: u64) {
        let bin = bin_of(value);
        let block = match self.places.get(bin / BLOCK) {
            Some(place) if *place > 0 => usize::from(*place) - 1,
            _ => self.new_block(bin / BLOCK),
        };
        add(&mut self.blocks[block][bin % BLOCK], times);
    }

    #[cold]
    fn new_block(&mut self, at: usize) -> usize {
        if self.places.len() <= at {
            self.places.resize(at + 1, 0);
        }
        let block = self.blocks.len();
        self.blocks.push([C::default(); BLOCK]);
        // 55 octaves have 3520 blocks.
        self.places[at] = (block + 1) as u16;
        block
    }

    /// Takes all counts of another histogram.
    pub(super) fn merge(&mut self, other: &Self) {
        for (at, theirs) in other.occupied() {
            let block = match self.places.get(at) {
                Some(place) if *place > 0 => usize::from(*place) - 1,
                _ => self.new_block(at),
            };
            for (own, count) in self.blocks[block].iter_mut().zip(theirs) {
                add(own, (*count).into());
            }
        }
    }

    /// The blocks in use by ascending values.
    fn occupied(&self) -> impl Iterator<Item = (usize, &[C; BLOCK])> {
        let places = self.places.iter().enumerate();
        places
            .filter_map(|(at, place)| Some((at, &self.blocks[usize::from(*place).checked_sub(1)?])))
    }

    /// The bins with values, ascending: the largest value of each, and its count.
    pub(super) fn bins(&self) -> impl Iterator<Item = (u64, u64)> {
        let bins = self.occupied().flat_map(|(at, counts)| {
            let counts = counts.iter().enumerate();
            counts.map(move |(n, count)| (at * BLOCK + n, (*count).into()))
        });
        bins.filter(|(_, count)| *count > 0)
            .map(|(bin, count)| (largest_of(bin), count))
    }

    /// Per ascending percentile, the largest value of the bin in which it lies; `None` without
    /// values.
    pub(super) fn percentiles<const N: usize>(&self, percents: [f64; N]) -> Option<[u64; N]> {
        let total: u64 = self.bins().map(|(_, count)| count).sum();
        let mut bins = self.bins();
        let (mut value, mut seen) = bins.next()?;
        Some(percents.map(|percent| {
            let rank = (percent / 100.0 * total as f64).ceil() as u64;
            while seen < rank
                && let Some((next, count)) = bins.next()
            {
                value = next;
                seen += count;
            }
            value
        }))
    }
}

#[inline]
fn add<C: Copy + Into<u64> + TryFrom<u64>>(count: &mut C, times: u64) {
    let sum: u64 = (*count).into().saturating_add(times);
    if let Ok(sum) = C::try_from(sum) {
        *count = sum;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn percentiles_are_those_of_the_reference_histogram(
            ours in prop::collection::vec((0_u32..64, any::<u64>(), 1_u64..1000), 1..200),
            theirs in prop::collection::vec((0_u32..64, any::<u64>(), 1_u64..1000), 0..200),
        ) {
            let mut reference = hdrhistogram::Histogram::<u64>::new(3).unwrap();
            let mut parts = [Histogram::<u64>::default(), Histogram::default()];
            for (part, values) in parts.iter_mut().zip([ours, theirs]) {
                for (shift, value, times) in values {
                    // The reference ends at half of what 64 bits hold.
                    let value = (value >> shift) / 2;
                    reference.record_n(value, times).unwrap();
                    part.record(value, times);
                }
            }
            let [mut all, other] = parts;
            all.merge(&other);
            let percents = [1.0, 50.0, 95.0, 99.0, 100.0];
            let expected = percents.map(|p| reference.value_at_percentile(p));
            prop_assert_eq!(all.percentiles(percents), Some(expected));
            let bins: Vec<_> = reference
                .iter_recorded()
                .map(|step| (step.value_iterated_to(), step.count_at_value()))
                .collect();
            prop_assert_eq!(all.bins().collect::<Vec<_>>(), bins);
        }
    }
}
