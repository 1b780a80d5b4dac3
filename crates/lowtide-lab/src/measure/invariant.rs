//! What BBR's specification wants to hold at every acknowledgment.

use std::collections::VecDeque;

use lowtide_cc::Ecn;
use lowtide_cc::units::{Bytes, Time};
use lowtide_sim::probe::{AckSeen, Departure, LossSeen, Sent};
use lowtide_sim::{Probe, SimConfig};

use super::state::{Rounds, State};
use super::{Gauge, Part};
use crate::setting::measures::{Invariant, Rule};

const STARTUP: &str = "Startup";
const DRAIN: &str = "Drain";
const DOWN: &str = "ProbeBW_DOWN";
const CRUISE: &str = "ProbeBW_CRUISE";
const REFILL: &str = "ProbeBW_REFILL";
const UP: &str = "ProbeBW_UP";
const PROBE_RTT: &str = "ProbeRTT";

/// The draft's phases and their pacing gains (§5.6.1). They are written from the draft and not taken
/// from the controller: an oracle that shares its list would share its mistakes.
const GAINS: [(&str, f64); 7] = [
    (STARTUP, 2.77),
    (DRAIN, 0.5),
    (DOWN, 0.9),
    (CRUISE, 1.0),
    (REFILL, 1.0),
    (UP, 1.25),
    (PROBE_RTT, 1.0),
];

fn gain(phase: &str) -> Option<f64> {
    let found = GAINS.iter().find(|(name, _)| *name == phase);
    found.map(|(_, gain)| *gain)
}

/// What came since the last acknowledgment.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    /// Packets may have been declared lost, or marked, which ends UP before the acknowledgment goes on from DOWN.
    signalled: bool,
    /// A recovery may have proved spurious.
    undone: bool,
    /// No queue stands, so that DRAIN is over as it begins.
    drained: bool,
}

/// Whether a phase may follow another between two acknowledgments.
fn may_follow(from: &str, to: &str, since: Since) -> bool {
    match (from, to) {
        _ if from == to => true,
        ("", STARTUP) | (_, PROBE_RTT) | (STARTUP, DRAIN) | (DRAIN, DOWN) => true,
        (DOWN, CRUISE | REFILL) | (CRUISE, REFILL) | (REFILL, UP) | (UP, DOWN) => true,
        // DOWN and then what follows it, both with the same acknowledgment.
        (PROBE_RTT, STARTUP | DOWN | CRUISE) | (DRAIN, CRUISE | REFILL) => true,
        (UP, CRUISE | REFILL) if since.signalled => true,
        (STARTUP, DOWN | CRUISE | REFILL) if since.drained => true,
        (_, STARTUP | REFILL) => since.undone,
        _ => false,
    }
}

/// Packets declared lost that are remembered, to know them when they arrive after all.
const MAX_LOST: usize = 4096;

#[derive(Debug)]
pub(super) struct Rules {
    told: Invariant,
    part: Part,
    state: State,
    phase: &'static str,
    /// The phases are those of the draft.
    is_known: bool,
    broken: u64,
    /// Packets were declared lost since the last acknowledgment.
    has_lost: bool,
    /// Packets were marked at some time: which acknowledgment tells of them is not seen.
    has_marked: bool,
    /// The newest of all that were.
    lost: VecDeque<u64>,
    /// A timer has fired, and nothing has shown yet that its recovery is over.
    timed_out: bool,
    /// The window and the send quantum after the last acknowledgment.
    allowed: Option<(f64, f64)>,
    inflight: Bytes,
    /// After the last acknowledgment, once there was an RTT sample: the first replaces a rate that was
    /// guessed.
    pacing_rate: Option<f64>,
    /// What was in flight at most where no queue stood, after the last acknowledgment.
    drained_inflight: f64,
    /// The largest rate of the link in this cycle and in the two before.
    caps: [f64; 3],
    /// The rounds since UP ended: after one the cycle is over.
    since_up: Option<Rounds>,
}

impl Rules {
    pub(super) fn new(told: &Invariant, part: Part, config: &SimConfig) -> Self {
        Self {
            told: told.clone(),
            part,
            state: State::new(told.flow, config),
            phase: "",
            is_known: false,
            broken: 0,
            has_lost: false,
            has_marked: false,
            lost: VecDeque::new(),
            timed_out: false,
            allowed: None,
            inflight: Bytes::ZERO,
            pacing_rate: None,
            drained_inflight: 0.0,
            caps: [0.0; 3],
            since_up: None,
        }
    }

    fn note(&mut self, now: Time, holds: bool) {
        self.broken += u64::from(!holds && self.part.contains(now));
    }

    fn pacing_holds(&mut self, gain: f64) -> bool {
        let (rate, bw) = (self.state.get("pacing_rate"), self.state.get("bw"));
        let before = self.pacing_rate;
        if before.is_some() || !self.state.get("rtt").is_nan() {
            self.pacing_rate = Some(rate);
        }
        if bw == 0.0 || bw.is_nan() {
            return rate > 0.0;
        }
        let target = gain * bw * 0.99;
        if self.state.get("full_bw_reached") == 1.0 {
            return (rate - target).abs() <= target * 1e-3;
        }
        rate >= target * (1.0 - 1e-3) && before.is_none_or(|before| rate >= before)
    }

