//! RED (Floyd and Jacobson 1993), gentle (Floyd 2000): arrivals are dropped or marked by chance, with a
//! probability that grows with the average queue.

use lowtide_cc::registry::{Parameter, Values};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

use super::discipline::{Discipline, Waiting};
use super::fifo::Fifo;
use super::limit::Capacity;
use crate::network::chance::Chance;
use crate::network::packet::{DropCause, Handle};

/// Parameters of RED.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RedConfig {
    /// Average queue, in packets, up to which nothing is dropped (Floyd: 5).
    pub min: f64,
    /// Average queue at which the probability is `max_p`; at or below `min`: just above that (15).
    pub max: f64,
    /// Probability there (10 %).
    pub max_p: f64,
    /// Weight of an arrival in the average (0.002).
    pub weight: f64,
    /// From `max` to twice that the probability grows to 1, instead of being 1 at once.
    pub gentle: bool,
    /// Mark packets of ECN-capable flows where the probability is below 1.
    pub ecn: bool,
}

/// Names, defaults and ranges of the parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::real("min", 5.0, 0.0..=1e6)
        .about("average queue up to which nothing is dropped (packets)"),
    Parameter::real("max", 15.0, 0.0..=1e6)
        .about("average queue where the probability is max_p (packets)"),
    Parameter::share("max_p", 0.1, 0.0..=1.0).about("probability at an average queue of 'max'"),
    Parameter::real("weight", 0.002, 1e-6..=1.0).about("weight of an arrival in the average"),
    Parameter::flag("gentle", true)
        .about("from 'max' to twice that the probability grows to 1 instead of being 1"),
    Parameter::flag("ecn", true).about("mark ECN-capable flows while the probability is below 1"),
];

impl RedConfig {
    pub(super) fn of(values: &Values) -> Self {
        Self {
            min: values.real("min"),
            max: values.real("max"),
            max_p: values.share("max_p"),
            weight: values.real("weight"),
            gentle: values.flag("gentle"),
            ecn: values.flag("ecn"),
        }
    }

    /// The probability at an average queue, before arrivals since the last drop count.
    fn probability(&self, average: f64) -> f64 {
        if average < self.min {
            0.0
        } else if average < self.max {
            self.max_p * (average - self.min) / (self.max - self.min)
        } else if self.gentle && average < 2.0 * self.max {
            self.max_p + (1.0 - self.max_p) * (average - self.max) / self.max
        } else {
            1.0
        }
    }
}

/// What an idle link could have sent is counted in packets of this size.
const TYPICAL_PACKET: Bytes = Bytes::new(1500);

/// One queue under RED.
#[derive(Debug)]
pub(crate) struct Red {
    config: RedConfig,
    chance: Chance,
    fifo: Fifo,
    average: f64,
    /// Arrivals since the last drop or mark; `None`: the average is below the minimum.
    count: Option<u64>,
    /// Since when nothing waits.
    empty_since: Time,
    /// Transmission time of a typical packet at the link's mean rate.
    transmission: Duration,
}

enum Verdict {
    Passes,
    Signal,
    Forced,
}

impl Red {
    pub(super) fn new(config: RedConfig, capacity: Capacity, rate: Rate, seed: u64) -> Self {
        Self {
            config,
            chance: Chance::new(seed),
            fifo: Fifo::new(capacity),
            average: 0.0,
            count: None,
            empty_since: Time::ZERO,
            transmission: rate.time_for(TYPICAL_PACKET),
        }
    }

    /// The average decays as if packets had arrived while nothing waited.
    fn idle(&mut self, now: Time) {
        let idle = now.since(self.empty_since);
        let packets = idle.ratio(self.transmission.max(Duration::from_nanos(1)));
        self.average *= libm::pow(1.0 - self.config.weight, packets);
    }

    #[inline]
    fn judge(&mut self) -> Verdict {
        let probability = self.config.probability(self.average);
        if probability >= 1.0 {
            self.count = Some(0);
            return Verdict::Forced;
        }
        if probability <= 0.0 {
            self.count = None;
            return Verdict::Passes;
        }
        let count = self.count.map_or(0, |count| count + 1);
        // Spread evenly between 1 and 1/p arrivals.
        let spread = 1.0 - count as f64 * probability;
        let happens = spread <= probability || self.chance.happens(probability / spread);
        self.count = Some(if happens { 0 } else { count });
        if happens {
            Verdict::Signal
        } else {
            Verdict::Passes
        }
    }

