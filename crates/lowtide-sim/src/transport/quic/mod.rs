//! QUIC's loss recovery (RFC 9002).

mod ack;
mod loss;
mod pto;

use lowtide_cc::controller::TimeoutKind;
use lowtide_cc::units::{Duration, Time};

use self::loss::LossDetection;
use self::pto::ProbeTimeout;
use super::connection::Connection;
use super::expiry::{Expiry, Repeat};
use super::ranges::Range;
use super::receiver::Ack;

#[derive(Debug)]
pub(super) struct Quic {
    loss: LossDetection,
    pto: ProbeTimeout,
    /// Packets sent before the first RTT sample cannot show persistent congestion (§7.6.2).
    first_rtt_sample_at: Option<Time>,
}

impl Quic {
    /// `max_ack_delay`: what the peer announced as its longest acknowledgment delay.
    pub(super) fn new(max_ack_delay: Duration) -> Self {
        Self {
            loss: LossDetection::default(),
            pto: ProbeTimeout::new(max_ack_delay),
            first_rtt_sample_at: None,
        }
    }

    #[inline]
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        new: &[Range],
        connection: &mut Connection,
    ) -> Option<Duration> {
        let sample = ack::take_in(now, ack, new, connection, &mut self.loss);
        if let Some(sample) = sample {
            self.first_rtt_sample_at.get_or_insert(now);
            // RFC 9002 §5.3: the handshake is taken for confirmed.
            let delay = ack.delay.min(self.pto.max_ack_delay());
            connection.rtt.update(sample, delay);
        }
        if connection.driver.has_acked() {
            self.pto.on_progress();
        }
        sample
    }

    #[inline]
    pub(super) fn detect_losses(
        &mut self,
        now: Time,
        connection: &Connection,
        lost: &mut Vec<u64>,
    ) -> Option<TimeoutKind> {
        let (board, rtt) = (&connection.board, &connection.rtt);
        self.loss.detect(now, board, rtt, lost);
        let first_rtt_sample_at = self.first_rtt_sample_at.filter(|_| !lost.is_empty())?;
        let duration = loss::persistent_congestion_duration(self.pto.duration(rtt));
        loss::spans_persistent_congestion(lost, board, first_rtt_sample_at, duration)
            .then_some(TimeoutKind::PersistentCongestion)
    }

    #[inline]
    pub(super) fn loss_time(&self) -> Option<Time> {
        self.loss.loss_time()
    }

    #[inline]
    pub(super) fn timeout_at(&self, connection: &Connection) -> Time {
        self.pto
            .expires_at(&connection.rtt, connection.last_sent_at)
    }

    pub(super) fn on_timeout(&mut self) -> Expiry {
        Expiry::Probe {
            packets: self.pto.on_expiry(),
            // After lost and new data (§6.2.4).
            repeat: Repeat::Oldest,
        }
    }
}
