//! Retransmission timer (RFC 6298), with its variation bounded as Linux does ([`RttVariation`]) instead of the sum by a
//! second (§2.4).

use lowtide_cc::mechanisms::RttVariation;
use lowtide_cc::units::{Duration, Time};

use crate::transport::rtt::{RttEstimator, backed_off};
use crate::transport::scoreboard::Scoreboard;

/// The timeout before the first sample (RFC 6298 §2.1, Linux `TCP_TIMEOUT_INIT`).
const INITIAL_TIMEOUT: Duration = Duration::from_secs(1);
/// The longest timeout, however often it expired (§2.5 allows 60 s and more; Linux `TCP_RTO_MAX`).
const MAX_TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug)]
pub(super) struct RetransmissionTimer {
    /// What is added to the smoothed RTT.
    variation: RttVariation,
    /// The round trip ends when more than the segments below is acknowledged (`rtt_seq`).
    round_ends_at: u64,
    /// What the timeout counts from.
    armed_at: Time,
    /// Expiries since data was last acknowledged.
    expiries: u32,
}

impl RetransmissionTimer {
    /// `min_variation`: lower bound of what is added to the smoothed RTT (Linux: 200 ms).
    pub(super) fn new(min_variation: Duration) -> Self {
        Self {
            variation: RttVariation::new(min_variation),
            round_ends_at: 0,
            armed_at: Time::ZERO,
            expiries: 0,
        }
    }

    /// Takes a sample into the variation; before it goes into the smoothed RTT.
    #[inline]
    pub(super) fn on_sample(&mut self, sample: Duration, rtt: &RttEstimator, board: &Scoreboard) {
        if !rtt.has_sample() {
            self.variation.on_first_sample(sample);
            self.round_ends_at = board.next_segment();
            return;
        }
        self.variation.on_sample(sample, rtt.smoothed());
        if board.first_segment() > self.round_ends_at {
            self.variation.on_round_end();
            self.round_ends_at = board.next_segment();
        }
    }

    /// The timeout counts from `now` on.
    #[inline]
    pub(super) fn arm(&mut self, now: Time) {
        self.armed_at = now;
    }

    /// What the timeout counts from.
    #[inline]
    pub(super) fn armed_at(&self) -> Time {
        self.armed_at
    }

    /// When it expires. Each expiry doubles the timeout (§5.5).
    #[inline]
    pub(super) fn expires_at(&self, rtt: &RttEstimator) -> Time {
        let timeout = if rtt.has_sample() {
            rtt.smoothed() + self.variation.get()
        } else {
            INITIAL_TIMEOUT
        };
        self.armed_at + backed_off(timeout, self.expiries).min(MAX_TIMEOUT)
    }

    /// Data was acknowledged. By §5 a new RTT sample ends the backoff; with timestamps each acknowledgment has one.
    #[inline]
    pub(super) fn on_progress(&mut self) {
        self.expiries = 0;
    }

    pub(super) fn on_expiry(&mut self) {
        self.expiries += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A timer that has taken samples, in milliseconds, each in a round trip of its own or all in one.
    struct Sampled {
        timer: RetransmissionTimer,
        rtt: RttEstimator,
        board: Scoreboard,
        round_each: bool,
    }

    impl Sampled {
        fn new(round_each: bool) -> Self {
            Self {
                timer: RetransmissionTimer::new(Duration::from_millis(200)),
                rtt: RttEstimator::new(),
                board: Scoreboard::sent_at_ms(&[0; 100]),
                round_each,
            }
        }

        /// The timeout in milliseconds after this sample.
        fn after(&mut self, ms: u64) -> f64 {
            let sample = Duration::from_millis(ms);
            self.timer.on_sample(sample, &self.rtt, &self.board);
            self.rtt.update(sample, Duration::ZERO);
            if self.round_each {
                self.timer.round_ends_at = 0;
                self.board.ack_segment(self.board.first_segment());
            }
            self.timeout()
        }

        fn timeout(&self) -> f64 {
            self.timer.expires_at(&self.rtt).as_nanos() as f64 / 1e6
        }
    }

    #[test]
    fn the_timeout_is_a_second_before_the_first_sample() {
        assert_eq!(Sampled::new(true).timeout(), 1_000.0);
    }

    #[test]
    fn the_minimum_bounds_the_variation_and_not_the_sum() {
        let mut path = Sampled::new(true);
        assert_eq!(path.after(40), 240.0, "40 + max(80, 200)");
        assert_eq!(path.after(40), 240.0);
        let mut path = Sampled::new(true);
        assert_eq!(path.after(200), 600.0, "200 + max(400, 200)");
    }

    #[test]
    fn the_variation_falls_by_a_quarter_of_its_distance_a_round_trip() {
        // After the first sample of 200 ms four mean deviations are 400 ms, then 300, 225, …; the
        // largest of a round trip is at least 200.
        let mut path = Sampled::new(true);
        assert_eq!(path.after(200), 600.0);
        // The first round trip began with the 400: nothing falls at its end.
        assert_eq!(path.after(200), 600.0);
        // Now the largest is 225: 400 − (400 − 225)/4.
        assert_eq!(path.after(200), 200.0 + 356.25);
        // 168.75 is below the minimum: 356.25 − (356.25 − 200)/4.
        assert_eq!(path.after(200), 200.0 + 317.187_5);
    }

    #[test]
    fn within_a_round_trip_the_variation_only_rises() {
        let mut path = Sampled::new(false);
        path.after(200);
        for _ in 0..20 {
            assert_eq!(path.after(200), 600.0);
        }
        // Four mean deviations are nearly 0 now; a sample of 1000 ms makes them a little more than its
        // distance from 200, and the smoothed RTT 300.
        let timeout = path.after(1_000);
        assert!((1_100.0..1_102.0).contains(&timeout), "{timeout}");
    }

    #[test]
    fn a_falling_rtt_counts_for_an_eighth() {
        let mut path = Sampled::new(true);
        path.after(400);
        // Four mean deviations are 800; the error of 300 ms is above their quarter by 100: 812.5. The
        // smoothed RTT is (7·400 + 100)/8.
        assert_eq!(path.after(100), 362.5 + 812.5);
    }

    #[test]
    fn the_timeout_doubles_with_each_expiry_until_data_is_acknowledged() {
        let mut path = Sampled::new(true);
        path.after(100);
        let expiries = (0..4).map(|_| {
            let timeout = path.timeout();
            path.timer.on_expiry();
            timeout
        });
        assert_eq!(
            expiries.collect::<Vec<_>>(),
            [300.0, 600.0, 1_200.0, 2_400.0]
        );
        (0..100).for_each(|_| path.timer.on_expiry());
        assert_eq!(path.timeout(), 120_000.0);
        path.timer.on_progress();
        assert_eq!(path.timeout(), 300.0);
    }
}
