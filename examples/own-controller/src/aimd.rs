//! Additive increase, multiplicative decrease: a whole controller.

use lowtide_cc::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use lowtide_cc::mechanisms::RecoveryEpoch;
use lowtide_cc::registry::{Entry, Parameter};
use lowtide_cc::state::{State, StateKind};
use lowtide_cc::units::{Bytes, Rate};

pub(crate) static AIMD: Entry = Entry {
    name: "aimd",
    summary: "adds a packet each round trip, keeps a share of the window at a loss",
    source: "examples/own-controller",
    parameters: &[Parameter::real("beta", 0.5, 0.1..=0.95)
        .about("share of the window that is kept at a loss")],
    make: |values, config| Box::new(Aimd::new(config, values.real("beta"))),
    receiver: None,
};

#[derive(Debug)]
struct Aimd {
    packet: Bytes,
    cwnd: Bytes,
    beta: f64,
    has_lost: bool,
    recovery: RecoveryEpoch,
}

impl Aimd {
    fn new(config: &Config, beta: f64) -> Self {
        let packet = config.max_datagram.max(Bytes::new(1));
        let cwnd = config.initial_window.max(packet * 2);
        Self {
            packet,
            cwnd,
            beta,
            has_lost: false,
            recovery: RecoveryEpoch::new(config.transport),
        }
    }

    fn phase(&self) -> &'static State {
        match (self.recovery.is_active(), self.has_lost) {
            (true, _) => &PHASES[2],
            (false, true) => &PHASES[1],
            (false, false) => &PHASES[0],
        }
    }
}

/// In the order of a legend.
static PHASES: [State; 3] = [
    State::new("SlowStart", StateKind::Start),
    State::new("Avoidance", StateKind::Steady),
    State::new("Recovery", StateKind::Recovery),
];

impl Controller for Aimd {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.recovery.on_packet_sent(sent);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.recovery.on_ack(ack);
        // A window that is not used shows nothing about the path.
        if self.recovery.is_active() || ack.prior_inflight * 2 < self.cwnd {
            return;
        }
        let share = ack.bytes_acked.as_f64() / self.cwnd.as_f64();
        self.cwnd += match self.has_lost {
            true => self.packet.mul_f64(share),
            false => ack.bytes_acked,
        };
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        // Once a round trip, however many packets are lost in it.
        if self.recovery.on_loss(loss) {
            self.has_lost = true;
            self.cwnd = self.cwnd.mul_f64(self.beta).max(self.packet * 2);
        }
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.recovery.on_timeout(timeout.now);
        self.cwnd = self.packet * 2;
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.packet = max_datagram.max(Bytes::new(1));
        self.cwnd = self.cwnd.max(self.packet * 2);
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn send_quantum(&self) -> Bytes {
        self.packet * 10
    }

    fn snapshot(&self) -> Snapshot {
        let in_recovery = self.recovery.is_active();
        Snapshot {
            phase: self.phase().name,
            in_recovery,
            ..Snapshot::default()
        }
    }

    fn phases(&self) -> &'static [State] {
        &PHASES
    }
}
