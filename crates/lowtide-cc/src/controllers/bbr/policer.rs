//! Long-term bandwidth: recognises a token-bucket policer and sends at its rate.
//!
//! A policer lets bursts pass and drops the rest, so that the maximum filter stays above its rate
//! and loss stays high. Two consecutive intervals of high loss with nearly equal throughput show
//! it; their mean is then used instead of the maximum for 48 rounds (Linux
//! `bbr_lt_bw_sampling`).

use super::phase::Phase;
use crate::controller::AckEvent;
use crate::delivery_rate::RateSample;
use crate::units::{Bytes, Duration, Rate, Time};

/// Rounds of an interval (Linux `bbr_lt_intvl_min_rtts`).
const MIN_ROUNDS: u32 = 4;
/// Rounds after which an interval is given up (Linux: 4 × the minimum).
const MAX_ROUNDS: u32 = 4 * MIN_ROUNDS;
/// Loss that marks a policer, in 256ths of what was delivered: 20 % (Linux `bbr_lt_loss_thresh`).
const LOSS_THRESHOLD_256: u64 = 50;
/// Two intervals agree when their rates differ by at most 1/8 (Linux `bbr_lt_bw_ratio`).
const AGREEMENT: u64 = 8;
/// Two intervals also agree when their rates differ by at most 4 kbit/s (Linux `bbr_lt_bw_diff`).
const AGREEMENT_RATE: u64 = 4_000 / 8;
/// Rounds for which the long-term rate is used (Linux `bbr_lt_bw_max_rtts`).
const USE_ROUNDS: u32 = 48;
/// Shorter intervals say nothing (Linux: less than a millisecond).
const MIN_INTERVAL: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    in_use: bool,
    rate: Rate,
    rounds: u32,
    began_at: Time,
    began_delivered: Bytes,
    began_lost: Bytes,
}

impl Policer {
    /// The policer's rate, when one is believed in.
    #[inline]
    pub(super) fn rate(&self) -> Option<Rate> {
        self.in_use.then_some(self.rate)
    }

    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    fn begin_interval(&mut self, now: Time, sample: &RateSample) {
        self.began_at = now;
        self.began_delivered = sample.total_delivered;
        self.began_lost = sample.total_lost;
        self.rounds = 0;
    }

    /// Follows an acknowledgment; true when the long-term rate has been used long enough and
    /// ProbeBW should start again.
    pub(super) fn on_ack(
        &mut self,
        ack: &AckEvent<'_>,
        sample: &RateSample,
        round_starts: bool,
        phase: Phase,
    ) -> bool {
        if self.in_use {
            if phase == Phase::ProbeBw && round_starts {
                self.rounds += 1;
                if self.rounds >= USE_ROUNDS {
                    self.reset();
                    return true;
                }
            }
            return false;
        }
        let lossy = !ack.bytes_lost.is_zero();
        if !self.sampling {
            // Sampling begins with a loss: the policer's bucket is then empty.
            if !lossy {
                return false;
            }
            self.begin_interval(ack.now, sample);
            self.sampling = true;
        }
        if sample.app_limited {
            self.reset();
            return false;
        }
        if round_starts {
            self.rounds += 1;
        }
        if self.rounds < MIN_ROUNDS {
            return false;
        }
        if self.rounds > MAX_ROUNDS {
            self.reset();
            return false;
        }
        // An interval ends with a loss too: the bucket is empty again.
        if !lossy {
            return false;
        }
        let lost = (sample.total_lost - self.began_lost).get();
        let delivered = sample.total_delivered - self.began_delivered;
        let interval = ack.now.since(self.began_at);
        if delivered.is_zero()
            || u128::from(lost) * 256 < u128::from(delivered.get()) * u128::from(LOSS_THRESHOLD_256)
            || interval < MIN_INTERVAL
        {
            return false;
        }
        self.end_interval(ack.now, sample, Rate::from_volume(delivered, interval));
        false
    }

    fn end_interval(&mut self, now: Time, sample: &RateSample, rate: Rate) {
        let (new, old) = (rate.as_bytes_per_sec(), self.rate.as_bytes_per_sec());
        let difference = new.abs_diff(old);
        if old > 0 && (difference <= old / AGREEMENT || difference <= AGREEMENT_RATE) {
            self.rate = Rate::from_bytes_per_sec(new.midpoint(old));
            self.in_use = true;
            self.rounds = 0;
            return;
        }
        self.rate = rate;
        self.begin_interval(now, sample);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{ack, packet, rate_sample};

    /// One round of 100 kB a second, `lost` of it lost, at second `n`.
    fn round(policer: &mut Policer, n: u64, lost: u64, app_limited: bool) -> bool {
        let now = Time::ZERO + Duration::from_secs(n);
        let delivered = Bytes::new(100_000 * n);
        let sample = RateSample {
            prior_delivered: delivered,
            total_delivered: delivered,
            lost: Bytes::new(lost),
            total_lost: Bytes::new(lost * n),
            sent_at: now,
            app_limited,
            ..rate_sample(Rate::from_bytes_per_sec(300_000))
        };
        let packets = [packet(n, now)];
        let ack = AckEvent {
            bytes_acked: Bytes::new(100_000),
            bytes_lost: Bytes::new(lost),
            rate_sample: Some(sample),
            ..ack(now, Duration::ZERO, &packets)
        };
        policer.on_ack(&ack, &sample, true, Phase::ProbeBw)
    }

    #[test]
    fn two_lossy_intervals_of_equal_rate_show_a_policer_for_48_rounds() {
        let mut policer = Policer::default();
        // The loss that begins an interval begins its first round; after four it ends, another four
        // and there are two.
        let found = (1..20).find(|n| {
            round(&mut policer, *n, 30_000, false);
            policer.rate().is_some()
        });
        assert_eq!(found, Some(8));
        assert_eq!(policer.rate(), Some(Rate::from_bytes_per_sec(100_000)));
        let over = (9..100).find(|n| round(&mut policer, *n, 0, false));
        assert_eq!(over, Some(56), "48 rounds later");
        assert_eq!(policer.rate(), None);
    }

    #[test]
    fn little_loss_or_an_application_limit_shows_no_policer() {
        for (lost, app_limited) in [(15_000, false), (30_000, true)] {
            let mut policer = Policer::default();
            for n in 1..60 {
                round(&mut policer, n, lost, app_limited);
                assert_eq!(policer.rate(), None);
            }
        }
    }
}
