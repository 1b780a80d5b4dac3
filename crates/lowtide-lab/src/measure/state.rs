//! What can be known of a flow at an acknowledgment, by name.
//!
//! | name | what |
//! |---|---|
//! | `now` | time, s |
//! | `rtt`, `base_rtt` | the newest sample; the path's without queue, s |
//! | `inflight`, `cwnd`, `send_quantum`, `smss` | bytes |
//! | `pacing_rate`, `cap` | bytes/s; `cap` is the link's rate at this moment |
//! | `pacing_gain`, `cwnd_gain`, `bw`, `min_rtt` | as the controller shows them |
//! | any other | the controller's [variables](lowtide_cc::Controller::variables) |

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Time};
use lowtide_sim::SimConfig;
use lowtide_sim::link::Link;
use lowtide_sim::probe::{AckSeen, Sent};

/// The values at one acknowledgment.
#[derive(Clone, Debug, Default)]
pub(super) struct Values(Vec<(&'static str, f64)>);

impl Values {
    /// NaN: not known.
    pub(super) fn get(&self, name: &str) -> f64 {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map_or(f64::NAN, |(_, value)| *value)
    }
}

/// Looks at one flow.
#[derive(Clone, Debug)]
pub(super) struct State {
    flow: usize,
    link: Arc<Link>,
    base_rtt: f64,
    smss: Bytes,
    rtt: f64,
    /// One more than the newest packet's number.
    next_number: u64,
    /// What was known at the newest acknowledgment.
    pub(super) known: Values,
}

impl State {
    pub(super) fn new(flow: usize, config: &SimConfig) -> Self {
        let access = config.flows.get(flow).map(|f| f.access);
        Self {
            flow,
            link: config.forward.link.clone(),
            base_rtt: config.base_rtt(&access.unwrap_or_default()).as_secs_f64(),
            smss: config.packet_size,
            rtt: f64::NAN,
            next_number: 0,
            known: Values::default(),
        }
    }

    /// What was known at the newest acknowledgment; NaN: nothing.
    pub(super) fn get(&self, name: &str) -> f64 {
        self.known.get(name)
    }

    /// Whether this is the flow.
    pub(super) fn is_of(&self, flow: usize) -> bool {
        flow == self.flow
    }

    pub(super) fn on_send(&mut self, sent: &Sent) {
        self.next_number = self.next_number.max(sent.number + 1);
    }

    /// Bytes of a full packet.
    pub(super) fn smss(&self) -> f64 {
        self.smss.as_f64()
    }

    /// The controller's phase; empty where it has none, or the host shows no controller.
    pub(super) fn phase(ack: &AckSeen<'_>) -> &'static str {
        ack.controller.map_or("", |c| c.snapshot().phase)
    }

    /// Reads all that is known.
    pub(super) fn read(&mut self, ack: &AckSeen<'_>) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt.as_secs_f64();
        }
        let known = &mut self.known.0;
        known.clear();
        let now = ack.now.since(Time::ZERO).as_secs_f64();
        known.extend([
            ("now", now),
            ("rtt", self.rtt),
            ("base_rtt", self.base_rtt),
            ("inflight", ack.inflight.as_f64()),
            ("smss", self.smss.as_f64()),
            ("cap", self.link.rate_at(ack.now).as_f64()),
        ]);
        let Some(controller) = ack.controller else {
            return;
        };
        known.push(("cwnd", controller.cwnd().as_f64()));
        known.push(("send_quantum", controller.send_quantum().as_f64()));
        if let Some(rate) = controller.pacing_rate() {
            known.push(("pacing_rate", rate.as_f64()));
        }
        controller.variables(&mut |name, value| known.push((name, value)));
        // What its variables do not tell.
        let snapshot = controller.snapshot();
        let shown = [
            ("pacing_gain", snapshot.pacing_gain),
            ("cwnd_gain", snapshot.cwnd_gain),
            ("bw", snapshot.bandwidth.map(|rate| rate.as_f64())),
            ("min_rtt", snapshot.min_rtt.map(|rtt| rtt.as_secs_f64())),
        ];
        known.extend(shown.iter().filter_map(|(n, value)| Some((*n, (*value)?))));
    }
}

/// Packet-timed round trips: one ends when a packet is acknowledged that was sent after it began.
/// Counted from packet numbers alone, whatever the controller counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    count: u64,
    ends_at: u64,
}

impl Rounds {
    pub(super) fn from(state: &State) -> Self {
        Self {
            count: 0,
            ends_at: state.next_number,
        }
    }

    pub(super) fn on_ack(&mut self, ack: &AckSeen<'_>, state: &State) {
        let newest = ack.packets.last().map(|p| p.number);
        if newest.is_some_and(|number| number >= self.ends_at) {
            self.count += 1;
            self.ends_at = state.next_number;
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }
}
