//! Congestion avoidance as in Linux (`bictcp_update`), where it is not RFC 9438's.
//!
//! The window follows the cubic function of one least RTT from now, and so lags by what queues add to the
//! RTT; until the first congestion event it grows by a twentieth a round trip all the same. The Reno
//! estimate never grows faster than at first. All windows are whole packets, and so is the number of
//! acknowledgments for which the window grows by one: it is rounded down.

use libm::{ceil, floor, trunc};

use crate::units::{Duration, Time};

/// Packets acknowledged for each window for which the Reno estimate grows by one: (1 + β)/(3·(1 − β)) for
/// β = 717/1024, in eighths (`beta_scale`).
const RENO_WINDOWS: f64 = 15.0 / 8.0;
/// The window grows by at most a packet for two acknowledged, and at least by one for a hundred windows.
const LEAST_ACKS: f64 = 2.0;
const MOST_WINDOWS: f64 = 100.0;
/// The most before the first congestion event: "5% per RTT".
const MOST_ACKS_UNTIL_LOSS: f64 = 20.0;
/// While the window stays, that number is reckoned anew so often (`HZ / 32`).
const RENEWAL: Duration = Duration::from_micros(31_250);

/// Packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    pub(super) cwnd: f64,
    /// At which the cubic function is flat.
    pub(super) origin: f64,
    /// How far the cubic function is above that.
    pub(super) above: f64,
    /// What Reno would have.
    pub(super) reno: f64,
    pub(super) limit_is_known: bool,
}

/// Packets acknowledged for which no window has grown yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Credit {
    /// `snd_cwnd_cnt`.
    window: f64,
    /// `ack_cnt`.
    reno: f64,
    /// For how many packets the window grows by one (`cnt`), which window, and since when that holds.
    each: f64,
    of: f64,
    since: Time,
}

impl Credit {
    /// By how much the Reno estimate grows (`bictcp_update`).
    pub(super) fn grow_reno(&mut self, cwnd: f64, acked: f64) -> f64 {
        self.reno += acked;
        let each = floor(cwnd * RENO_WINDOWS).max(1.0);
        let growth = (ceil(self.reno / each) - 1.0).max(0.0);
        self.reno -= growth * each;
        growth
    }

    /// By how much the window grows (`tcp_cong_avoid_ai`).
    pub(super) fn grow(&mut self, now: Time, windows: Windows, acked: f64) -> f64 {
        if self.of != windows.cwnd || now.since(self.since) > RENEWAL {
            self.each = acks_a_packet(windows);
            (self.of, self.since) = (windows.cwnd, now);
        }
        let each = self.each;
        let mut growth = 0.0;
        if self.window >= each {
            // Collected while more were needed.
            self.window = 0.0;
            growth = 1.0;
        }
        self.window += acked;
        let more = floor(self.window / each);
        self.window -= more * each;
        growth + more
    }
}

/// For how many packets acknowledged the window grows by one.
fn acks_a_packet(windows: Windows) -> f64 {
    let Windows { cwnd, reno, .. } = windows;
    let target = windows.origin + trunc(windows.above);
    let most = if windows.limit_is_known {
        MOST_WINDOWS * cwnd
    } else {
        MOST_ACKS_UNTIL_LOSS
    };
    let until = |window: f64| {
        if window > cwnd {
            floor(cwnd / (window - cwnd))
        } else {
            most
        }
    };
    until(target).min(until(reno)).min(most).max(LEAST_ACKS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::at;

    const FLAT: Windows = Windows {
        cwnd: 10.0,
        origin: 10.0,
        above: 0.0,
        reno: 10.0,
        limit_is_known: true,
    };

    #[test]
    fn a_window_grows_by_whole_packets_for_whole_acknowledgments() {
        let mut credit = Credit::default();
        // Three above: a packet for each three acknowledged, not for 3.3.
        let windows = Windows { above: 3.9, ..FLAT };
        let growth: f64 = (0..9).map(|_| credit.grow(at(0), windows, 1.0)).sum();
        assert_eq!(growth, 3.0);
        // What was collected while more were needed counts as one packet.
        let mut credit = Credit::default();
        assert_eq!(credit.grow(at(0), FLAT, 9.0), 0.0);
        let fewer = Windows { cwnd: 8.0, ..FLAT };
        assert_eq!(credit.grow(at(1), fewer, 1.0), 1.0);
    }

    #[test]
    fn the_reno_estimate_grows_by_a_packet_for_fifteen_eighths_of_a_window() {
        let mut credit = Credit::default();
        assert_eq!(credit.grow_reno(10.0, 18.0), 0.0);
        assert_eq!(credit.grow_reno(10.0, 1.0), 1.0);
        assert_eq!(credit.grow_reno(10.0, 36.0), 2.0);
    }

    #[test]
    fn the_rate_of_growth_lasts_for_a_thirty_second_of_a_second() {
        let mut credit = Credit::default();
        assert_eq!(credit.grow(at(0), FLAT, 1.0), 0.0);
        let faster = Windows { above: 5.0, ..FLAT };
        assert_eq!(credit.grow(at(31), faster, 2.0), 0.0);
        // Three packets had been acknowledged, and two are enough now.
        assert_eq!(credit.grow(at(32), faster, 1.0), 1.0);
    }
}
