//! Delay behind a link: propagation, jitter, release in batches.

use std::sync::Arc;

use lowtide_cc::units::{Duration, Time};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::moving::{Moving, MovingDelay};
use super::wifi::WifiJitter;

/// Random extra delay, uniform in `0..=max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Jitter {
    /// The largest extra delay.
    pub max: Duration,
    /// Whether a packet may overtake another; otherwise it waits for those before it.
    pub reorder: bool,
}

/// Packets are held and released together at multiples of `period`, as WiFi's frame aggregation
/// does with acknowledgments. The phase comes from the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Aggregation {
    /// The time between two releases; zero: none.
    pub period: Duration,
    /// What would arrive before this is not held.
    pub from: Time,
}

impl Aggregation {
    /// From the beginning on.
    #[must_use]
    pub const fn every(period: Duration) -> Self {
        Self {
            period,
            from: Time::ZERO,
        }
    }
}

/// Says when what leaves a link arrives.
#[derive(Clone, Debug)]
pub struct DelayProcess {
    delay: Duration,
    moving: Option<Box<Moving>>,
    jitter: Option<Jitter>,
    wifi: Option<Arc<WifiJitter>>,
    aggregation: Option<Aggregation>,
    phase: Duration,
    /// Whether a packet waits for those before it where jitter would let it overtake.
    keeps_order: bool,
    /// The last arrival, where order is kept.
    last: Time,
    rng: Pcg64Mcg,
}

impl DelayProcess {
    /// A process with a delay and, on top, jitter, then aggregation. Where the delay moves, `moving`
    /// says how long it is.
    #[must_use]
    pub fn new(
        delay: Duration,
        moving: Option<Arc<MovingDelay>>,
        jitter: Option<Jitter>,
        aggregation: Option<Aggregation>,
        seed: u64,
    ) -> Self {
        // A different stream than that of the losses, which have the same seed.
        let mut rng = Pcg64Mcg::seed_from_u64(!seed);
        let aggregation = aggregation.filter(|a| !a.period.is_zero());
        let phase = aggregation.map_or(Duration::ZERO, |a| draw(&mut rng, a.period));
        let jitter = jitter.filter(|j| !j.max.is_zero());
        Self {
            delay,
            moving: moving.map(|moving| Box::new(Moving::new(moving))),
            keeps_order: jitter.is_some_and(|jitter| !jitter.reorder),
            jitter,
            wifi: None,
            aggregation,
            phase,
            last: Time::ZERO,
            rng,
        }
    }

    /// Adds the delays of a busy Wi-Fi.
    #[must_use]
    pub fn over_wifi(mut self, wifi: Option<Arc<WifiJitter>>) -> Self {
        self.keeps_order |= wifi.is_some();
        self.wifi = wifi;
        self
    }

    /// No packet takes less than this.
    #[must_use]
    pub fn least(&self) -> Duration {
        let moving = self.moving.as_ref();
        moving.map_or(self.delay, |moving| moving.least())
    }

    /// What propagation took of the last packet's way beyond [`least`](Self::least); `None` where it
    /// does not move.
    #[must_use]
    #[inline]
    pub fn detour(&self) -> Option<Duration> {
        self.moving.as_ref().map(|moving| moving.detour())
    }

    /// When a packet arrives that left the link at `departure`.
    #[inline]
    pub fn arrival(&mut self, departure: Time) -> Time {
        let mut arrival = match &mut self.moving {
            None => departure + self.delay,
            Some(moving) => moving.arrival(departure),
        };
        if let Some(jitter) = self.jitter {
            arrival += draw(&mut self.rng, jitter.max);
        }
        if let Some(wifi) = &self.wifi {
            arrival += wifi.draw(departure, &mut self.rng);
        }
        if self.keeps_order {
            arrival = arrival.max(self.last);
            self.last = arrival;
        }
        if let Some(Aggregation { period, from }) = self.aggregation
            && arrival >= from
        {
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
            let mut process = DelayProcess::new(ms(20), None, jitter, None, 3);
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
        let aggregation = Aggregation::every(ms(4));
        let mut process = DelayProcess::new(ms(1), None, None, Some(aggregation), 3);
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
}
