//! DualPI2 (RFC 9332): a queue for L4S packets and one for all others, under one PI controller.
//!
//! Every [`tupdate`](DualPi2Config::tupdate) the controller turns the longer of the two waits into a
//! base probability p'. Classic packets are dropped, or marked if they may be, with p'²; L4S packets are
//! marked with k · p', which gives a scalable flow about the rate of a classic one, and all of them as
//! soon as they have waited for longer than a step. From k · p' = 1 on (overload) marks say nothing any
//! more: classic packets are dropped even if they could be marked, and L4S packets are dropped with p'²
//! as well, RFC 9332 §4.2.3.
//!
//! L4S packets go first within bounds: by weighted round robin with byte credits as in Linux, or in the
//! order of arrival with the L4S queue ahead by a time shift. The first is the default: it is what is
//! deployed and what Appendix A.2 recommends. The least share that it leaves to classic flows does not
//! depend on the load, whereas a time shift holds L4S packets back as soon as the classic queue is older
//! than the shift.
//!
//! Marks and drops recur evenly instead of by chance, as in the pseudo-code (`recur`).

use lowtide_cc::Ecn;
use lowtide_cc::registry::{Parameter, UP_TO_10_S, Values};
use lowtide_cc::units::{Bytes, Duration, Time};

use super::discipline::{Discipline, Waiting};
use super::fifo::Fifo;
use super::limit::Capacity;
use super::pi;
use super::recurrence::Recurrence;
use crate::network::packet::{DropCause, Handle};

/// Which of the two queues is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Scheduler {
    /// Weighted round robin: while both queues have packets, classic ones get their share of the bytes.
    WeightedRoundRobin,
    /// The packet that has waited longest, L4S packets taken as older by the time shift.
    TimeShiftedFifo,
}

/// Parameters of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DualPi2Config {
    /// The wait that the classic queue is held at (15 ms).
    pub target: Duration,
    /// Time between updates of the probability (16 ms).
    pub tupdate: Duration,
    /// Integral gain, in Hz (0.16).
    pub alpha: f64,
    /// Proportional gain, in Hz (3.2).
    pub beta: f64,
    /// Coupling: L4S packets are marked with `k` times the base probability (2).
    pub k: f64,
    /// L4S packets that have waited for longer are all marked (1 ms).
    pub step: Duration,
    /// The step marks no packet that leaves fewer behind in its queue: on a slow link a single one takes
    /// longer than the step (1; the RFC's `Th_len`. Linux's `min_qlen_step` is 0, and looks at the queue
    /// on arrival).
    pub step_packets: u64,
    /// Which queue is next.
    pub scheduler: Scheduler,
    /// Share of the classic queue under weighted round robin (10 %, as in Linux).
    pub classic_share: f64,
    /// Time by which L4S packets are ahead under the time-shifted FIFO (Appendix A.2: 50 ms).
    pub tshift: Duration,
}

/// Names, defaults and ranges of the parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::span("target", Duration::from_millis(15), pi::TARGET)
        .about("wait that the classic queue is held at"),
    Parameter::span("tupdate", Duration::from_millis(16), pi::TUPDATE)
        .about("time between updates of the probability"),
    Parameter::real("alpha", 0.16, pi::GAIN).about("integral gain (Hz)"),
    Parameter::real("beta", 3.2, pi::GAIN).about("proportional gain (Hz)"),
    Parameter::real("k", 2.0, 1.0..=100.0).about("coupling of L4S marks to the base probability"),
    Parameter::span("step", Duration::from_millis(1), UP_TO_10_S)
        .about("wait above which all L4S packets are marked"),
    Parameter::whole("step_packets", 1, 0..=1000)
        .about("the step marks no packet that leaves fewer behind"),
    Parameter::choice("scheduler", "wrr", &["wrr", "tsfifo"])
        .about("weighted round robin, or a FIFO with L4S packets ahead by a time"),
    Parameter::share("classic_share", 0.1, 0.001..=0.999)
        .about("least share of the classic queue (wrr)"),
    Parameter::span("tshift", Duration::from_millis(50), UP_TO_10_S)
        .about("time by which L4S packets are ahead (tsfifo)"),
];

impl DualPi2Config {
    pub(super) fn of(values: &Values) -> Self {
        Self {
            target: values.span("target"),
            tupdate: values.span("tupdate"),
            alpha: values.real("alpha"),
            beta: values.real("beta"),
            k: values.real("k"),
            step: values.span("step"),
            step_packets: values.whole("step_packets"),
            scheduler: match values.word("scheduler") {
                "tsfifo" => Scheduler::TimeShiftedFifo,
                _ => Scheduler::WeightedRoundRobin,
            },
            classic_share: values.share("classic_share"),
            tshift: values.span("tshift"),
        }
    }
}

/// The coupled controller.
#[derive(Clone, Copy, Debug)]
struct Pi {
    /// The base probability p'.
    base: f64,
    /// The wait at the last update.
    previous: Duration,
    next_update: Time,
}

