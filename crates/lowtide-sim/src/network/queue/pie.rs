//! PIE (RFC 8033): arrivals are dropped or marked with a probability that a PI controller sets by the
//! wait.
//!
//! The wait is that of the packet that left last (timestamps, §4.3), zero when nothing waits. The law is
//! that of Appendix A, with marks, derandomisation and the cap of Appendix B.

use lowtide_cc::registry::{Parameter, UP_TO_10_S, Values};
use lowtide_cc::units::{Bytes, Duration, Time};

use super::discipline::{Discipline, Waiting};
use super::fifo::Fifo;
use super::limit::Capacity;
use super::pi;
use crate::network::chance::Chance;
use crate::network::packet::{DropCause, Handle};

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PieConfig {
    /// The wait that it aims at (RFC 8033 §4.2: 15 ms).
    pub target: Duration,
    /// Time between updates of the probability (15 ms).
    pub tupdate: Duration,
    /// Weight of the wait's deviation, in Hz (0.125).
    pub alpha: f64,
    /// Weight of the wait's change, in Hz (1.25).
    pub beta: f64,
    /// A burst of this length passes after a calm time (§4.4: 150 ms).
    pub max_burst: Duration,
    /// Up to this probability packets of ECN-capable flows are marked, above it dropped; zero: never
    /// marked (§5.1: 10 %).
    pub mark_ecnth: f64,
    /// Drops and marks are kept apart, and from being too far apart (§5.4).
    pub derandomize: bool,
}

/// Names, defaults and ranges of the parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::span("target", Duration::from_millis(15), pi::TARGET).about("wait that it aims at"),
    Parameter::span("tupdate", Duration::from_millis(15), pi::TUPDATE)
        .about("time between updates of the probability"),
    Parameter::real("alpha", 0.125, pi::GAIN).about("weight of the wait's deviation (Hz)"),
    Parameter::real("beta", 1.25, pi::GAIN).about("weight of the wait's change (Hz)"),
    Parameter::span("max_burst", Duration::from_millis(150), UP_TO_10_S)
        .about("a burst of this length passes after a calm time"),
    Parameter::share("mark_ecnth", 0.1, 0.0..=1.0)
        .about("up to this probability ECN-capable flows are marked; 0: never"),
    Parameter::flag("derandomize", true).about("keep drops from coming in clusters"),
];

impl PieConfig {
    pub(super) fn of(values: &Values) -> Self {
        Self {
            target: values.span("target"),
            tupdate: values.span("tupdate"),
            alpha: values.real("alpha"),
            beta: values.real("beta"),
            max_burst: values.span("max_burst"),
            mark_ecnth: values.share("mark_ecnth"),
            derandomize: values.flag("derandomize"),
        }
    }
}

/// PIE's state, by the names of the RFC's pseudo-code.
#[derive(Clone, Debug)]
struct Law {
    drop_prob: f64,
    accu_prob: f64,
    current_qdelay: Duration,
    qdelay_old: Duration,
    burst_allowance: Duration,
    next_update: Time,
}

/// With no more than two packets of this size waiting nothing is dropped.
const MEAN_PKTSIZE: u64 = 1500;

impl Law {
    fn new(config: &PieConfig) -> Self {
        Self {
            drop_prob: 0.0,
            accu_prob: 0.0,
            current_qdelay: Duration::ZERO,
            qdelay_old: Duration::ZERO,
            burst_allowance: config.max_burst,
            next_update: Time::ZERO + config.tupdate,
        }
    }

    /// Does the updates that are due by `now`; between two calls nothing changes that they depend on.
    #[inline]
    fn update(&mut self, now: Time, config: &PieConfig) {
        while self.next_update <= now {
            let before = (self.drop_prob, self.qdelay_old, self.burst_allowance);
            self.calculate_drop_prob(config);
            let stands = before == (self.drop_prob, self.qdelay_old, self.burst_allowance);
            let due = now.since(self.next_update).as_nanos() / config.tupdate.as_nanos();
            self.next_update += config.tupdate * if stands { due + 1 } else { 1 };
        }
    }

