//! What BBR believes of the path, as its parts read it.

use lowtide_cc::controllers::bbr;
use lowtide_cc::units::Rate;
use pyo3::prelude::*;

use super::number::span;
use super::view::view;

view! {
    /// What BBR believes of the path. It is BBR's: parts read it.
    #[pyclass(module = "lowtide")]
    Model(bbr::Model) {
        /// "Startup", "Drain", "ProbeBW" or "ProbeRTT".
        phase: &'static str = |model| model.phase.name(),
        /// Estimated bandwidth in use, bytes a second; zero before the first sample.
        bandwidth: f64 = |model| model.bandwidth.as_f64(),
        /// Windowed minimum RTT, seconds; infinite before the first sample.
        min_rtt: f64 = |model| span(model.min_rtt),
        /// Newest RTT sample, seconds; infinite before the first.
        rtt: f64 = |model| span(model.rtt),
        /// Packet-timed rounds so far.
        round_count: u64 = |model| model.rounds.count(),
        /// Whether the current acknowledgment began a round.
        round_starts: bool = |model| model.rounds.starts_now(),
        /// Data delivered so far, bytes.
        delivered: u64 = |model| model.rounds.delivered().get(),
        /// Startup has filled the pipe.
        full_pipe: bool = |model| model.full_pipe,
        /// The application limited the flow when the last packet was sent.
        app_limited: bool = |model| model.app_limited,
        /// Current pacing gain.
        pacing_gain: f64 = |model| model.pacing_gain,
        /// Current gain of the window.
        cwnd_gain: f64 = |model| model.cwnd_gain,
        /// Current pacing rate, bytes a second.
        pacing_rate: f64 = |model| model.pacing_rate.as_f64(),
        /// Largest payload of a packet, bytes.
        max_datagram: u64 = |model| model.max_datagram.get(),
        /// Window before any feedback, bytes.
        initial_window: u64 = |model| model.initial_window.get(),
        /// Burst at the current pacing rate, bytes.
        send_quantum: u64 = |model| model.send_quantum.get(),
        /// ProbeBW is in its probing phase.
        probing: bool = |model| model.probing,
        /// The window, not the path, limits the sender: see BBR's `Model::window_held`.
        window_held: bool = |model| model.window_held,
        /// The smallest window, 4 packets, bytes.
        min_cwnd: u64 = |model| model.min_cwnd().get(),
    }

    /// `gain` × `bandwidth` × `min_rtt`, bytes; the initial window before the first RTT sample.
    fn bdp(&self, bandwidth: f64, gain: f64) -> u64 {
        self.0.bdp(Rate::from_bytes_per_sec(bandwidth as u64), gain).get()
    }

    /// The BDP with room for bursts: what BBR wants in flight.
    fn inflight_at(&self, bandwidth: f64, gain: f64) -> u64 {
        self.0.inflight_at(Rate::from_bytes_per_sec(bandwidth as u64), gain).get()
    }
}
