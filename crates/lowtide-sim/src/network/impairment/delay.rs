//! Delay behind a link: propagation, jitter, release in batches.

use std::collections::VecDeque;

use lowtide_cc::units::{Duration, Time};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Random extra delay, uniform in `0..=max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// The largest extra delay.
    pub max: Duration,
    /// Whether a packet may overtake another; otherwise it waits for those before it.
    pub reorder: bool,
}

/// Packets are held and released together at multiples of `period`, as WiFi's frame aggregation
/// does with acknowledgments. The phase comes from the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// The time between two releases; zero: none.
    pub period: Duration,
}

/// Says when what leaves a link arrives.
#[derive(Clone, Debug)]
pub struct DelayProcess {
    delay: Duration,
    /// Changes of it that are to come.
    steps: VecDeque<(Time, Duration)>,
    least: Duration,
    jitter: Option<Jitter>,
    aggregation: Option<Aggregation>,
    phase: Duration,
    /// Whether a packet waits for those before it: where jitter or a shorter delay would let it overtake.
    keeps_order: bool,
    /// The last arrival, where order is kept.
    last: Time,
    rng: Pcg64Mcg,
}

impl DelayProcess {
    /// A process with a delay and, on top, jitter, then aggregation. The delay is another one from each of
    /// `steps` on, whose times rise.
    #[must_use]
    pub fn new(
        delay: Duration,
        steps: &[(Time, Duration)],
        jitter: Option<Jitter>,
        aggregation: Option<Aggregation>,
        seed: u64,
    ) -> Self {
        // A different stream than that of the losses, which have the same seed.
        let mut rng = Pcg64Mcg::seed_from_u64(!seed);
        let aggregation = aggregation.filter(|a| !a.period.is_zero());
        let phase = aggregation.map_or(Duration::ZERO, |a| draw(&mut rng, a.period));
        let jitter = jitter.filter(|j| !j.max.is_zero());
        let least = steps.iter().map(|(_, delay)| *delay).min();
        Self {
            delay,
            steps: steps.iter().copied().collect(),
            least: least.map_or(delay, |least| least.min(delay)),
            keeps_order: jitter.map_or(!steps.is_empty(), |jitter| !jitter.reorder),
            jitter,
            aggregation,
            phase,
            last: Time::ZERO,
            rng,
        }
    }

    /// No packet takes less than this.
    #[must_use]
    pub fn least(&self) -> Duration {
        self.least
    }

    /// When a packet arrives that left the link at `departure`.
    #[inline]
    pub fn arrival(&mut self, departure: Time) -> Time {
        while let Some((at, delay)) = self.steps.front().copied()
            && at <= departure
        {
            self.delay = delay;
            self.steps.pop_front();
        }
        let mut arrival = departure + self.delay;
        if let Some(jitter) = self.jitter {
            arrival += draw(&mut self.rng, jitter.max);
        }
        if self.keeps_order {
            arrival = arrival.max(self.last);
            self.last = arrival;
        }
        if let Some(Aggregation { period }) = self.aggregation {
            let since_phase = arrival.since(Time::ZERO + self.phase).as_nanos();
            let releases = since_phase.div_ceil(period.as_nanos());
            arrival = Time::ZERO + self.phase + period * releases;
        }
        arrival
    }
}

/// A span evenly distributed in `0..=max`.
fn draw(rng: &mut Pcg64Mcg, max: Duration) -> Duration {
    let span = u128::from(max.as_nanos()) + 1;
    // The upper half of a 64 × 65 bit product; its bias, at most 2^-64 of the span, is below a
    // nanosecond's weight.
    Duration::from_nanos(((u128::from(rng.next_u64()) * span) >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_keeps_order_unless_told_otherwise_and_aggregation_releases_together() {
        let at = |n: u64| Time::from_nanos(n * 100_000);
        let ms = Duration::from_millis;
        let arrivals = |reorder| {
            let jitter = Some(Jitter {
                max: ms(5),
                reorder,
            });
            let mut process = DelayProcess::new(ms(20), &[], jitter, None, 3);
            (0..1_000)
                .map(|n| process.arrival(at(n)))
                .collect::<Vec<_>>()
        };
        for (reorder, ordered) in [(false, true), (true, false)] {
            let arrivals = arrivals(reorder);
            assert_eq!(arrivals.is_sorted(), ordered);
            for (n, arrival) in arrivals.iter().enumerate() {
                let delay = arrival.since(at(n as u64));
                assert!(delay >= ms(20) && (delay <= ms(25) || !reorder), "{delay}");
            }
        }
        let mut process =
            DelayProcess::new(ms(1), &[], None, Some(Aggregation { period: ms(4) }), 3);
        let arrivals: Vec<Time> = (0..1_000).map(|n| process.arrival(at(n))).collect();
        let mut releases = arrivals.clone();
        releases.dedup();
        assert!(
            (25..=27).contains(&releases.len()),
            "100 ms hold 25 releases"
        );
        assert!(releases.windows(2).all(|w| w[1].since(w[0]) == ms(4)));
        assert!(
            arrivals
                .iter()
                .enumerate()
                .all(|(n, a)| a.since(at(n as u64)) <= ms(5))
        );
    }

    #[test]
    fn a_delay_changes_in_steps_and_packets_keep_their_order() {
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let ms = Duration::from_millis;
        let steps = [(at(10), ms(30)), (at(20), ms(5))];
        let mut process = DelayProcess::new(ms(20), &steps, None, None, 3);
        assert_eq!(process.least(), ms(5));
        let arrivals = [9, 10, 19, 20, 43, 45].map(|n| process.arrival(at(n)));
        // At 20 ms the way is 25 ms shorter; what left before is still ahead until 49 ms.
        assert_eq!(arrivals, [29, 40, 49, 49, 49, 50].map(at));
    }
}
