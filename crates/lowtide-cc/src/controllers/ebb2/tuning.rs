//! All constants of the law, each with its unit and its reason. Users set [`idle`](Tuning::idle) alone, which is
//! a preference.

use crate::units::{Bytes, Duration};

/// The constants. [`Tuning::DEFAULT`] is ebb 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// ε, the preference: the share of the link's capacity that may stay unused. Above 0, at most 0.5.
    pub idle: f64,
    /// κ: δ's change for a window of unused capacity. Slower follows a change of the link's character later, faster its noise.
    pub gain: f64,
    /// The smallest δ: no forecast is left of the window then.
    pub least: f64,
    /// The largest δ: what is idle because T is too long must not grow the window without end.
    pub most: f64,
    /// λ: unused bytes that a byte lost to congestion is worth.
    pub loss_price: f64,
    /// Losses up to this share are none of congestion even where packets meet a queue: radio loses as much.
    pub loss_queued: f64,
    /// The same where they meet none. A policer loses more, and there an idle link is no invitation.
    pub loss_policed: f64,
    /// [T] Length of the service kernel, in busy time.
    pub kernel: f64,
    /// [W] Window bytes over which the forecast rises …
    pub rise: f64,
    /// [W] … and falls. Rising faster keeps a link busy whose rate comes back.
    pub fall: f64,
    /// [W] Window bytes over which the mean batch and the share of losses are formed.
    pub memory: f64,
    /// [packets] e at least: acknowledgments come for every second packet.
    pub packets: f64,
    /// [s] e is at least the square root of the packets that the link serves in this time: shares of several flows become equal in as many round trips on a fast link as on a slow one.
    pub root: f64,
    /// The forecast rises to at most this multiple of what the best delivery rate serves in T: flows on one link
    /// would take each other's service for the link's.
    pub growth: f64,
    /// With a larger δ a drain shows nothing of others.
    pub unsteady: f64,
    /// [T] A packet that waited longer found the link busy, with whosever packets.
    pub alone: f64,
    /// [W/T] Pacing gain on a link that moves, so that a window which grows is used at once …
    pub pacing: f64,
    /// [W/T] … and on a calm one, whose flows would meet each other's bursts. Shared: of the best rate, as BBR's while it probes.
    pub calm_pacing: f64,
    /// [W/T] Pacing gain in Startup: above the doubling of a round trip.
    pub start_pacing: f64,
    /// With this |δ| a link is not calm at all.
    pub lively: f64,
    /// Below this δ a link does not empty its queue by itself: its flows drain.
    pub drain_margin: f64,
    /// [T] A queueing delay above this and `noise` is a queue …
    pub queue: f64,
    /// [ms] … for timers and schedulers make as much.
    pub noise: f64,
    /// [ms] The same where it is to be others': packets of flows like this one make a few milliseconds.
    pub others_noise: f64,
    /// [packets] The smallest window: acknowledgments keep coming, and a loss is noticed by what follows.
    pub floor: f64,
    /// [rounds] Rounds over which the best delivery rate counts.
    pub rate_rounds: u64,
    /// [s] Least RTTs count for one to two spans, as long as BBR's minimum; and without a drain for so
    /// long, a flow that meets a queue drains.
    pub span: f64,
    /// T is longer than the least RTT by this multiple of what the least mean RTT is above it: a window for the mean would fall short of half of the RTTs.
    pub jitter: f64,
    /// [least RTT] The mean RTT counts up to this.
    pub most_jitter: f64,
    /// A round whose least RTT is above the minimum by more than this part of what its mean is had a queue.
    pub emptied: f64,
    /// [RTTs] Fewer do not make a mean.
    pub samples: u64,
    /// [W without a queue] The window in a drain.
    pub drain: f64,
    /// [rounds] A drain's length at most: in the first the window takes effect, in the second it shows.
    pub drain_rounds: u32,
    /// [s] Age of the least RTT at which flows drain: the same for all, so that they drain together.
    pub patience: f64,
    /// [s] After evidence the next drain follows in this time …
    pub look: f64,
    /// [T] … and so many T.
    pub look_rounds: f64,
    /// [T] In a drain the queue is empty with an RTT up to this.
    pub empty: f64,
    /// [best rate · T] In Startup the window is at most this, which doubles it in a round trip.
    pub startup_gain: f64,
    /// [drains] So many drains in a row that contradict a belief end it. One may be a flow that has just come, or BBR's ProbeRTT.
    pub twice: u32,
    /// [best rate · T] Shared, the window is at least this …
    pub hold_gain: f64,
    /// [√packets] … and so many roots of it in packets: what is concave lets the smaller flow grow. At 70 packets both are BBR's two BDPs.
    pub hold_root: f64,
    /// A flow starves below this share of the largest rate of the last span while its queue is longer than this share of T …
    pub starved: f64,
    /// [rounds] … for so many rounds: a link whose rate falls has shown it in less.
    pub starved_rounds: u32,
    /// The queue of a path that has become longer moves by at most this part of it …
    pub moves: f64,
    /// … while the window falls to this part of what it was …
    pub shrink: f64,
    /// [rounds] … for so many rounds.
    pub path_rounds: u32,
    /// [W] Startup ends when this part of a window in a row has met a queue …
    pub stretch: f64,
    /// [packets] … and so many packets.
    pub stretch_packets: f64,
}

impl Tuning {
    /// ebb 2.
    pub const DEFAULT: Self = Self {
        idle: 0.05,
        gain: 0.07,
        least: -1.0,
        most: 4.0,
        loss_price: 2.0,
        loss_queued: 0.02,
        loss_policed: 0.07,
        kernel: 0.35,
        rise: 0.5,
        fall: 1.0,
        memory: 4.0,
        packets: 2.0,
        root: 0.03,
        growth: 1.6,
        unsteady: 0.05,
        alone: 0.2,
        pacing: 2.0,
        calm_pacing: 1.25,
        start_pacing: 3.0,
        lively: 0.1,
        drain_margin: 0.02,
        queue: 0.125,
        noise: 1.0,
        others_noise: 5.0,
        floor: 4.0,
        rate_rounds: 15,
        span: 10.0,
        jitter: 1.25,
        most_jitter: 2.0,
        emptied: 0.5,
        samples: 8,
        drain: 0.9,
        drain_rounds: 2,
        patience: 3.0,
        look: 1.0,
        look_rounds: 10.0,
        empty: 1.01,
        startup_gain: 2.0,
        twice: 2,
        hold_gain: 1.4,
        hold_root: 5.0,
        starved: 0.5,
        starved_rounds: 8,
        moves: 0.1,
        shrink: 0.5,
        path_rounds: 3,
        stretch: 0.125,
        stretch_packets: 10.0,
    };
}

impl Default for Tuning {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// RTT assumed before the first sample, as BBR does (Linux `bbr_init_pacing_rate_from_rtt`).
pub(super) const NOMINAL_RTT: Duration = Duration::from_millis(1);
/// Packets that an acknowledgment usually brings (RFC 9000 §13.2.2, RFC 5681 §4.2).
pub(super) const USUAL_ACK_PACKETS: f64 = 2.0;
/// Packets that may leave back to back: more would look like a queue …
pub(super) const BURST_PACKETS: u64 = 2;
/// … but on a fast path as many as take so long: a host that wakes for each pair cannot fill it …
pub(super) const BURST: Duration = Duration::from_micros(250);
/// … and no more than one GSO send carries (Linux `GSO_LEGACY_MAX_SIZE`).
pub(super) const LARGEST_BURST: Bytes = Bytes::new(65_535);
