//! LeoCC (SIGCOMM 2025; github.com/SpaceNetLab/LeoCC): BBR for satellites that hand over by the clock.
//!
//! Starlink assigns terminals to satellites anew every 15 s, at the same seconds everywhere: then
//! delay and bandwidth are another path's. BBR v1 learns a longer path after ten seconds at the
//! earliest, and takes the delay's jitter between two handovers for nothing. Here
//! - a reconfiguration that is due leads to ProbeRTT and back to Startup, with nothing of the old path
//!   believed ([`Reconfigurations`]);
//! - between two of them a filtered RTT well above the minimum is a queue: then a filtered bandwidth
//!   counts, not the highest, and probes are small ([`Cruise`]).

pub(crate) mod entry;

mod cruise;
mod reconfigurations;

pub use self::cruise::Cruise;
pub use self::reconfigurations::Reconfigurations;
use crate::controller::AckEvent;
use crate::controllers::bbr::{Model, Phase, Policy};
use crate::units::{Bytes, Duration, Rate};

/// How long a minimum RTT counts (`leocc_min_rtt_win_sec`): it is learnt anew at each
/// reconfiguration anyway.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(20);
/// ProbeRTT's window, share of the BDP (`leocc_probe_rtt_cwnd_gain`).
const PROBE_RTT_GAIN: f64 = 0.5;

/// What LeoCC makes of BBR's estimate.
#[derive(Clone, Debug)]
pub struct Satellite {
    reconfigurations: Reconfigurations,
    cruise: Cruise,
}

impl Satellite {
    /// With this schedule and this threshold.
    #[must_use]
    pub fn new(reconfigurations: Reconfigurations, cruise: Cruise) -> Self {
        Self {
            reconfigurations,
            cruise,
        }
    }
}

impl Policy for Satellite {
    fn on_ack(&mut self, ack: &AckEvent<'_>, model: &Model) {
        self.reconfigurations.on_ack(ack.now);
        self.cruise.on_ack(ack, model);
    }

    fn on_phase(&mut self, phase: Phase) {
        if phase == Phase::Drain {
            self.reconfigurations.under_way = false;
        }
    }

    fn probe_gain(&self, model: &Model) -> f64 {
        self.cruise.probe_gain(model)
    }

    fn bandwidth(&self, model: &Model) -> Rate {
        self.cruise.bandwidth(model)
    }

    fn min_rtt_window(&self) -> Duration {
        MIN_RTT_WINDOW
    }

    fn path_changes(&self) -> bool {
        self.reconfigurations.under_way
    }

    fn probe_rtt_window(&self, model: &Model) -> Bytes {
        model.bdp(model.bandwidth, PROBE_RTT_GAIN)
    }
}
