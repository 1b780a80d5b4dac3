//! The delays of a busy Wi-Fi, after measurements of the C4 project (private-octopus/c4, wifi-jitter.md).

use lowtide_cc::units::{Duration, Time};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Random extra delay as a busy Wi-Fi makes it: of a millisecond or two for most packets, for the taking
/// of turns, and of several times 7.5 ms for some. Packets keep their order. Its mean is about `mean`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WifiJitter {
    /// Mean delays, each from a moment on; their times rise. Before the first there is none.
    steps: Vec<(Time, Duration)>,
}

/// Contention among stations.
const SHORT: Duration = Duration::from_millis(1);
/// What whole series of frames of others take.
const LONG: Duration = Duration::from_micros(7_500);
/// How many of them on average.
const LONG_COUNT: f64 = 12.0;
/// The share of packets that meet them is the mean above [`SHORT`] divided by this.
const LONG_MEAN: Duration = Duration::from_millis(84);

impl WifiJitter {
    /// Mean delays, each from a moment on; `None` unless there is one and their times rise.
    #[must_use]
    pub fn new(steps: Vec<(Time, Duration)>) -> Option<Self> {
        let rises = steps.windows(2).all(|w| w[0].0 < w[1].0);
        (rises && !steps.is_empty()).then_some(Self { steps })
    }

    /// The delay of a packet.
    pub(super) fn draw(&self, now: Time, rng: &mut Pcg64Mcg) -> Duration {
        let steps = self.steps.iter().rev();
        let Some((_, mean)) = steps.clone().find(|(from, _)| *from <= now) else {
            return Duration::ZERO;
        };
        let mut delay = match poisson(1.0, rng) {
            0 => Duration::ZERO,
            n => SHORT * n - SHORT.mul_f64(uniform(rng)),
        };
        if *mean > SHORT && uniform(rng) < (*mean - SHORT).as_secs_f64() / LONG_MEAN.as_secs_f64() {
            let n = poisson(LONG_COUNT, rng);
            if n > 1 {
                delay += LONG * n - LONG.mul_f64(uniform(rng));
            }
        }
        delay
    }
}

/// At least 0 and below 1.
fn uniform(rng: &mut Pcg64Mcg) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// By Knuth's method, which suits small means.
fn poisson(mean: f64, rng: &mut Pcg64Mcg) -> u64 {
    let limit = libm::exp(-mean);
    let mut product = uniform(rng);
    let mut count = 0;
    while product > limit {
        product *= uniform(rng);
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn delays_are_distributed_as_the_c4_project_has_them() {
        // Mean, 95th and 99th percentile, of single packets; of the model as that project's code has it.
        for (mean_us, expected) in [
            (999, [0.68, 2.5, 3.6]),
            (7_000, [6.87, 72.5, 115.0]),
            (12_000, [11.9, 93.0, 125.0]),
        ] {
            let jitter = WifiJitter::new(vec![(Time::ZERO, Duration::from_micros(mean_us))]);
            let mut rng = Pcg64Mcg::seed_from_u64(7);
            let draw = |_| jitter.as_ref().unwrap().draw(Time::ZERO, &mut rng);
            let mut drawn: Vec<f64> = (0..200_000)
                .map(draw)
                .map(|d| d.as_secs_f64() * 1e3)
                .collect();
            drawn.sort_by(f64::total_cmp);
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            let found = [mean, drawn[190_000], drawn[198_000]];
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found / expected - 1.0).abs() < 0.04,
                    "{mean_us} us: {found:?}, not {expected:?}"
                );
            }
        }
    }

    #[test]
    fn it_changes_at_its_steps() {
        let at = |ms: u64| Time::ZERO + Duration::from_millis(ms);
        let steps = vec![
            (at(10), Duration::from_millis(80)),
            (at(20), Duration::from_micros(500)),
        ];
        let jitter = WifiJitter::new(steps).unwrap();
        let mut rng = Pcg64Mcg::seed_from_u64(7);
        let mut longest = |from| {
            (0..1_000)
                .map(|_| jitter.draw(at(from), &mut rng))
                .max()
                .unwrap()
        };
        assert_eq!(longest(9), Duration::ZERO);
        assert!(longest(10) > Duration::from_millis(80));
        assert!(longest(20) < Duration::from_millis(10));
        assert!(WifiJitter::new(vec![(at(2), SHORT), (at(1), SHORT)]).is_none());
    }
}
