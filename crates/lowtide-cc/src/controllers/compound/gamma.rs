//! How many packets may be queued before the delay window shrinks, fixed or tuned.
//!
//! Tuning (draft-sridharan-tcpm-ctcp-02) holds γ at three quarters of what Reno alone kept
//! queued before the last losses, so that the delay window goes before a small buffer overflows.

/// The highest γ of the tuning, and γ without it, packets.
const HIGHEST: f64 = 30.0;
/// The lowest γ of the tuning, packets.
const LOWEST: f64 = 5.0;
/// The share of Reno's queue.
const SHARE: f64 = 0.75;
/// The newest sample's weight: that of the ns-3 module; no other source gives one.
const WEIGHT: f64 = 0.8;

/// γ, in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    packets: f64,
    /// Where it begins, and begins again after a timeout.
    initial: f64,
    tuned: bool,
    /// What Reno's part of the window had queued in the last round, since the last loss.
    queued_by_reno: Option<f64>,
}

impl Default for Gamma {
    /// 30 packets, fixed (INFOCOM 2006).
    fn default() -> Self {
        Self::new(Self::DEFAULT_PACKETS, Self::DEFAULT_TUNED)
    }
}

impl Gamma {
    /// γ where nothing else is chosen (INFOCOM 2006).
    pub const DEFAULT_PACKETS: u64 = HIGHEST as u64;
    /// Whether it is tuned where nothing else is chosen.
    pub const DEFAULT_TUNED: bool = false;

    /// In packets. Where `tuned`, this is the initial value, and γ stays between 5 and 30.
    #[must_use]
    pub fn new(packets: u64, tuned: bool) -> Self {
        Self {
            packets: packets as f64,
            initial: packets as f64,
            tuned,
            queued_by_reno: None,
        }
    }

    /// The threshold in packets.
    #[must_use]
    pub fn packets(&self) -> f64 {
        self.packets
    }

    /// Reno's part of the window had this many packets queued in this round.
    pub(super) fn observe(&mut self, queued_by_reno: f64) {
        self.queued_by_reno = Some(queued_by_reno);
    }

    /// A congestion event.
    pub(super) fn on_congestion(&mut self) {
        if let Some(queued) = self.queued_by_reno.take()
            && self.tuned
        {
            let sample = SHARE * queued;
            self.packets = ((1.0 - WEIGHT) * self.packets + WEIGHT * sample).clamp(LOWEST, HIGHEST);
        }
    }

    /// A timeout.
    pub(super) fn reset(&mut self) {
        self.packets = self.initial;
        self.queued_by_reno = None;
    }
}
