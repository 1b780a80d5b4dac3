//! What BBR believes of the path; what its parts may read.

use super::phase::Phase;
use crate::controller::Config;
use crate::mechanisms::Rounds;
use crate::units::{Bytes, Duration, Rate};

/// cwnd never below: enough for delayed acknowledgments of a round trip (Linux
/// `bbr_cwnd_min_target`).
const MIN_CWND_PACKETS: u64 = 4;

/// Startup's gain, 2/ln 2: the smallest that doubles the delivery rate each round (Linux
/// `bbr_high_gain`).
pub(super) const HIGH_GAIN: f64 = 2.885;

/// The state that BBR's mechanisms share.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Current phase.
    pub phase: Phase,
    /// Estimated bottleneck bandwidth in use; zero before the first sample.
    pub bandwidth: Rate,
    /// Windowed minimum RTT; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
    /// Newest RTT sample; [`Duration::MAX`] before the first.
    pub rtt: Duration,
    /// Packet-timed rounds.
    pub rounds: Rounds,
    /// Startup has filled the pipe.
    pub full_pipe: bool,
    /// The last packet was sent while the application limited the flow.
    pub app_limited: bool,
    /// Current pacing gain.
    pub pacing_gain: f64,
    /// Current cwnd gain.
    pub cwnd_gain: f64,
    /// Current pacing rate, above zero.
    pub pacing_rate: Rate,
    /// Packet size.
    pub max_datagram: Bytes,
    /// Window before any feedback.
    pub initial_window: Bytes,
    /// Burst size at the current pacing rate.
    pub send_quantum: Bytes,
    /// ProbeBW is in its probing phase (gain 1.25).
    pub probing: bool,
    /// The window, not the path, limits the sender: in the first round of a recovery (packet
    /// conservation), from a timeout until its recovery ends, and where the last packet was a probe
    /// beyond the window (PTO, tail loss).
    pub window_held: bool,
}

impl Model {
    /// A path about which nothing is known yet.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let max_datagram = config.max_datagram.max(Bytes::new(1));
        Self {
            phase: Phase::Startup,
            bandwidth: Rate::ZERO,
            min_rtt: Duration::MAX,
            rtt: Duration::MAX,
            rounds: Rounds::default(),
            full_pipe: false,
            app_limited: false,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            pacing_rate: Rate::from_bytes_per_sec(1),
            max_datagram,
            initial_window: config.initial_window.max(max_datagram),
            send_quantum: max_datagram,
            probing: false,
            window_held: false,
        }
    }

    /// 4 packets.
    #[must_use]
    pub fn min_cwnd(&self) -> Bytes {
        self.max_datagram * MIN_CWND_PACKETS
    }

    /// The rate of the smallest window, 4 packets a round trip: below it an estimate would only
    /// spread out what is in flight anyway. Zero before the first RTT sample.
    #[must_use]
    pub fn min_rate(&self) -> Rate {
        Rate::from_volume(self.min_cwnd(), self.rtt)
    }

    /// `gain` × bandwidth × min_rtt; the initial window before the first RTT sample.
    #[must_use]
    pub fn bdp(&self, bandwidth: Rate, gain: f64) -> Bytes {
        if self.min_rtt == Duration::MAX {
            return self.initial_window;
        }
        bandwidth.volume_in(self.min_rtt).mul_f64(gain)
    }

    /// A volume in flight, with room for the bursts of sender and receiver: three send quanta, an
    /// even number of packets, and two more while probing, so that a gain of 1.25 raises even the
    /// smallest window (Linux `bbr_quantization_budget`).
    #[must_use]
    pub fn with_quantization_budget(&self, volume: Bytes) -> Bytes {
        let with_quanta = volume + self.send_quantum * 3;
        let pair = (self.max_datagram * 2).get();
        let even = Bytes::new(with_quanta.get().div_ceil(pair).saturating_mul(pair));
        if self.probing {
            even + self.max_datagram * 2
        } else {
            even
        }
    }

    /// What should be in flight at `gain` (Linux `bbr_inflight`).
    #[must_use]
    pub fn inflight_at(&self, bandwidth: Rate, gain: f64) -> Bytes {
        self.with_quantization_budget(self.bdp(bandwidth, gain))
    }
}