    /// §4.2, §4.4 and §5.5.
    fn calculate_drop_prob(&mut self, config: &PieConfig) {
        let (current, old) = (self.current_qdelay, self.qdelay_old);
        let mut p = pi::change((config.alpha, config.beta), config.target, current, old);
        p /= match self.drop_prob {
            prob if prob < 0.000_001 => 2048.0,
            prob if prob < 0.000_01 => 512.0,
            prob if prob < 0.000_1 => 128.0,
            prob if prob < 0.001 => 32.0,
            prob if prob < 0.01 => 8.0,
            prob if prob < 0.1 => 2.0,
            _ => 1.0,
        };
        if self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.drop_prob += p;
        if current.is_zero() && old.is_zero() {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = current;
        self.burst_allowance -= config.tupdate;
        if self.drop_prob == 0.0 && current * 2 < config.target && old * 2 < config.target {
            self.burst_allowance = config.max_burst;
        }
    }

    /// `drop_early`: whether an arrival is dropped or marked while `queued` waits.
    #[inline]
    fn drop_early(&mut self, queued: Bytes, config: &PieConfig, chance: &mut Chance) -> bool {
        let is_calm = self.qdelay_old * 2 < config.target && self.drop_prob < 0.2;
        if !self.burst_allowance.is_zero() || is_calm || queued.get() <= 2 * MEAN_PKTSIZE {
            return false;
        }
        if config.derandomize {
            if self.drop_prob == 0.0 {
                self.accu_prob = 0.0;
            }
            self.accu_prob += self.drop_prob;
            if self.accu_prob < 0.85 {
                return false;
            }
            if self.accu_prob >= 8.5 {
                self.accu_prob = 0.0;
                return true;
            }
        }
        let drops = chance.happens(self.drop_prob);
        if drops {
            self.accu_prob = 0.0;
        }
        drops
    }
}

/// One queue under PIE.
#[derive(Debug)]
pub(crate) struct Pie {
    config: PieConfig,
    law: Law,
    chance: Chance,
    fifo: Fifo,
}

impl Pie {
    pub(super) fn new(config: PieConfig, capacity: Capacity, seed: u64) -> Self {
        Self {
            law: Law::new(&config),
            config,
            chance: Chance::new(seed),
            fifo: Fifo::new(capacity),
        }
    }
}

impl Discipline for Pie {
    /// The wait that it goes by ends when the link takes the packet.
    fn decides_late(&self) -> bool {
        true
    }

