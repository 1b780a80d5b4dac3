//! What will arrive: a Poisson process whose rate wanders and stops (Winstein, Sivaraman and
//! Balakrishnan, "Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular Networks",
//! NSDI 2013, §3).
//!
//! Packets arrive by a Poisson process. Its rate is a Brownian motion, but for outages, which the rate
//! of zero leaves with a rate of its own. What is believed of the rate is a distribution over 257 bins.
//! Each tick the motion spreads it, and Bayes' rule weighs it by what arrived. From it follows how much
//! will have arrived after each of the next eight ticks, at the least, with a given probability.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use once_cell::race::OnceBox;

use super::normal;

/// Length of a tick, seconds.
pub const TICK: f64 = 0.02;
/// Ticks of a forecast.
pub const TICKS: usize = 8;
/// The largest rate but one bin, packets a second.
pub const RANGE: f64 = 1000.0;

/// 256 of equal width, and one for all above. The lowest stands for a rate of exactly zero.
const BINS: usize = 257;
const WIDTH: f64 = RANGE / (BINS - 1) as f64;
/// Standard deviation of the rate's change in a second.
const SIGMA: f64 = 200.0;
/// How often outages end, a second.
const ESCAPE: f64 = 1.0;
/// Deviations beyond which no change is reckoned with.
const SUPPORT: f64 = 5.0;
/// More packets in a tick are not reckoned with: the fastest rate brings 20.
const COUNTS: usize = 30;

/// The rate that a bin stands for.
fn rate(bin: usize) -> f64 {
    match bin {
        0 => 0.0,
        n => (n as f64 + 0.5) * WIDTH,
    }
}

/// The bin of a rate.
fn bin(rate: f64) -> usize {
    // Negative rates belong to the lowest.
    ((rate / WIDTH) as usize).min(BINS - 1)
}

/// The rate's motion in a tick, as weights from bin to bin.
struct Motion {
    /// Per bin, the first one that it leads to, and the weights from there on.
    rows: Vec<(usize, Vec<f64>)>,
}

impl Motion {
    fn new() -> Self {
        let deviation = SIGMA * libm::sqrt(TICK);
        let stays = libm::exp(-ESCAPE * TICK);
        let row = |from: usize| {
            let centre = rate(from);
            let reach = SUPPORT * deviation;
            let (first, last) = (bin(centre - reach), bin(centre + reach));
            let below = |edge: usize| match edge {
                0 => 0.0,
                BINS => 1.0,
                n => normal::cdf((n as f64 * WIDTH - centre) / deviation),
            };
            let weights = (first..=last).map(|to| {
                let weight = below(to + 1) - below(to);
                match (from, to) {
                    (0, 0) => weight * stays,
                    (0, _) => weight * (1.0 - stays),
                    _ => weight,
                }
            });
            (first, weights.collect())
        };
        Self {
            rows: (0..BINS).map(row).collect(),
        }
    }

    fn apply(&self, old: &[f64; BINS]) -> [f64; BINS] {
        let mut new = [0.0; BINS];
        for (mass, (first, weights)) in old.iter().zip(&self.rows) {
            for (to, weight) in new[*first..].iter_mut().zip(weights) {
                *to += mass * weight;
            }
        }
        new
    }
}

/// What depends on no observation: about 1 MB, shared by all.
struct Tables {
    motion: Motion,
    /// ln of what each bin lets expect in a tick.
    ln_expected: [f64; BINS],
    /// Per tick and count, one row after the other: from each bin, the probability that no more
    /// will have arrived by the tick's end.
    at_most: Vec<[f32; BINS]>,
}

/// Counts by the end of a tick, from zero to the most that is reckoned with.
fn counts_by(tick: usize) -> usize {
    (COUNTS - 1) * (tick + 1) + 1
}

impl Tables {
    fn new() -> Self {
        let motion = Motion::new();
        let expected = |b: usize| rate(b) * TICK;
        // What arrives in the tick at hand, by the bin at the beginning; last, what the motion has
        // left of the bin's mass.
        let mut in_tick: Vec<[f64; COUNTS + 1]> = (0..BINS)
            .map(|b| {
                let mut row = [1.0; COUNTS + 1];
                let mut p = libm::exp(-expected(b));
                for (count, cell) in row[..COUNTS].iter_mut().enumerate() {
                    *cell = p;
                    p *= expected(b) / (count + 1) as f64;
                }
                row
            })
            .collect();
        let mut by_tick: Vec<Vec<f64>> = vec![vec![1.0]; BINS];
        let mut at_most = Vec::new();
        for tick in 0..TICKS {
            let first_row = at_most.len();
            at_most.resize(first_row + counts_by(tick), [0.0; BINS]);
            for b in 0..BINS {
                let mut sum = vec![0.0; counts_by(tick)];
                for (before, p) in by_tick[b].iter().enumerate() {
                    for (now, q) in in_tick[b][..COUNTS].iter().enumerate() {
                        sum[before + now] += p * q / in_tick[b][COUNTS];
                    }
                }
                let mut total = 0.0;
                for (row, p) in at_most[first_row..].iter_mut().zip(&sum) {
                    total += p;
                    row[b] = total as f32;
                }
                by_tick[b] = sum;
            }
            in_tick = motion
                .rows
                .iter()
                .map(|(first, weights)| {
                    let mut next = [0.0; COUNTS + 1];
                    for (weight, row) in weights.iter().zip(&in_tick[*first..]) {
                        for (cell, p) in next.iter_mut().zip(row) {
                            *cell += weight * p;
                        }
                    }
                    next
                })
                .collect();
        }
        let mut ln_expected = [f64::NEG_INFINITY; BINS];
        for (b, ln) in ln_expected.iter_mut().enumerate().skip(1) {
            *ln = libm::log(expected(b));
        }
        Self {
            motion,
            ln_expected,
            at_most,
        }
    }

