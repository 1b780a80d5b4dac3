//! BBR-ACD (Mahmud et al. 2020): tells losses of congestion from losses of the link.
//!
//! BBR v1 answers every loss alike: a round of packet conservation. Here a loss counts as
//! congestion when the RTT says that a buffer is full: three RTTs in a row hardly differ, or the
//! RTT is above twice its minimum. Then the window is halved; otherwise it only loses what was lost.

pub(crate) mod entry;

use crate::controller::AckEvent;
use crate::controllers::bbr::{Model, Phase, Policy, RecoveryStart};
use crate::units::{Bytes, Duration};

/// Pairs of equal RTTs that show a full buffer: three acknowledgments in a row (§4.1).
const IDENTICAL_PAIRS: u32 = 2;

/// How often a loss of congestion halves the window. The paper's text and its published code
/// differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halving {
    /// Once, as the text says (§4.2).
    OncePerRecovery,
    /// At each acknowledgment of one round, as the published kernel code does: down to 4 packets.
    EveryAckForOneRound,
}

/// How long the inflight cap of one BDP lasts that a loss of congestion sets (§4.2). The paper's two
/// published implementations differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InflightCap {
    /// While the window is halved (the Linux module).
    Halving,
    /// Until ProbeBW or Startup begins anew, as after the next ProbeRTT (the ns-3 module, which
    /// sets BBR's window gain to 1 and leaves it there).
    NextPhase,
}

/// Congestion detection and what follows from it.
#[derive(Clone, Copy, Debug)]
pub struct CongestionDetection {
    /// RTTs that differ by no more count as equal (α).
    tolerance: Duration,
    halving: Halving,
    inflight_cap: InflightCap,
    /// An inflight cap of [`InflightCap::NextPhase`] holds.
    capped: bool,
    last_rtt: Option<Duration>,
    identical_pairs: u32,
    congestion: bool,
}

impl CongestionDetection {
    /// The paper's α.
    pub const DEFAULT_TOLERANCE: Duration = Duration::from_millis(1);

    /// A detector whose equal RTTs differ by at most `tolerance`.
    #[must_use]
    pub fn new(tolerance: Duration, halving: Halving, inflight_cap: InflightCap) -> Self {
        Self {
            tolerance,
            halving,
            inflight_cap,
            capped: false,
            last_rtt: None,
            identical_pairs: 0,
            congestion: false,
        }
    }

    /// Whether a loss now would be one of congestion.
    #[must_use]
    pub fn sees_congestion(&self) -> bool {
        self.congestion
    }

    /// Half the window, at most one BDP (§4.2: the inflight cap becomes one BDP).
    fn halved(cwnd: Bytes, model: &Model) -> Bytes {
        cwnd.mul_f64(0.5).min(model.bdp(model.bandwidth, 1.0))
    }
}

impl Policy for CongestionDetection {
    /// `bbr_probe_congestion` (Fig. 6); the guard `rtt > min_rtt` stands in the published code only.
    fn on_ack(&mut self, ack: &AckEvent<'_>, model: &Model) {
        let Some(rtt) = ack.rtt else {
            return;
        };
        let min_rtt = model.min_rtt.min(rtt);
        let differs_little = self
            .last_rtt
            .is_some_and(|last| rtt.max(last) - rtt.min(last) <= self.tolerance);
        if rtt > min_rtt && differs_little {
            self.identical_pairs = self.identical_pairs.saturating_add(1);
        } else {
            self.identical_pairs = 0;
        }
        self.last_rtt = Some(rtt);
        self.congestion = self.identical_pairs >= IDENTICAL_PAIRS || rtt > min_rtt * 2;
    }

    fn on_phase(&mut self, phase: Phase) {
        self.capped &= !matches!(phase, Phase::ProbeBw | Phase::Startup);
    }

    fn cwnd_gain(&self, standard: f64) -> f64 {
        if self.capped {
            standard.min(1.0)
        } else {
            standard
        }
    }

    fn on_recovery_start(&mut self, cwnd: Bytes, model: &Model) -> RecoveryStart {
        if !self.congestion {
            return RecoveryStart::OnlyLost;
        }
        self.capped = self.inflight_cap == InflightCap::NextPhase;
        match self.halving {
            Halving::OncePerRecovery => RecoveryStart::SetWindow(Self::halved(cwnd, model)),
            Halving::EveryAckForOneRound => RecoveryStart::Shrink,
        }
    }

    fn shrink(&self, cwnd: Bytes, model: &Model) -> Bytes {
        Self::halved(cwnd, model)
    }
}
