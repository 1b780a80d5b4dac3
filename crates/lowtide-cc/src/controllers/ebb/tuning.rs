//! The constants of the law, in one place, so that a study can sweep one or take a term away.
//! Users set [`idle`](Tuning::idle) alone: it is the preference, all others lie on flat optima
//! (`docs/ebb.md` shows the sweeps).

/// The constants of ebb. [`Tuning::DEFAULT`] is ebb.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// ε, the preference: the share of the link's capacity that may stay unused. Above 0, at most 0.5.
    pub idle: f64,
    /// κ: the margin's change for a window of unused capacity. Slower follows a change of the link's
    /// character later, faster follows its noise.
    pub gain: f64,
    /// The largest margin: the window is at most one more than this many forecasts.
    pub most: f64,
    /// The smallest margin; below zero it is for losses alone.
    pub least: f64,
    /// λ: unused bytes that a byte lost to congestion is worth.
    pub loss_price: f64,
    /// Packets beyond the forecast that the window always holds: the least that keeps a link busy
    /// between acknowledgments of every second packet, and what makes shares of several flows equal.
    pub packets: f64,
    /// Another bound of those packets, seconds: at least the square root of what the link serves in
    /// this time. The faster a link, the more is needed for shares to become equal in as many round
    /// trips; as it does not depend on the RTT, flows with different RTTs get the same.
    pub root: f64,
    /// Windows over which the mean batch of acknowledgments is formed; 0 takes no notice of batches.
    pub batch_memory: f64,
    /// Length of the service kernel, min RTTs of busy time.
    pub kernel: f64,
    /// Windows over which the forecast rises.
    pub rise: f64,
    /// Windows over which the forecast falls. Rising faster keeps a link busy whose rate comes
    /// back; it costs little, because what is too much lasts for one round trip.
    pub fall: f64,
    /// The forecast rises to at most this multiple of what the best recent delivery rate serves in
    /// a min RTT.
    pub growth: f64,
    /// Bound of the forecast's rise on a steady link, whose flows would take each other's service
    /// for the link's.
    pub calm_growth: f64,
    /// A packet that met a queue of more than this share of the min RTT found the link busy, with
    /// whosever packets.
    pub alone: f64,
    /// Pacing rate as a multiple of cwnd / min RTT. Well above 1, so that a window which grows is
    /// used at once, and below a burst.
    pub pacing_gain: f64,
    /// Pacing gain on a calm link, whose flows would meet each other's bursts.
    pub calm_pacing_gain: f64,
    /// With this margin a link is not calm at all.
    pub lively: f64,
    /// A queue of this share of the min RTT that stands for two rounds leaves no room for idle time.
    pub standing: f64,
    /// How much longer than the least RTT a calm path is: this multiple of what the least mean RTT of
    /// a round is above it. Above 1: a window for the mean would fall short of half of the RTTs.
    pub jitter: f64,
    /// In a drain, inflight as a share of the estimated BDP.
    pub drain: f64,
    /// Packets carry ECT(1), and marks bound the window as L4S demands. Else they carry ECT(0), and marks
    /// are losses that need no repair.
    pub l4s: bool,
}

impl Tuning {
    /// The constants of ebb.
    pub const DEFAULT: Self = Self {
        idle: 0.05,
        gain: 0.07,
        most: 4.0,
        least: -0.5,
        loss_price: 2.0,
        packets: 2.0,
        root: 0.03,
        batch_memory: 4.0,
        kernel: 0.35,
        rise: 0.5,
        fall: 1.0,
        growth: 2.5,
        calm_growth: 1.25,
        alone: 0.2,
        pacing_gain: 2.0,
        calm_pacing_gain: 1.25,
        lively: 0.1,
        standing: 0.1,
        jitter: 1.25,
        drain: 0.9,
        l4s: false,
    };
}

impl Default for Tuning {
    fn default() -> Self {
        Self::DEFAULT
    }
}
