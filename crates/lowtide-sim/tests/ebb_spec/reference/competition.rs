//! §11: competition.

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_cc::{Config, Controller, Transport, registry};

#[derive(Debug, Default)]
pub(super) struct Competition {
    pub(super) cubic: Option<Box<dyn Controller>>,
    pub(super) evidence: u32,
    lost_at: Time,
    overflow_at: Option<Time>,
    barred_until: Time,
    left_rtt: Duration,
    same: u32,
}

/// What a drain showed.
pub(super) struct Drained {
    pub(super) q: Duration,
    pub(super) explained: Duration,
    pub(super) busy: bool,
    pub(super) shortened: bool,
    pub(super) min_rtt: Duration,
    /// ⌊target()⌋.
    pub(super) target: Bytes,
    pub(super) packet: Bytes,
}

impl Competition {
    pub(super) fn is_on(&self) -> bool {
        self.cubic.is_some()
    }

    pub(super) fn lost(&mut self, now: Time, queued: bool) {
        self.lost_at = now;
        if queued {
            self.overflow_at = Some(now);
        }
    }

    pub(super) fn looks(&self, now: Time, drain_ended: Time, min_rtt: Duration) -> bool {
        let since = now.since(drain_ended);
        self.is_on()
            && (since > Duration::from_secs(4).max(min_rtt * 25)
                || self.evidence > 0 && since > Duration::from_secs(1).max(min_rtt * 10))
    }

    /// Whether the mode has changed; and whether for a longer path.
    pub(super) fn drained(&mut self, now: Time, drained: &Drained) -> Option<bool> {
        let Drained { q, min_rtt, .. } = *drained;
        if self.is_on() {
            let empty = q < min_rtt.mul_f64(0.05);
            self.evidence = if empty && !drained.shortened {
                self.evidence + 1
            } else {
                0
            };
            let r = min_rtt + q;
            self.same = if (r.ratio(self.left_rtt) - 1.0).abs() <= 0.01 && !empty {
                self.same + 1
            } else {
                0
            };
            self.left_rtt = r;
            let longer = self.same >= 3;
            let unopposed = !empty && now.since(self.lost_at) > Duration::from_secs(15);
            if unopposed {
                self.barred_until = now + Duration::from_secs(60);
            }
            if longer || unopposed || self.evidence >= 2 {
                self.cubic = None;
                self.evidence = 0;
                return Some(longer);
            }
            return None;
        }
        let bound = min_rtt.mul_f64(0.15) + Duration::from_millis(5) + drained.explained;
        let failed = drained.busy && q > bound;
        self.evidence = if failed {
            (self.evidence + 1).min(8)
        } else {
            self.evidence.saturating_sub(2)
        };
        let recent = |at: Time| now.since(at) < Duration::from_secs(60);
        if failed
            && self.evidence >= 3
            && self.overflow_at.is_some_and(recent)
            && now >= self.barred_until
        {
            let config = Config {
                max_datagram: drained.packet,
                initial_window: drained.target,
                now,
                seed: 0,
                transport: Transport::Quic,
            };
            self.cubic = Some(registry::build("cubic:hystart=false", &config).unwrap());
            self.evidence = 0;
            self.lost_at = now;
            self.left_rtt = Duration::ZERO;
            self.same = 0;
            return Some(false);
        }
        None
    }
}
