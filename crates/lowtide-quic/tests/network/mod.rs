//! A bottleneck and what is seen of the flows over it.

use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::link::Link;
use lowtide_sim::probe::{AckSeen, Delivery, Departure, DropCause, LossSeen};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::{FlowConfig, Probe, SenderKind, SimConfig};

/// One bulk flow over a link of one rate with 40 ms RTT, for `seconds`.
pub(crate) fn config(spec: &str, rate: Rate, buffer: QueueLimit, seconds: u64) -> SimConfig {
    let sender = SenderKind::of(&registry::parse(spec).unwrap());
    let there = Duration::from_millis(20);
    let link = Link::constant(rate).unwrap();
    let duration = Duration::from_secs(seconds);
    SimConfig::over(
        link,
        buffer,
        there,
        vec![FlowConfig::bulk(sender)],
        duration,
    )
}

/// Sums over all flows.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Watch {
    pub(crate) delivered: Bytes,
    pub(crate) dropped: Bytes,
    pub(crate) lost: Bytes,
    pub(crate) last_bandwidth: Option<Rate>,
    /// Packets acknowledged, and those of which the arrival is known.
    pub(crate) acked: usize,
    pub(crate) received_at: usize,
    /// Packets behind the bottleneck, by their codepoint's value.
    pub(crate) codepoints: [u64; 4],
    rtt_ms: f64,
    rtts: u32,
}

impl Watch {
    pub(crate) fn mean_rtt_ms(&self) -> f64 {
        self.rtt_ms / f64::from(self.rtts)
    }
}

impl Probe for Watch {
    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        self.delivered += delivery.bytes;
    }

    fn on_drop(&mut self, _flow: usize, _now: Time, bytes: Bytes, _cause: DropCause) {
        self.dropped += bytes;
    }

    fn on_bottleneck_exit(&mut self, exit: &Departure) {
        self.codepoints[usize::from(exit.ecn.bits())] += 1;
    }

    fn on_loss(&mut self, _flow: usize, loss: &LossSeen<'_>) {
        self.lost += loss.bytes;
    }

    fn on_ack(&mut self, _flow: usize, ack: &AckSeen<'_>) {
        if let Some(rtt) = ack.rtt {
            self.rtt_ms += rtt.as_millis_f64();
            self.rtts += 1;
        }
        self.acked += ack.packets.len();
        let known = ack.packets.iter().filter(|p| p.received_at.is_some());
        self.received_at += known.count();
        self.last_bandwidth = ack.controller.and_then(|c| c.snapshot().bandwidth);
    }
}
