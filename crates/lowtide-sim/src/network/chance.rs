//! Events of a probability.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Random numbers, each of which decides one event: it happens when the number's upper 53 bits are
/// below `probability · 2^53`, so that every representable probability is exact.
#[derive(Clone, Debug)]
pub(super) struct Chance {
    rng: Pcg64Mcg,
}

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            rng: Pcg64Mcg::seed_from_u64(seed),
        }
    }

    /// Whether it happens. A probability outside `0..=1` is taken as the nearest bound, NaN as zero.
    #[inline]
    pub(super) fn happens(&mut self, probability: f64) -> bool {
        const SCALE: f64 = (1_u64 << 53) as f64;
        (self.rng.next_u64() >> 11) < (probability * SCALE) as u64
    }
}
