//! Pacing rate and send quantum (§5.6.2, §5.6.3).

use super::model::Model;
use super::phase::Phase;
use crate::units::{Bytes, Duration, Rate};

/// Paces this much below the estimate, so that queues drain (`PacingMarginPercent`: 1 %).
const MARGIN: f64 = 0.99;
/// RTT assumed before the first sample (`InitPacingRate`).
const NOMINAL_RTT: Duration = Duration::from_millis(1);
/// How long a quantum lasts (`SetSendQuantum`).
const QUANTUM: Duration = Duration::from_millis(1);
/// The largest quantum.
const MAX_QUANTUM: Bytes = Bytes::new(65_536);
/// The smallest quantum, packets.
const MIN_QUANTUM_PACKETS: u64 = 2;

#[derive(Clone, Copy, Debug)]
pub(super) struct Pacing {
    rate: Rate,
    seen_rtt: bool,
}

impl Pacing {
    pub(super) fn new(model: &mut Model) -> Self {
        let mut pacing = Self {
            rate: Rate::ZERO,
            seen_rtt: false,
        };
        pacing.start(NOMINAL_RTT, model);
        pacing
    }

    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    /// `InitPacingRate`.
    fn start(&mut self, rtt: Duration, model: &mut Model) {
        let nominal = Rate::from_volume(model.initial_window, rtt.max(Duration::from_nanos(1)));
        self.set(nominal.mul_f64(Phase::Startup.pacing_gain()), model);
    }

    fn set(&mut self, rate: Rate, model: &mut Model) {
        self.rate = rate.max(Rate::from_bytes_per_sec(1));
        self.set_quantum(model);
    }

    /// `SetSendQuantum`.
    pub(super) fn set_quantum(&self, model: &mut Model) {
        model.send_quantum = self
            .rate
            .volume_in(QUANTUM)
            .min(MAX_QUANTUM)
            .max(model.max_datagram * MIN_QUANTUM_PACKETS);
    }

    /// `SetPacingRate`; the first RTT sample replaces the nominal one.
    #[inline]
    pub(super) fn update(&mut self, rtt: Option<Duration>, model: &mut Model) {
        if !self.seen_rtt
            && let Some(rtt) = rtt
        {
            self.seen_rtt = true;
            self.start(rtt, model);
        }
        self.follow(model.phase.pacing_gain(), model);
    }

    /// `SetPacingRateWithGain`. Before the pipe has been full the rate only grows: early and
    /// application-limited samples are low.
    pub(super) fn follow(&mut self, gain: f64, model: &mut Model) {
        let rate = model.bandwidth.mul_f64(gain * MARGIN);
        if model.full_pipe || rate > self.rate {
            self.set(rate, model);
        }
    }
}