impl Pi {
    /// Does the updates that are due by `now`. Between two calls nothing changes but the wait of the
    /// packets at the heads, so that late updates are those of a timer.
    #[inline]
    fn update(&mut self, now: Time, config: &DualPi2Config, wait: impl Fn(Time) -> Duration) {
        while self.next_update <= now {
            let at = self.next_update;
            let current = wait(at);
            let gains = (config.alpha, config.beta);
            let change = pi::change(gains, config.target, current, self.previous);
            let before = self.base;
            self.base = (before + change).clamp(0.0, 1.0);
            self.previous = current;
            // After a long pause the probability stands still: then the last update alone counts.
            let stands = before == self.base
                && (self.base <= 0.0 && current.is_zero()
                    || self.base >= 1.0 && current >= config.target);
            let due = now.since(at).as_nanos() / config.tupdate.as_nanos();
            let updates = if stands { due.max(1) } else { 1 };
            self.next_update = at + config.tupdate * updates;
        }
    }
}

/// The two queues.
#[derive(Debug)]
pub(crate) struct DualPi2 {
    config: DualPi2Config,
    capacity: Capacity,
    pi: Pi,
    l4s: Fifo,
    classic: Fifo,
    l4s_signals: Recurrence,
    classic_signals: Recurrence,
    /// Bytes that the classic queue is owed: above zero it is next.
    credit: f64,
}

/// A full packet, for the credit after a pause.
const FULL_PACKET: f64 = 1500.0;

impl DualPi2 {
    pub(super) fn new(config: DualPi2Config, capacity: Capacity) -> Self {
        Self {
            capacity,
            pi: Pi {
                base: 0.0,
                previous: Duration::ZERO,
                next_update: Time::ZERO + config.tupdate,
            },
            l4s: Fifo::new(Capacity::UNLIMITED),
            classic: Fifo::new(Capacity::UNLIMITED),
            l4s_signals: Recurrence::default(),
            classic_signals: Recurrence::default(),
            credit: Self::initial_credit(&config),
            config,
        }
    }

    #[inline]
    fn update(&mut self, now: Time) {
        let (l4s, classic) = (&self.l4s, &self.classic);
        let wait = |at| l4s.wait(at).max(classic.wait(at));
        self.pi.update(now, &self.config, wait);
    }

    /// The next packet, whatever becomes of it, and whether it is from the L4S queue. Byte credits move
    /// while both queues have packets, and begin anew when neither has.
    #[inline]
    fn take(&mut self) -> Option<(Waiting, bool)> {
        let (is_l4s, contend) = match (self.l4s.head(), self.classic.head()) {
            (Some(l4s), Some(classic)) => match self.config.scheduler {
                Scheduler::WeightedRoundRobin => (self.credit <= 0.0, true),
                Scheduler::TimeShiftedFifo => {
                    (l4s.since <= classic.since + self.config.tshift, true)
                }
            },
            (None, None) => {
                self.credit = Self::initial_credit(&self.config);
                return None;
            }
            (l4s, _) => (l4s.is_some(), false),
        };
        let next = if is_l4s {
            self.l4s.pop()?
        } else {
            self.classic.pop()?
        };
        if contend {
            let share = self.config.classic_share;
            let change = if is_l4s { share } else { share - 1.0 };
            self.credit += next.packet.bytes.as_f64() * change;
        }
        Some((next, is_l4s))
    }

    /// A full packet's worth, in favour of the queue with the larger share.
    fn initial_credit(config: &DualPi2Config) -> f64 {
        (2.0 * config.classic_share - 1.0) * FULL_PACKET
    }

    /// Marks a packet that leaves where it must be, and says whether it may leave.
    #[inline]
    fn passes(&mut self, wait: Duration, packet: &mut Handle, is_l4s: bool) -> bool {
        let classic_likelihood = self.pi.base * self.pi.base;
        let coupled = self.config.k * self.pi.base;
        let is_overload = coupled >= 1.0;
        if !is_l4s {
            if self.classic_signals.happens(classic_likelihood) {
                return !is_overload && packet.mark();
            }
            return true;
        }
        if is_overload && self.l4s_signals.happens(classic_likelihood) {
            return false;
        }
        let is_late = wait > self.config.step && self.l4s.packets() >= self.config.step_packets;
        let likelihood = if is_late { 1.0 } else { coupled.min(1.0) };
        if self.l4s_signals.happens(likelihood) {
            packet.set_ecn(Ecn::Ce);
        }
        true
    }
}

impl Discipline for DualPi2 {
    fn decides_late(&self) -> bool {
        true
    }

    #[inline]
    fn bypass(&mut self, now: Time, mut packet: Handle) -> Result<Handle, DropCause> {
        self.update(now);
        let is_l4s = packet.ecn().is_l4s();
        match self.passes(Duration::ZERO, &mut packet, is_l4s) {
            true => Ok(packet),
            false => Err(DropCause::Managed),
        }
    }

    #[inline]
    fn enqueue(&mut self, now: Time, packet: Handle, mut drops: impl FnMut(Handle, DropCause)) {
        self.update(now);
        let packets = self.l4s.packets() + self.classic.packets() + 1;
        if !self.capacity.holds(packets, self.bytes() + packet.bytes) {
            drops(packet, DropCause::QueueFull);
        } else if packet.ecn().is_l4s() {
            self.l4s.push(now, packet);
        } else {
            self.classic.push(now, packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, mut drops: impl FnMut(Handle, DropCause)) -> Option<Waiting> {
        self.update(now);
        loop {
            let (mut next, is_l4s) = self.take()?;
            if self.passes(now.since(next.since), &mut next.packet, is_l4s) {
                return Some(next);
            }
            drops(next.packet, DropCause::Managed);
        }
    }

    #[inline]
    fn bytes(&self) -> Bytes {
        self.l4s.bytes() + self.classic.bytes()
    }
}

#[cfg(test)]
mod tests;