    /// Marks an arrival where it must be, and says whether it may come in.
    #[inline]
    fn passes(&mut self, packet: &mut Handle) -> bool {
        match self.judge() {
            Verdict::Passes => true,
            Verdict::Signal => self.config.ecn && packet.mark(),
            Verdict::Forced => false,
        }
    }
}

impl Discipline for Red {
    #[inline]
    fn bypass(&mut self, now: Time, mut packet: Handle) -> Result<Handle, DropCause> {
        self.idle(now);
        self.empty_since = now;
        match self.passes(&mut packet) {
            true => Ok(packet),
            false => Err(DropCause::Managed),
        }
    }

    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Handle, mut drops: impl FnMut(Handle, DropCause)) {
        let queue = self.fifo.packets() as f64;
        self.average += self.config.weight * (queue - self.average);
        if !self.passes(&mut packet) {
            drops(packet, DropCause::Managed);
        } else {
            self.fifo.push_or_drop(now, packet, drops);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _drops: impl FnMut(Handle, DropCause)) -> Option<Waiting> {
        let next = self.fifo.pop();
        if next.is_none() {
            self.empty_since = now;
        }
        next
    }

    #[inline]
    fn bytes(&self) -> Bytes {
        self.fifo.bytes()
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::Ecn;

    use super::*;

    const CONFIG: RedConfig = RedConfig {
        min: 5.0,
        max: 15.0,
        max_p: 0.1,
        weight: 0.002,
        gentle: true,
        ecn: true,
    };

    fn queue(config: RedConfig) -> Red {
        // 1500 bytes take 1 ms.
        Red::new(config, Capacity::UNLIMITED, Rate::from_mbps(12), 1)
    }

    fn packet(ecn: Ecn) -> Handle {
        Handle::new(0, 0, Bytes::new(1_500), ecn)
    }

    #[test]
    fn the_average_follows_arrivals_and_idle_time() {
        let mut red = queue(RedConfig {
            min: 1_000.0,
            ..CONFIG
        });
        // 0 to 99 packets wait at the arrivals: the average is Σ 0.002 · n · 0.998^(99 − n).
        let expected: f64 = (0..100)
            .map(|n| 0.002 * f64::from(n) * 0.998_f64.powi(99 - n))
            .sum();
        for _ in 0..100 {
            red.enqueue(Time::ZERO, packet(Ecn::NotEct), |_, _| {});
        }
        assert!((red.average - expected).abs() < 1e-9, "{}", red.average);
        // 347 idle milliseconds are 347 packets: 0.998^347 is 0.4992.
        while red.dequeue(Time::ZERO, |_, _| {}).is_some() {}
        let now = Time::ZERO + Duration::from_millis(347);
        red.bypass(now, packet(Ecn::NotEct)).unwrap();
        assert!((red.average / expected - 0.4992).abs() < 1e-4);
    }

    /// How many of 10 000 arrivals are dropped, and how many are marked, at an average queue.
    fn signals(config: RedConfig, average: f64, ecn: Ecn) -> (usize, usize) {
        let mut red = queue(config);
        let (mut dropped, mut marked) = (0, 0);
        for _ in 0..10_000 {
            red.average = average;
            let mut packet = packet(ecn);
            dropped += usize::from(!red.passes(&mut packet));
            marked += usize::from(packet.ecn() == Ecn::Ce);
        }
        (dropped, marked)
    }

    #[test]
    fn the_probability_is_floyds_and_drops_are_spread_evenly() {
        for (average, expected) in [
            (4.9, 0.0),
            (10.0, 0.05),
            (15.0, 0.1),
            (22.5, 0.55),
            (30.0, 1.0),
        ] {
            let found = CONFIG.probability(average);
            assert!((found - expected).abs() < 1e-12, "{average}: {found}");
        }
        let abrupt = RedConfig {
            gentle: false,
            ..CONFIG
        };
        assert_eq!(abrupt.probability(15.0), 1.0);
        // With p = 5 % gaps are even between 1 and 20: one in 10.5, where chance alone had one in 20.
        let (dropped, _) = signals(CONFIG, 10.0, Ecn::NotEct);
        assert!((900..1_010).contains(&dropped), "{dropped}");
        assert_eq!(signals(CONFIG, 4.9, Ecn::NotEct).0, 0);
        assert_eq!(signals(CONFIG, 30.0, Ecn::Ect0), (10_000, 0));
        let (dropped, marked) = signals(CONFIG, 10.0, Ecn::Ect0);
        assert!(dropped == 0 && (900..1_010).contains(&marked), "{marked}");
        let never = RedConfig {
            ecn: false,
            ..CONFIG
        };
        assert_eq!(signals(never, 10.0, Ecn::Ect0).1, 0);
    }
}
