//! Pacing rate and burst size.

use super::Options;
use super::model::Model;
use super::prime;
use crate::controller::AckEvent;
use crate::units::{Bytes, Duration, Rate};

/// Paces this much below the estimate, so that the queue drains slowly even when the estimate is a
/// little high (Linux `bbr_pacing_margin_percent`: 1 %).
const MARGIN: f64 = 0.99;
/// RTT assumed before the first sample (Linux `bbr_init_pacing_rate_from_rtt`).
const NOMINAL_RTT: Duration = Duration::from_millis(1);
/// Below this rate bursts are of one packet (Linux `bbr_min_tso_rate`).
const SINGLE_PACKET_RATE: Rate = Rate::from_bits_per_sec(1_200_000);
/// A burst lasts about a millisecond: rate / 1024 (Linux `sk_pacing_shift`).
const BURST_SHIFT: u32 = 10;
/// The largest burst: what one GSO send carries (Linux `GSO_LEGACY_MAX_SIZE`).
const MAX_BURST: u64 = 65_535;

/// Pacing rate and send quantum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacing {
    seen_rtt: bool,
    /// Packets of a burst, where that does not follow the rate.
    burst_packets: Option<u64>,
    prime: bool,
}

impl Pacing {
    pub(super) fn new(model: &mut Model, options: &Options) -> Self {
        let pacing = Self {
            seen_rtt: false,
            burst_packets: options.burst_packets,
            prime: options.prime,
        };
        pacing.start_from_window(model.initial_window, NOMINAL_RTT, model);
        pacing
    }

    /// Startup's gain × window / RTT.
    fn start_from_window(&self, cwnd: Bytes, rtt: Duration, model: &mut Model) {
        let rate = Rate::from_volume(cwnd, rtt.max(Duration::from_nanos(1)));
        self.set(rate.mul_f64(super::model::HIGH_GAIN * MARGIN), model);
    }

    fn set(&self, rate: Rate, model: &mut Model) {
        model.pacing_rate = rate.max(Rate::from_bytes_per_sec(1));
        model.send_quantum = match self.burst_packets {
            Some(packets) => model.max_datagram * packets.max(1),
            None => quantum(model.pacing_rate, model.max_datagram),
        };
    }

    /// Packets have another size: so have bursts.
    pub(super) fn on_mtu_change(&self, model: &mut Model) {
        self.set(model.pacing_rate, model);
    }

    /// Follows the model. Before the pipe is full the rate only grows: early samples are low.
    #[inline]
    pub(super) fn update(&mut self, ack: &AckEvent<'_>, cwnd: Bytes, model: &mut Model) {
        if !self.seen_rtt
            && let Some(rtt) = ack.rtt
        {
            self.seen_rtt = true;
            self.start_from_window(cwnd, rtt, model);
        }
        self.follow(model.pacing_gain, model);
    }

    /// Paces at `gain` × bandwidth.
    pub(super) fn follow(&self, gain: f64, model: &mut Model) {
        let gain = if self.prime {
            prime::pacing_gain(gain)
        } else {
            gain * MARGIN
        };
        let rate = model.bandwidth.mul_f64(gain);
        if model.full_pipe || rate > model.pacing_rate {
            self.set(rate, model);
        }
    }
}

/// About a millisecond's worth, in whole packets: at least two, one at very low rates. What rounding has
/// taken from the rate must not cost a packet.
fn quantum(rate: Rate, max_datagram: Bytes) -> Bytes {
    let rate = Rate::from_bytes_per_sec(rate.as_bytes_per_sec().saturating_add(1));
    let least = if rate < SINGLE_PACKET_RATE { 1 } else { 2 };
    let burst = (rate.as_bytes_per_sec() >> BURST_SHIFT).min(MAX_BURST);
    max_datagram * (burst / max_datagram.get()).max(least)
}
