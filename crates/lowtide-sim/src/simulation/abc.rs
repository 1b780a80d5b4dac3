//! ABC's sender (NSDI 2020), for paths whose queue is ABC's ([`AbcConfig`](crate::queue::AbcConfig)): a bound,
//! as the queue knows at each packet what the link carries now.
//!
//! Each packet that comes back unmarked lets the window grow by one, each that is marked shrink by one, and
//! each adds 1/w, so that flows come to share.

use lowtide_cc::Ecn;
use lowtide_cc::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use lowtide_cc::mechanisms::RecoveryEpoch;
use lowtide_cc::state::{State, StateKind};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

const STATES: &[State] = &[State::new("Abc", StateKind::Steady)];

const MIN_WINDOW: f64 = 2.0;
/// A sender with twice as much to send as it has in flight has been told to speed up by each packet.
const MAX_GROWTH: f64 = 2.0;
/// What the window allows leaves within half a round trip.
const PACING_GAIN: f64 = 2.0;
const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// ABC's sender.
#[derive(Clone, Debug)]
pub(super) struct Abc {
    /// Packets.
    window: f64,
    /// Marked, and not acknowledged yet.
    brakes: u64,
    rtt: Duration,
    packet: Bytes,
    recovery: RecoveryEpoch,
}

impl Abc {
    pub(super) fn new(config: &Config) -> Self {
        let packet = config.max_datagram.max(Bytes::new(1));
        let initial = config.initial_window.as_f64() / packet.as_f64();
        Self {
            window: initial.max(MIN_WINDOW),
            brakes: 0,
            rtt: NOMINAL_RTT,
            packet,
            recovery: RecoveryEpoch::new(config.transport),
        }
    }
}

impl Controller for Abc {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.recovery.on_packet_sent(sent);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.recovery.on_ack(ack);
        self.rtt = ack.rtt.unwrap_or(self.rtt).max(Duration::from_nanos(1));
        let packets = ack.packets.len() as f64;
        let brakes = (core::mem::take(&mut self.brakes) as f64).min(packets);
        let grown = self.window + packets - 2.0 * brakes + packets / self.window;
        let most = MAX_GROWTH * ack.prior_inflight.as_f64() / self.packet.as_f64();
        self.window = grown.min(most.max(self.window)).max(MIN_WINDOW);
    }

    /// The queue is to keep it from that; where it does not, as Reno.
    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        if self.recovery.on_loss(loss) {
            self.window = (self.window / 2.0).max(MIN_WINDOW);
        }
    }

    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {
        self.window = MIN_WINDOW;
    }

    fn on_ecn_ce(&mut self, _now: Time, _sent_at: Time, marked_packets: u64) {
        self.brakes = self.brakes.saturating_add(marked_packets);
    }

    fn ecn(&self) -> Ecn {
        // Marks are many and early.
        Ecn::Ect1
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.packet = max_datagram.max(Bytes::new(1));
    }

    fn cwnd(&self) -> Bytes {
        self.packet.mul_f64(self.window).max(self.packet)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let rate = Rate::from_volume(self.cwnd(), self.rtt).mul_f64(PACING_GAIN);
        Some(rate.max(Rate::from_bytes_per_sec(1)))
    }

    fn send_quantum(&self) -> Bytes {
        self.packet
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: STATES[0].name,
            ..Snapshot::default()
        }
    }

    fn phases(&self) -> &'static [State] {
        STATES
    }
}
