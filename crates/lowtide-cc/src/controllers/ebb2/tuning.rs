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
    /// [W] Window bytes over which the forecast rises. It falls over one window: the rise must be faster, or a link
    /// whose rate comes back idles.
    pub rise: f64,
    /// [W] Window bytes over which the mean batch and the share of losses are formed.
    pub memory: f64,
    /// [s] e is at least the square root of the packets that the link serves in this time: shares of several flows become equal in as many round trips on a fast link as on a slow one.
    pub root: f64,
    /// [T] A packet that waited longer found the link busy, with whosever packets.
    pub alone: f64,
    /// [W/T] Pacing gain on a link that moves, so that a window which grows is used at once …
    pub pacing: f64,
    /// [W/T] … and on a calm one, whose flows would meet each other's bursts.
    pub calm_pacing: f64,
    /// [W/T] Pacing gain in Startup: above the doubling of a round trip.
    pub start_pacing: f64,
    /// With this |δ| a link is not calm at all.
    pub lively: f64,
    /// Below this δ a link does not empty its queue by itself: its flows drain, and a drain shows others.
    pub drain_margin: f64,
    /// [T] A queueing delay above this and `noise` is a queue. [W] Startup ends when this part of a window in a row and
    /// `stretch_packets` have met one.
    pub queue: f64,
    /// [ms] Timers and schedulers make as much.
    pub noise: f64,
    /// [T] With `others_noise`, a queueing delay that is others': less, for a late flow's T includes a queue.
    pub others: f64,
    /// [ms] The same where it is to be others': packets of flows like this one make a few milliseconds.
    pub others_noise: f64,
    /// [packets] The smallest window (RFC 9002, section 7.2).
    pub floor: f64,
    /// [rounds] Rounds over which the best delivery rate counts.
    pub rate_rounds: u64,
    /// [s] Least RTTs count for one to two spans, as long as BBR's minimum; and without a drain for so
    /// long, a flow that meets a queue drains.
    pub span: f64,
    /// T is longer than the least RTT by this multiple of what the least mean RTT is above it: a window for the mean would fall short of half of the RTTs.
    pub jitter: f64,
    /// A round whose least RTT is above the minimum by more than this part of what its mean is had a queue.
    pub emptied: f64,
    /// [RTTs] Fewer do not make a mean.
    pub samples: u64,
    /// [W without a queue] The window in a drain.
    pub drain: f64,
    /// [s] Age of the least RTT at which flows drain: the same for all, so that they drain together.
    pub patience: f64,
    /// [RTT] No drain follows another sooner, but for the age of the least RTT on a link of one's own: beside deep
    /// buffers drains would take most of the time.
    pub pause: f64,
    /// [W] The window in a probe. What is left of the queue then is others'.
    pub probe: f64,
    /// [flight without a queue] The window of an application that limits itself is at least this.
    pub allowance: f64,
    /// [s] After evidence the next drain follows in this time and `pause`.
    pub look: f64,
    /// [T] In a drain the queue is empty with an RTT up to this.
    pub empty: f64,
    /// [drains] So many drains in a row that contradict a belief end it. One may be a flow that has just come, or BBR's ProbeRTT.
    pub twice: u32,
    /// [best rate · T] The forecast rises to at most this, for flows on one link would take each other's service for the
    /// link's. Shared, the window is at least this, and so many times the best rate is the pacing rate …
    pub hold_gain: f64,
    /// [√packets] … and so many roots of it in packets: what is concave lets the smaller flow grow. At 150 packets both are BBR's two BDPs.
    pub hold_root: f64,
    /// A flow starves below this share of the largest rate of the last span, behind a queue that overflows or is longer
    /// than this share of T …
    pub starved: f64,
    /// [rounds] … for so many rounds: a link whose rate falls has shown it in less.
    pub starved_rounds: u32,
    /// The queue of a path that has become longer moves by at most this part of it while the window falls to `starved`
    /// of what it was …
    pub moves: f64,
    /// [rounds] … for so many rounds.
    pub path_rounds: u32,
    /// [packets] See `queue`.
    pub stretch_packets: f64,
    /// x
    pub x_floor: f64,
    /// x
    pub x_pk: f64,
    /// x
    pub x_al: f64,
    /// x
    pub x_av: f64,
    /// x
    pub x_clr: bool,
    /// x
    pub x_ag: f64,
    /// x
    pub over: f64,
    /// x
    pub x_cap: bool,
    /// x
    pub x_drop: bool,
    /// x
    pub x_off: bool,
    /// x
    pub x_now: bool,
}

impl Tuning {
    /// ebb 2.
    pub const DEFAULT: Self = Self {
        idle: 0.05,
        gain: 0.07,
        most: 4.0,
        loss_price: 2.0,
        loss_queued: 0.02,
        loss_policed: 0.07,
        kernel: 0.35,
        rise: 0.5,
        memory: 4.0,
        root: 0.03,
        alone: 0.2,
        pacing: 2.0,
        calm_pacing: 1.25,
        start_pacing: 3.0,
        lively: 0.1,
        drain_margin: 0.02,
        queue: 0.125,
        noise: 1.0,
        others: 0.0625,
        others_noise: 5.0,
        floor: 2.0,
        rate_rounds: 15,
        span: 10.0,
        jitter: 1.25,
        emptied: 0.5,
        samples: 8,
        drain: 0.9,
        patience: 2.0,
        pause: 4.0,
        probe: 0.2,
        allowance: 2.0,
        look: 1.0,
        empty: 1.01,
        twice: 2,
        hold_gain: 1.6,
        hold_root: 5.0,
        starved: 0.5,
        starved_rounds: 8,
        moves: 0.1,
        path_rounds: 3,
        stretch_packets: 10.0,
        x_floor: 0.0,
        x_pk: 0.0,
        x_al: 0.0,
        x_av: 0.0,
        x_clr: false,
        x_ag: 0.0,
        over: 0.0,
        x_cap: false,
        x_drop: false,
        x_off: false,
        x_now: false,
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
