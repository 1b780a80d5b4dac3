//! Congestion avoidance as in Linux (`bictcp_update`), where it is not RFC 9438's.
//!
//! The window follows the cubic function of one least RTT from now, and so lags by what queues add to the
//! RTT; until the first congestion event it grows by a twentieth a round trip all the same. The Reno
//! estimate never grows faster than at first.

/// Growth of the Reno estimate in packets a round: 3·(1 − β)/(1 + β) for β = 717/1024, as integers
/// (`beta_scale`: 15 eighths of a window for each packet).
pub(super) const ALPHA: f64 = 8.0 / 15.0;
/// The most and the least that the window grows by for each packet acknowledged: half a packet, and a
/// hundredth of a packet a window.
const MOST: f64 = 0.5;
const LEAST_A_WINDOW: f64 = 0.01;
/// The least before the first congestion event: "5% per RTT".
const LEAST_UNTIL_LOSS: f64 = 0.05;

/// Packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    pub(super) cwnd: f64,
    /// The cubic function's.
    pub(super) target: f64,
    /// What Reno would have.
    pub(super) reno: f64,
    pub(super) limit_is_known: bool,
}

/// By how much the window grows for each packet acknowledged.
pub(super) fn growth(windows: Windows) -> f64 {
    let Windows { cwnd, target, .. } = windows;
    let least = if windows.limit_is_known {
        LEAST_A_WINDOW / cwnd
    } else {
        LEAST_UNTIL_LOSS
    };
    let reno = (windows.reno - cwnd) / cwnd;
    ((target - cwnd) / cwnd).max(least).max(reno).min(MOST)
}
