use proptest::prelude::*;

use super::*;

const CONFIG: DualPi2Config = DualPi2Config {
    target: Duration::from_millis(15),
    tupdate: Duration::from_millis(16),
    alpha: 0.16,
    beta: 3.2,
    k: 2.0,
    step: Duration::from_millis(1),
    step_packets: 1,
    scheduler: Scheduler::WeightedRoundRobin,
    classic_share: 0.1,
    tshift: Duration::from_millis(30),
};

fn packet(id: u32, ecn: Ecn) -> Handle {
    Handle::new(id, 0, Bytes::new(1_000), ecn)
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

#[test]
fn the_base_probability_follows_the_wait_at_the_head() {
    for ecn in [Ecn::NotEct, Ecn::Ect1] {
        let mut queue = DualPi2::new(CONFIG, Capacity::UNLIMITED);
        queue.enqueue(Time::ZERO, packet(0, ecn), |_, _| unreachable!());
        // One packet stands: waits of 16, 32 and 48 ms at the updates, each 0.16 × the excess over 15 ms
        // and 3.2 × 16 ms more: 0.00016 + 0.0512 = 0.05136, then + 0.00272 + 0.0512 = 0.10528,
        // then + 0.00528 + 0.0512 = 0.16176.
        for (ms, expected) in [(15, 0.0), (16, 0.05136), (47, 0.10528), (48, 0.16176)] {
            queue.update(at(ms));
            let base = queue.pi.base;
            assert!((base - expected).abs() < 1e-12, "{ms} ms: {base}");
        }
        // However late the next call, at 1 at most, and the last update is that of 9 999 984 ms.
        queue.update(at(9_999_999));
        assert_eq!(
            (queue.pi.base, queue.pi.previous),
            (1.0, at(9_999_984).since(Time::ZERO))
        );
        // Without a wait it falls: by 3.2 × the wait before at once, then by 0.0024 each update.
        queue.pi.previous = Duration::from_millis(30);
        while queue.dequeue(at(9_999_999), |_, _| {}).is_some() {}
        queue.update(at(10_000_000 + 16));
        let base = queue.pi.base;
        assert!((base - (1.0 - 0.096 - 0.0048)).abs() < 1e-9, "{base}");
        queue.update(at(99_000_000));
        assert_eq!(queue.pi.base, 0.0);
    }
}

/// How many of a thousand packets of this kind are dropped and marked at this base probability.
fn signals(base: f64, ecn: Ecn, wait: Duration) -> (usize, usize) {
    let mut queue = DualPi2::new(CONFIG, Capacity::UNLIMITED);
    queue.pi.base = base;
    queue.pi.next_update = Time::MAX;
    let (mut dropped, mut marked) = (0, 0);
    for n in 0..=1_000 {
        queue.enqueue(Time::ZERO, packet(n, ecn), |_, _| unreachable!());
    }
    while let Some(next) = queue.dequeue(Time::ZERO + wait, |_, _| dropped += 1) {
        marked += usize::from(next.packet.ecn() == Ecn::Ce);
    }
    (dropped, marked)
}

#[test]
fn classic_packets_meet_the_square_and_l4s_packets_k_times_the_base_probability() {
    let none = Duration::ZERO;
    // p' = 0.1: p_C = 1 %, p_L = 20 %.
    assert_eq!(signals(0.1, Ecn::NotEct, none), (10, 0));
    assert_eq!(signals(0.1, Ecn::Ect0, none), (0, 10));
    assert_eq!(signals(0.1, Ecn::Ect1, none), (0, 200));
    // Above the step all are marked but the last, which leaves nothing behind.
    let ms = Duration::from_millis(1);
    assert_eq!(signals(0.1, Ecn::Ect1, ms), (0, 200));
    assert_eq!(
        signals(0.0, Ecn::Ect1, ms + Duration::from_nanos(1)),
        (0, 999)
    );
    // p' = 0.6 is overload: p_C = 36 %, and drops where marks would be.
    assert_eq!(signals(0.6, Ecn::NotEct, none), (360, 0));
    assert_eq!(signals(0.6, Ecn::Ect0, none), (360, 0));
    let (dropped, marked) = signals(0.6, Ecn::Ect1, none);
    assert!((359..=361).contains(&dropped), "{dropped}");
    assert!(dropped + marked >= 1_000, "{marked}");
}

/// Which of the first packets that leave are classic, with both queues full of what came at once.
fn order(config: DualPi2Config, packets: usize, classic_since: u64) -> Vec<bool> {
    let mut queue = DualPi2::new(config, Capacity::UNLIMITED);
    queue.pi.next_update = Time::MAX;
    for n in 0..1_000 {
        queue
            .classic
            .push(at(classic_since), packet(n, Ecn::NotEct));
        queue.l4s.push(at(100), packet(n, Ecn::Ect1));
    }
    let mut next = || queue.dequeue(at(100), |_, _| unreachable!());
    (0..packets)
        .map(|_| next().unwrap().packet.ecn() == Ecn::NotEct)
        .collect()
}

#[test]
fn l4s_packets_go_first_and_classic_ones_get_their_share() {
    let classic = |order: Vec<bool>| order.iter().filter(|is_classic| **is_classic).count();
    // A tenth, less the turn that the initial credit of 1200 bytes gives to L4S packets.
    assert_eq!(classic(order(CONFIG, 500, 100)), 49);
    let half = DualPi2Config {
        classic_share: 0.5,
        ..CONFIG
    };
    assert_eq!(classic(order(half, 500, 100)), 250);
    let shifted = DualPi2Config {
        scheduler: Scheduler::TimeShiftedFifo,
        ..CONFIG
    };
    assert_eq!(classic(order(shifted, 500, 70)), 0);
    assert_eq!(classic(order(shifted, 500, 69)), 500);
}

/// The pseudo-code of RFC 9332, Appendix A, with Linux's credits, by the names it has there; moments in
/// milliseconds.
struct Model {
    lq: Vec<(u64, u32)>,
    cq: Vec<(u64, u32, Ecn)>,
    p: f64,
    prevq: f64,
    l_count: f64,
    c_count: f64,
    credit: f64,
    updates: u64,
}

fn recur(count: &mut f64, likelihood: f64) -> bool {
    *count += likelihood;
    if *count > 1.0 {
        *count -= 1.0;
        return true;
    }
    false
}

impl Model {
    fn dualpi2_update(&mut self, now: u64) {
        let lq = self.lq.first().map_or(0, |(since, _)| now - since);
        let cq = self.cq.first().map_or(0, |(since, ..)| now - since);
        let curq = lq.max(cq) as f64 / 1e3;
        self.p += 0.16 * (curq - 0.015) + 3.2 * (curq - self.prevq);
        self.p = self.p.clamp(0.0, 1.0);
        self.prevq = curq;
    }

    /// Updates of a timer until `ms`.
    fn until(&mut self, ms: u64) {
        while (self.updates + 1) * 16 <= ms {
            self.updates += 1;
            self.dualpi2_update(self.updates * 16);
        }
    }

    /// What leaves, marked or not, and what was dropped.
    fn dequeue(&mut self, now: u64) -> (Option<(u32, bool)>, Vec<u32>) {
        let mut dropped = Vec::new();
        while !(self.lq.is_empty() && self.cq.is_empty()) {
            let (p_cl, p_c) = (2.0 * self.p, self.p * self.p);
            let contend = !(self.lq.is_empty() || self.cq.is_empty());
            if !self.lq.is_empty() && (self.cq.is_empty() || self.credit <= 0.0) {
                if contend {
                    self.credit += 0.1 * 1_000.0;
                }
                let (since, id) = self.lq.remove(0);
                if p_cl < 1.0 {
                    let native = now - since > 1 && !self.lq.is_empty();
                    let p_l = f64::max(if native { 1.0 } else { 0.0 }, p_cl);
                    return (Some((id, recur(&mut self.l_count, p_l))), dropped);
                }
                if recur(&mut self.l_count, p_c) {
                    dropped.push(id);
                    continue;
                }
                return (Some((id, recur(&mut self.l_count, 1.0))), dropped);
            }
            if contend {
                self.credit -= 0.9 * 1_000.0;
            }
            let (_, id, ecn) = self.cq.remove(0);
            if recur(&mut self.c_count, p_c) {
                if ecn == Ecn::NotEct || p_c >= 0.25 {
                    dropped.push(id);
                    continue;
                }
                return (Some((id, true)), dropped);
            }
            return (Some((id, false)), dropped);
        }
        self.credit = 1_500.0 * (0.1 - 0.9);
        (None, dropped)
    }
}

proptest! {
    #[test]
    fn decisions_are_those_of_the_pseudo_code(
        steps in prop::collection::vec((0_u64..12, 0_usize..4, 0_u32..3), 1..400),
    ) {
        let mut queue = DualPi2::new(CONFIG, Capacity::UNLIMITED);
        let mut model = Model {
            lq: Vec::new(), cq: Vec::new(), p: 0.0, prevq: 0.0,
            l_count: 0.0, c_count: 0.0, credit: 1_500.0 * (0.1 - 0.9), updates: 0,
        };
        let (mut ms, mut id) = (0, 0);
        for (pause, kind, departures) in steps {
            // Not on an update's millisecond, where the order would be anybody's.
            ms += pause;
            let ms = if ms % 16 == 0 { ms + 1 } else { ms };
            model.until(ms);
            let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ect1][kind];
            queue.enqueue(at(ms), packet(id, ecn), |_, _| unreachable!());
            match ecn {
                Ecn::Ect1 => model.lq.push((ms, id)),
                _ => model.cq.push((ms, id, ecn)),
            }
            id += 1;
            for _ in 0..departures {
                let mut dropped = Vec::new();
                let next = queue.dequeue(at(ms), |packet, _| dropped.push(packet.id()));
                let next = next.map(|n| (n.packet.id(), n.packet.ecn() == Ecn::Ce));
                prop_assert_eq!((next, dropped), model.dequeue(ms));
            }
            prop_assert_eq!(queue.pi.base, model.p);
        }
    }
}