    fn max_bw_holds(&mut self, ack: &AckSeen<'_>, before: &str) -> bool {
        if before == UP && self.phase != UP {
            self.since_up = Some(Rounds::from(&self.state));
        }
        if let Some(rounds) = &mut self.since_up {
            rounds.on_ack(ack, &self.state);
            if self.phase == PROBE_RTT {
                // The cycle of the filter goes on (§5.5.6).
                self.since_up = None;
            } else if rounds.count() > 0 {
                self.since_up = None;
                self.caps = [0.0, self.caps[0], self.caps[1]];
            }
        }
        self.caps[0] = self.caps[0].max(self.state.get("cap"));
        let most = self.caps.iter().copied().fold(0.0, f64::max);
        let max_bw = self.state.get("max_bw");
        max_bw.is_nan() || max_bw <= 1.05 * most
    }
}

impl Gauge for Rules {
    fn finish(self: Box<Self>) -> f64 {
        if self.is_known {
            self.broken as f64
        } else {
            f64::NAN
        }
    }
}

impl Probe for Rules {
    fn on_send(&mut self, sent: &Sent) {
        if !self.state.is_of(sent.flow) {
            return;
        }
        self.state.on_send(sent);
        if self.inflight == Bytes::ZERO && self.phase == PROBE_RTT {
            // Sending after idleness may end ProbeRTT, and so bring the window before it back (§5.4.1).
            self.allowed = None;
        }
        self.inflight += sent.bytes;
        if let Some((window, quantum)) = self.allowed
            && self.told.rules.contains(&Rule::Inflight)
        {
            let holds = self.timed_out || self.inflight.as_f64() <= window + quantum;
            self.note(sent.now, holds);
        }
    }

    fn on_bottleneck_exit(&mut self, exit: &Departure) {
        self.has_marked |= exit.ecn == Ecn::Ce && self.state.is_of(exit.flow as usize);
    }

    fn on_loss(&mut self, flow: usize, loss: &LossSeen<'_>) {
        if !self.state.is_of(flow) {
            return;
        }
        self.inflight = loss.inflight;
        self.has_lost = true;
        for packet in loss.packets {
            if self.lost.len() == MAX_LOST {
                self.lost.pop_front();
            }
            self.lost.push_back(packet.number);
        }
    }

    fn on_timeout(&mut self, flow: usize, _now: Time) {
        self.timed_out |= self.state.is_of(flow);
    }

    fn on_ack(&mut self, flow: usize, ack: &AckSeen<'_>) {
        if !self.state.is_of(flow) {
            return;
        }
        let phase = State::phase(ack);
        let before = std::mem::replace(&mut self.phase, phase);
        let Some(gain) = gain(phase) else {
            // A phase that the draft has not: to enter it is no step of the draft's.
            if self.is_known && self.told.rules.contains(&Rule::Transitions) {
                self.note(ack.now, before == phase);
            }
            return;
        };
        self.is_known = true;
        self.state.read(ack);
        // The send quantum in it changes only after the phase is chosen.
        let drained = self.state.get("drained_inflight");
        self.drained_inflight = self.drained_inflight.max(drained);
        let in_recovery = ack.controller.is_some_and(|c| c.snapshot().in_recovery);
        self.timed_out &= in_recovery;
        self.inflight = ack.inflight;
        self.allowed = Some((self.state.get("cwnd"), self.state.get("send_quantum")));
        for n in 0..self.told.rules.len() {
            let holds = match self.told.rules[n] {
                Rule::Transitions => {
                    let had_lost = |number| self.lost.contains(&number);
                    let undone = ack.packets.iter().any(|p| had_lost(p.number));
                    let since = Since {
                        signalled: self.has_lost || self.has_marked,
                        undone,
                        drained: self.state.get("inflight") <= self.drained_inflight,
                    };
                    may_follow(before, phase, since)
                }
                Rule::Pacing => self.pacing_holds(gain),
                Rule::Window => self.timed_out || self.state.get("cwnd") >= 4.0 * self.state.smss(),
                Rule::Inflight => true,
                Rule::MaxBw => self.max_bw_holds(ack, before),
            };
            self.note(ack.now, holds);
        }
        self.has_lost = false;
        self.drained_inflight = self.state.get("drained_inflight");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_each_other_as_in_the_draft() {
        let follows = |from, to| may_follow(from, to, Since::default());
        assert!(follows("", STARTUP) && follows(UP, UP) && follows(UP, PROBE_RTT));
        assert!(follows(DOWN, REFILL) && follows(PROBE_RTT, CRUISE));
        let illegal = [
            (STARTUP, DOWN),
            (DRAIN, UP),
            (UP, CRUISE),
            (CRUISE, UP),
            (DOWN, UP),
            (PROBE_RTT, REFILL),
            (DRAIN, STARTUP),
            ("", CRUISE),
        ];
        for (from, to) in illegal {
            assert!(!follows(from, to), "{from} {to}");
        }
        let all = Since {
            signalled: true,
            undone: true,
            drained: true,
        };
        let possible = [(UP, CRUISE), (CRUISE, STARTUP), (STARTUP, CRUISE)];
        assert!(possible.iter().all(|(from, to)| may_follow(from, to, all)));
        assert!(!may_follow(CRUISE, UP, all));
    }
}
