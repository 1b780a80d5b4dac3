//! HyStart as in Linux (`net/ipv4/tcp_cubic.c`, 6.14 and later; Ha and Rhee, "Taming the elephants").
//!
//! Slow start is over when the least RTT of a round has risen, or when acknowledgments that follow each
//! other closely have come for longer than half of the least RTT: the round's train then fills the path.

use super::{Flow, rtt_rise};
use crate::controller::{AckEvent, PacketSent};
use crate::mechanisms::RoundsByNumber;
use crate::units::{Duration, Time};

/// Windows below are not judged, packets (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;
/// Acknowledgments no further apart belong to a train (`hystart_ack_delta_us`).
const TRAIN_SPACING: Duration = Duration::from_millis(2);
/// RTT samples of a round before it is judged (`HYSTART_MIN_SAMPLES`).
const RTT_SAMPLES: u32 = 8;
/// Segments may wait for each other in offloads: four of the largest at the pacing rate, which in slow
/// start is twice the window an RTT, but no longer than this (`hystart_ack_delay`).
const MAX_OFFLOAD_DELAY: Duration = Duration::from_millis(1);
const OFFLOADED_BYTES: f64 = 4.0 * 65_536.0;
const SLOW_START_PACING: f64 = 2.0;

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::controllers::cubic) struct LinuxHyStart {
    round: RoundsByNumber,
    /// Least RTT since the start or the last timeout (`delay_min`).
    pub(in crate::controllers::cubic) min_rtt: Option<Duration>,
    round_began_at: Time,
    /// The last acknowledgment of the round's train (`last_ack`).
    train_end: Time,
    /// Least RTT of the round (`curr_rtt`).
    round_rtt: Option<Duration>,
    samples: u32,
    found: bool,
}

impl LinuxHyStart {
    pub(super) fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.round.on_packet_sent(sent);
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
    }

    /// An acknowledgment arrived in slow start; true when that is over.
    pub(super) fn ends(&mut self, ack: &AckEvent<'_>, flow: Flow) -> bool {
        let (Some(rtt), Some(min_rtt), false) = (ack.rtt, self.min_rtt, self.found) else {
            return false;
        };
        if self.round.on_ack(ack) {
            self.round_began_at = ack.now;
            self.train_end = ack.now;
            self.round_rtt = None;
            self.samples = 0;
        }
        if flow.cwnd < LOW_WINDOW {
            return false;
        }
        self.found = self.train_fills_path(ack.now, min_rtt, flow) | self.rtt_rose(rtt, min_rtt);
        self.found
    }

    fn train_fills_path(&mut self, now: Time, min_rtt: Duration, flow: Flow) -> bool {
        if now.since(self.train_end) > TRAIN_SPACING {
            return false;
        }
        self.train_end = now;
        let paced_rtts = OFFLOADED_BYTES / (SLOW_START_PACING * flow.bytes);
        let offloads = flow.srtt.mul_f64(paced_rtts).min(MAX_OFFLOAD_DELAY);
        // Half: the sender does not pace, as Linux's TCP does not unless told to.
        now.since(self.round_began_at) > (min_rtt + offloads).div(2)
    }

    fn rtt_rose(&mut self, rtt: Duration, min_rtt: Duration) -> bool {
        let least = self.round_rtt.map_or(rtt, |least| least.min(rtt));
        self.round_rtt = Some(least);
        if self.samples < RTT_SAMPLES {
            self.samples += 1;
            return false;
        }
        least > min_rtt + rtt_rise(min_rtt)
    }

    /// A timeout makes it begin anew (`bictcp_reset`).
    pub(super) fn restart(&mut self) {
        self.min_rtt = None;
        self.found = false;
        self.round.restart();
    }
}
