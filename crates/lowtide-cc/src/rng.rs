//! The controllers' own randomness: seeded, so that a run can be repeated.

use rand_core::{Rng as _, SeedableRng};
use rand_pcg::Pcg32;

/// A small seeded generator.
#[derive(Clone, Debug)]
pub(crate) struct SeededRng(Pcg32);

impl SeededRng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg32::seed_from_u64(seed))
    }

    /// A number evenly distributed in `0..n`; 0 when `n` is 0.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        // The upper half of the product; the bias is below n / 2^32.
        ((u64::from(self.0.next_u32()) * u64::from(n)) >> 32) as u32
    }
}