    fn shared() -> &'static Self {
        static TABLES: OnceBox<Tables> = OnceBox::new();
        TABLES.get_or_init(|| Box::new(Self::new()))
    }
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables").finish_non_exhaustive()
    }
}

/// The belief about a rate of arrivals between 0 and [`RANGE`] packets a second, and what it lets
/// expect. Takes counts a tick of [`TICK`] seconds. Making the first one computes tables, which all share;
/// nothing else allocates.
///
/// ```
/// use lowtide_cc::estimators::ArrivalForecast;
///
/// let mut forecast = ArrivalForecast::new();
/// for _ in 0..50 {
///     forecast.step(Some(8));
/// }
/// assert!((forecast.mean() - 400.0).abs() < 20.0);
/// let [first, .., last] = forecast.arrivals(0.05);
/// assert!(first < 8 && last < 64);
/// ```
#[derive(Clone, Debug)]
pub struct ArrivalForecast {
    tables: &'static Tables,
    belief: [f64; BINS],
}

impl Default for ArrivalForecast {
    fn default() -> Self {
        Self::new()
    }
}

impl ArrivalForecast {
    /// All rates are as likely.
    #[must_use]
    pub fn new() -> Self {
        Self {
            tables: Tables::shared(),
            belief: [1.0 / BINS as f64; BINS],
        }
    }

    /// A tick is over in which `count` packets arrived; `None`: as many as the sender had sent, so that
    /// they say nothing.
    pub fn step(&mut self, count: Option<u32>) {
        self.belief = self.tables.motion.apply(&self.belief);
        if let Some(count) = count {
            self.weigh(count);
        }
        self.normalise();
    }

    /// Poisson's law, but for what is the same for all rates.
    fn weigh(&mut self, count: u32) {
        let likelihood = |b: usize| match (b, count) {
            (0, 0) => 0.0,
            (0, _) => f64::NEG_INFINITY,
            _ => f64::from(count) * self.tables.ln_expected[b] - rate(b) * TICK,
        };
        let mut logs = [f64::NEG_INFINITY; BINS];
        for (b, (log, mass)) in logs.iter_mut().zip(&self.belief).enumerate() {
            if *mass > 0.0 {
                *log = likelihood(b);
            }
        }
        // The most likely one that is believed in at all has weight one, so that not all vanish.
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (mass, log) in self.belief.iter_mut().zip(&logs) {
            *mass *= libm::exp(log - most);
        }
    }

    fn normalise(&mut self) {
        let sum: f64 = self.belief.iter().sum();
        if sum > 0.0 && sum.is_finite() {
            self.belief.iter_mut().for_each(|mass| *mass /= sum);
        } else {
            self.belief = [1.0 / BINS as f64; BINS];
        }
    }

    /// How many packets will have arrived by the end of each of the next ticks, at the least, but for a
    /// probability of `quantile`.
    #[must_use]
    pub fn arrivals(&self, quantile: f64) -> [u32; TICKS] {
        let mut arrivals = [0; TICKS];
        let (mut from, mut first_row) = (0, 0);
        for (tick, arrived) in arrivals.iter_mut().enumerate() {
            let rows = &self.tables.at_most[first_row..first_row + counts_by(tick)];
            // Not fewer than by the tick before; then one more than all, as in the authors' code.
            from += rows[from..].partition_point(|row| self.mix(row) < quantile);
            *arrived = from as u32;
            first_row += rows.len();
        }
        arrivals
    }

    fn mix(&self, row: &[f32; BINS]) -> f64 {
        let mut sum = 0.0;
        for (mass, p) in self.belief.iter().zip(row) {
            sum += mass * f64::from(*p);
        }
        sum
    }

    /// Mean of the belief, packets a second.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let weighted = self.belief.iter().enumerate();
        weighted.map(|(b, mass)| mass * rate(b)).sum()
    }

    /// Packets are counted in twos from now on: what was a rate is half of it.
    pub fn count_in_twos(&mut self) {
        let old = core::mem::replace(&mut self.belief, [0.0; BINS]);
        for (b, mass) in old.iter().enumerate() {
            // Only a rate of zero is one of zero.
            self.belief[(b / 2).max(b.min(1))] += mass;
        }
    }

    /// The way back: what was a rate is twice that. What is out of range then is taken for the fastest.
    pub fn count_in_halves(&mut self) {
        let old = core::mem::replace(&mut self.belief, [0.0; BINS]);
        self.belief[0] = old[0];
        for (b, mass) in old.iter().enumerate().skip(1) {
            for to in [2 * b, 2 * b + 1] {
                self.belief[to.min(BINS - 1)] += mass / 2.0;
            }
        }
    }
}
