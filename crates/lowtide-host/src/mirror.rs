//! Controllers that are not ours, as observers see them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lowtide_cc::controller::{AckEvent, LossEvent, PacketSent, Snapshot, TimeoutEvent};
use lowtide_cc::state::{State, StateKind};
use lowtide_cc::units::{Bytes, Rate};
use lowtide_cc::{Controller, Ecn};

/// A controller that a QUIC stack brings along.
#[derive(Debug, PartialEq, Eq)]
pub struct Stock {
    /// Its name in a spec, `STACK/ALGORITHM`.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// The package that it is part of, and its version.
    pub source: &'static str,
}

/// What a stack shows of its own controller.
#[derive(Clone, Copy, Debug, Default)]
pub struct StockState {
    /// Congestion window.
    pub cwnd: Bytes,
    /// The rate at which packets leave; `None` where the stack paces by the window.
    pub pacing_rate: Option<Rate>,
    /// The codepoint that its packets carry.
    pub ecn: Ecn,
    /// What else it shows: the phase's name is empty where that is nobody's business.
    pub snapshot: Snapshot,
    /// The phases that it can name.
    pub phases: &'static [State],
}

/// Shows what a stack's own controller does in the place of a controller of ours: a host beside the
/// stack's that is given one tells observers of the stack's. Copies show the same.
#[derive(Clone, Debug, Default)]
pub struct Mirror(Arc<Mutex<StockState>>);

impl Mirror {
    /// One of a controller with phases of its own.
    #[must_use]
    pub fn with_phases(phases: &'static [State]) -> Self {
        let mirror = Self::default();
        mirror.update(|shown| shown.phases = phases);
        mirror
    }

    fn lock(&self) -> MutexGuard<'_, StockState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is shown.
    pub fn update(&self, change: impl FnOnce(&mut StockState)) {
        change(&mut self.lock());
    }

    /// Shows the window and the threshold of slow start, and the phase that they make.
    pub fn show_window(&self, cwnd: u64, ssthresh: Option<u64>) {
        self.update(|shown| {
            shown.cwnd = Bytes::new(cwnd);
            shown.phases = PHASES;
            if let Some(ssthresh) = ssthresh {
                let slow_start = cwnd < ssthresh;
                shown.snapshot.phase = PHASES[usize::from(!slow_start)].name;
                shown.snapshot.ssthresh = (ssthresh != u64::MAX).then(|| Bytes::new(ssthresh));
            }
        });
    }
}

const PHASES: &[State] = &[
    State::new("SlowStart", StateKind::Start),
    State::new("CongestionAvoidance", StateKind::Steady),
];

impl Controller for Mirror {
    fn on_packet_sent(&mut self, _sent: &PacketSent) {}
    fn on_ack(&mut self, _ack: &AckEvent<'_>) {}
    fn on_loss(&mut self, _loss: &LossEvent<'_>) {}
    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {}
    fn on_mtu_change(&mut self, _max_datagram: Bytes) {}

    fn cwnd(&self) -> Bytes {
        self.lock().cwnd
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.lock().pacing_rate
    }

    fn send_quantum(&self) -> Bytes {
        Bytes::MAX
    }

    fn ecn(&self) -> Ecn {
        self.lock().ecn
    }

    fn snapshot(&self) -> Snapshot {
        self.lock().snapshot
    }

    fn phases(&self) -> &'static [State] {
        self.lock().phases
    }
}