    #[inline]
    fn bypass(&mut self, now: Time, packet: Handle) -> Result<Handle, DropCause> {
        self.law.update(now, &self.config);
        self.law.current_qdelay = Duration::ZERO;
        Ok(packet)
    }

    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Handle, mut drops: impl FnMut(Handle, DropCause)) {
        self.law.update(now, &self.config);
        let queued = self.fifo.bytes();
        let signals = self.law.drop_early(queued, &self.config, &mut self.chance);
        let is_above = self.law.drop_prob > self.config.mark_ecnth;
        if signals && (is_above || !packet.mark()) {
            return drops(packet, DropCause::Managed);
        }
        if !self.fifo.push_or_drop(now, packet, drops) {
            self.law.accu_prob = 0.0;
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _drops: impl FnMut(Handle, DropCause)) -> Option<Waiting> {
        self.law.update(now, &self.config);
        let next = self.fifo.pop();
        self.law.current_qdelay = match &next {
            Some(next) if !self.fifo.bytes().is_zero() => now.since(next.since),
            _ => Duration::ZERO,
        };
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

    const CONFIG: PieConfig = PieConfig {
        target: Duration::from_millis(15),
        tupdate: Duration::from_millis(15),
        alpha: 0.125,
        beta: 1.25,
        max_burst: Duration::from_millis(150),
        mark_ecnth: 0.1,
        derandomize: true,
    };

    #[test]
    fn the_probability_follows_the_wait() {
        // From a model of §4.2 and §4.3 in Python: the wait grows from 5 ms by 1 ms an update, falls from
        // 44 ms by 2 ms, and is zero from the 62nd update on.
        let up = (0..40).map(|n| 5 + n);
        let down = (1..=22).map(|n| 44 - 2 * n);
        let waits = up.chain(down).chain([0; 30]);
        let mut law = Law::new(&CONFIG);
        let mut by_update = vec![0.0];
        for ms in waits {
            law.current_qdelay = Duration::from_millis(ms);
            law.calculate_drop_prob(&CONFIG);
            by_update.push(law.drop_prob);
        }
        for (update, expected) in [
            (1, 2.441_406_25e-6),
            (10, 2.001_953_125e-5),
            (20, 3.198_242_187_5e-4),
            (30, 1.944_824_218_75e-3),
            (40, 7.335_449_218_75e-3),
            (50, 7.022_949_218_75e-3),
            (62, 2.522_949_218_75e-3),
            (70, 7.736_244_281_268e-4),
            (92, 0.0),
        ] {
            let found: f64 = by_update[update];
            assert!((found - expected).abs() < 1e-12, "{update}: {found}");
        }
        // A wait of 300 ms: (0.125 × 0.285 + 1.25 × 0.3) / 2048 at first; above 10 % no more than 2 %
        // at a time.
        let mut law = Law::new(&CONFIG);
        law.current_qdelay = Duration::from_millis(300);
        law.calculate_drop_prob(&CONFIG);
        assert!((law.drop_prob - 0.410_625 / 2048.0).abs() < 1e-12);
        law.drop_prob = 0.3;
        law.calculate_drop_prob(&CONFIG);
        assert!((law.drop_prob - 0.32).abs() < 1e-12);
    }

    #[test]
    fn late_updates_are_those_of_a_timer() {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let mut late = Law::new(&CONFIG);
        let mut timely = late.clone();
        for (ms, wait) in [
            (100, 40),
            (700, 90),
            (9_000, 3),
            (900_000, 0),
            (990_000, 20),
        ] {
            late.update(at(ms), &CONFIG);
            while timely.next_update <= at(ms) {
                timely.calculate_drop_prob(&CONFIG);
                timely.next_update += CONFIG.tupdate;
            }
            assert_eq!(
                (late.drop_prob, late.burst_allowance, late.next_update),
                (timely.drop_prob, timely.burst_allowance, timely.next_update)
            );
            late.current_qdelay = Duration::from_millis(wait);
            timely.current_qdelay = Duration::from_millis(wait);
        }
    }

    /// Which of ten thousand arrivals are dropped and marked at a fixed probability.
    fn decisions(drop_prob: f64, ecn: Ecn, config: PieConfig) -> (Vec<usize>, usize) {
        let mut queue = Pie::new(config, Capacity::UNLIMITED, 1);
        queue.law.next_update = Time::MAX;
        queue.law.drop_prob = drop_prob;
        queue.law.qdelay_old = config.target;
        queue.law.burst_allowance = Duration::ZERO;
        for n in 0..3 {
            queue
                .fifo
                .push(Time::ZERO, Handle::new(n, 0, Bytes::new(1_500), ecn));
        }
        let mut dropped = Vec::new();
        for n in 0..10_000 {
            let packet = Handle::new(n, 0, Bytes::new(1_500), ecn);
            queue.enqueue(Time::ZERO, packet, |packet, _| {
                dropped.push(packet.id() as usize)
            });
        }
        let kept = std::iter::from_fn(|| queue.fifo.pop());
        let marked = kept
            .filter(|n| ecn != Ecn::Ce && n.packet.ecn() == Ecn::Ce)
            .count();
        (dropped, marked)
    }

    #[test]
    fn drops_keep_their_distance_and_ecn_capable_flows_are_marked_up_to_a_threshold() {
        let (dropped, _) = decisions(0.02, Ecn::NotEct, CONFIG);
        let gaps: Vec<usize> = dropped.windows(2).map(|w| w[1] - w[0]).collect();
        // 0.85 and 8.5 over the probability (§5.4).
        assert!(gaps.iter().all(|gap| (43..=425).contains(gap)), "{gaps:?}");
        // At first 42 packets that are not dropped, then one in 50: one in 92.
        assert!((90..130).contains(&dropped.len()), "{}", dropped.len());
        let chance = PieConfig {
            derandomize: false,
            ..CONFIG
        };
        // Mean 200, standard deviation 14.
        let (dropped, _) = decisions(0.02, Ecn::NotEct, chance);
        assert!((140..260).contains(&dropped.len()), "{}", dropped.len());

        let (dropped, marked) = decisions(0.1, Ecn::Ect0, CONFIG);
        assert!(dropped.is_empty() && marked > 300, "{marked}");
        let (dropped, marked) = decisions(0.11, Ecn::Ect0, CONFIG);
        assert!(dropped.len() > 300 && marked == 0, "{marked}");
    }

    #[test]
    fn a_burst_passes_before_drops_begin() {
        // Two packets come each millisecond, one leaves.
        let mut queue = Pie::new(CONFIG, Capacity::UNLIMITED, 1);
        let mut first_drop = None;
        for ms in 0..3_000 {
            let now = Time::ZERO + Duration::from_millis(ms);
            for n in 0..2 {
                let packet = Handle::new(n, 0, Bytes::new(1_500), Ecn::NotEct);
                queue.enqueue(now, packet, |_, _| {
                    first_drop.get_or_insert(ms);
                });
            }
            queue.dequeue(now, |_, _| unreachable!());
        }
        let first_drop = first_drop.unwrap();
        assert!((150..600).contains(&first_drop), "{first_drop}");
    }
}
