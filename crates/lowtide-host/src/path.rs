//! One path's controller, and what its host must keep for it.

use std::sync::Arc;

use lowtide_cc::Controller;
use lowtide_cc::controller::{
    AckEvent, AckedPacket, Feedback, LossEvent, LostPacket, PacketSent, PeerSignal, TimeoutEvent,
    TimeoutKind,
};
use lowtide_cc::delivery_rate::DeliveryRateSampler;
use lowtide_cc::units::{Bytes, Duration, Time};

use crate::flight::Sent;
use crate::observer::{AckSeen, LossSeen, Observer};

/// Wake-ups that are made up for at once: ten seconds of BBR-S's steps. A controller that asks for
/// more must not hold its connection up.
const MOST_WAKEUPS: u32 = 1_000;

/// Packets declared lost that the controller has not been told of: transports name them one by one,
/// the core wants them together.
#[derive(Debug, Default)]
struct Losses {
    at: Time,
    packets: Vec<LostPacket>,
    persistent_congestion: bool,
    /// Bytes in flight before the first of them.
    prior_inflight: Bytes,
}

/// A controller on one path, told in the core's order: the losses of an acknowledgment first.
#[derive(Debug)]
pub struct Path {
    core: Box<dyn Controller>,
    observer: Option<Arc<dyn Observer>>,
    sampler: DeliveryRateSampler,
    next_number: u64,
    inflight: Bytes,
    smoothed_rtt: Duration,
    min_rtt: Duration,
    losses: Losses,
    bytes_lost_since_ack: Bytes,
    /// The time of the last event.
    advanced_to: Time,
    // Reused from event to event.
    acked: Vec<AckedPacket>,
}

impl Path {
    /// A path on which nothing has been sent.
    #[must_use]
    pub fn new(core: Box<dyn Controller>) -> Self {
        Self {
            core,
            observer: None,
            sampler: DeliveryRateSampler::new(),
            next_number: 0,
            inflight: Bytes::ZERO,
            smoothed_rtt: Duration::ZERO,
            min_rtt: Duration::MAX,
            losses: Losses::default(),
            bytes_lost_since_ack: Bytes::ZERO,
            advanced_to: Time::ZERO,
            acked: Vec::new(),
        }
    }

    /// Who watches from now on.
    pub fn set_observer(&mut self, observer: Option<Arc<dyn Observer>>) {
        self.observer = observer;
    }

    /// The controller.
    #[inline]
    #[must_use]
    pub fn core(&self) -> &dyn Controller {
        &*self.core
    }

    /// What the peer's estimator should know. A pause of the application is one of our own making,
    /// whatever the controller knows of it.
    #[inline]
    #[must_use]
    pub fn peer_signal(&self, is_app_limited: bool) -> Option<PeerSignal> {
        let signal = self.core.peer_signal()?;
        Some(if is_app_limited {
            PeerSignal::Suspend
        } else {
            signal
        })
    }

    /// Bytes sent and neither acknowledged nor lost.
    #[inline]
    #[must_use]
    pub fn inflight(&self) -> Bytes {
        self.inflight
    }

    /// The transport's smoothed RTT; zero before the first sample.
    #[inline]
    #[must_use]
    pub fn smoothed_rtt(&self) -> Duration {
        self.smoothed_rtt
    }

    /// Whether no packet has left yet.
    #[must_use]
    pub fn is_unused(&self) -> bool {
        self.next_number == 0
    }

    /// Time passes: losses are reported and wake-ups made.
    ///
    /// Transports give their controllers no timer, so that wake-ups come with the next event. Each is
    /// then made up for at its own time: BBR-S counts the steps of a silence, and one for all of them
    /// would make it believe in the old rate after an outage.
    #[inline]
    pub fn advance(&mut self, now: Time, feedback: Option<Feedback>) {
        self.report_losses();
        if self.core.next_wakeup().is_some_and(|at| at <= now) {
            self.make_wakeups(now);
        }
        self.advanced_to = now;
        if let Some(feedback) = feedback {
            self.core.on_feedback(&feedback);
        }
    }

    fn make_wakeups(&mut self, now: Time) {
        for _ in 0..MOST_WAKEUPS {
            match self.core.next_wakeup() {
                Some(at) if at <= now => self.core.on_wakeup(at.max(self.advanced_to)),
                _ => return,
            }
        }
        self.core.on_wakeup(now);
    }

    /// A packet of `bytes` leaves, whose number in the transport is `wire_number`. One of zero bytes
    /// does not count as in flight (RFC 9002 §2) and the controller does not hear of it.
    #[inline]
    pub fn on_sent(&mut self, now: Time, wire_number: Option<u64>, bytes: Bytes) -> Sent {
        let number = self.next_number;
        self.next_number += 1;
        let app_limited = self.sampler.is_app_limited();
        let rate_state = self.sampler.on_packet_sent(now, bytes, self.inflight);
        if !bytes.is_zero() {
            self.inflight += bytes;
            let sent = PacketSent {
                now,
                number,
                bytes,
                inflight: self.inflight,
                app_limited,
            };
            self.core.on_packet_sent(&sent);
            if let Some(observer) = &self.observer {
                observer.on_sent(&sent);
            }
        }
        Sent::new(number, wire_number, bytes, now, rate_state)
    }

    /// The application has nothing more to send although it may.
    #[inline]
    pub fn on_app_limited(&mut self) {
        self.sampler.on_app_limited(self.inflight);
    }

    /// The transport took a sample of the RTT.
    #[inline]
    pub fn on_rtt(&mut self, sample: Duration, smoothed: Duration) {
        self.min_rtt = self.min_rtt.min(sample);
        self.smoothed_rtt = smoothed;
    }

    /// A packet was declared lost. The controller hears of it together with the others of this time.
    pub fn on_lost(&mut self, now: Time, sent: &Sent) {
        if !self.losses.packets.is_empty() && self.losses.at != now {
            self.report_losses();
        }
        if self.losses.packets.is_empty() {
            self.losses.at = now;
            self.losses.prior_inflight = self.inflight;
        }
        self.inflight -= sent.bytes;
        let lost = self.sampler.on_packet_lost(sent.bytes, &sent.rate_state);
        self.losses.packets.push(LostPacket {
            number: sent.number,
            bytes: sent.bytes,
            sent_at: sent.at,
            sent_inflight: sent.rate_state.inflight,
            lost,
            app_limited: sent.rate_state.app_limited,
        });
    }

    /// The losses of this time make up persistent congestion (RFC 9002 §7.6).
    pub fn on_persistent_congestion(&mut self) {
        self.losses.persistent_congestion = true;
    }

    /// Tells the controller of the losses that it has not been told of.
    #[inline]
    pub fn report_losses(&mut self) {
        if !self.losses.packets.is_empty() {
            self.report_some_losses();
        }
    }

    fn report_some_losses(&mut self) {
        let losses = &mut self.losses;
        let bytes_lost: Bytes = losses.packets.iter().map(|p| p.bytes).sum();
        losses.packets.sort_unstable_by_key(|p| p.number);
        self.core.on_loss(&LossEvent {
            now: losses.at,
            packets: &losses.packets,
            bytes_lost,
            inflight: self.inflight,
        });
        if std::mem::take(&mut losses.persistent_congestion) {
            self.core.on_timeout(&TimeoutEvent {
                now: losses.at,
                kind: TimeoutKind::PersistentCongestion,
                inflight: self.inflight,
            });
        }
        self.bytes_lost_since_ack += bytes_lost;
        if let Some(observer) = &self.observer {
            observer.on_loss(&LossSeen {
                now: losses.at,
                packets: &losses.packets,
                bytes: bytes_lost,
                inflight: self.inflight,
            });
        }
        losses.packets.clear();
    }

    /// Bytes in flight before what an acknowledgment at `now` changes; to be asked before anything
    /// else is done with it.
    #[inline]
    #[must_use]
    pub fn prior_inflight(&self, now: Time) -> Bytes {
        if !self.losses.packets.is_empty() && self.losses.at == now {
            self.losses.prior_inflight
        } else {
            self.inflight
        }
    }

    /// An acknowledgment newly covers `acked`, in the order of their numbers. `rtt`: the sample that
    /// it gives; see [`prior_inflight`](Self::prior_inflight).
    pub fn on_acked(
        &mut self,
        now: Time,
        acked: &[Sent],
        rtt: Option<Duration>,
        prior_inflight: Bytes,
    ) {
        if acked.is_empty() {
            return;
        }
        self.acked.clear();
        let mut bytes_acked = Bytes::ZERO;
        for sent in acked {
            bytes_acked += sent.bytes;
            self.sampler
                .on_packet_acked(now, sent.bytes, sent.at, &sent.rate_state);
            self.acked.push(AckedPacket {
                number: sent.number,
                bytes: sent.bytes,
                sent_at: sent.at,
            });
        }
        self.inflight -= bytes_acked;
        let min_rtt = if self.min_rtt == Duration::MAX {
            Duration::ZERO
        } else {
            self.min_rtt
        };
        self.core.on_ack(&AckEvent {
            now,
            packets: &self.acked,
            bytes_acked,
            bytes_lost: std::mem::take(&mut self.bytes_lost_since_ack),
            rtt,
            prior_inflight,
            inflight: self.inflight,
            rate_sample: self.sampler.sample(min_rtt),
        });
        if let Some(observer) = &self.observer {
            observer.on_ack(&AckSeen {
                now,
                rtt,
                packets: &self.acked,
                smoothed_rtt: self.smoothed_rtt,
                inflight: self.inflight,
                controller: &*self.core,
            });
        }
    }

    /// The peer reported packets newly marked ECN-CE; `sent_at`: when the newest acknowledged packet
    /// was sent.
    pub fn on_ecn_ce(&mut self, now: Time, sent_at: Time, marked_packets: u64) {
        self.core.on_ecn_ce(now, sent_at, marked_packets);
    }

    /// The path carries packets of another size.
    pub fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.core.on_mtu_change(max_datagram);
    }

    /// Bytes are no longer in flight, neither acknowledged nor lost.
    pub fn on_discarded(&mut self, bytes: Bytes) {
        self.inflight -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::controller::{Config, Snapshot};
    use lowtide_cc::registry;
    use lowtide_cc::units::Rate;

    use super::*;

    const PACKET: Bytes = Bytes::new(1_200);
    const RTT: Duration = Duration::from_millis(40);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// One packet a millisecond for three seconds, and then 0.4 s in which nothing comes back.
    /// `is_punctual`: time passes for the path each millisecond, and not only with events.
    fn bandwidth_after_silence(is_punctual: bool) -> (Rate, Rate) {
        let controller = registry::parse("bbr-s")
            .unwrap()
            .build(&Config::for_datagram(PACKET));
        let mut path = Path::new(controller);
        let mut flight = Vec::new();
        let bandwidth = |path: &Path| path.core().snapshot().bandwidth.unwrap();
        for ms in 0..3_000 {
            if ms >= 40 {
                let acked = flight.remove(0);
                let inflight = path.prior_inflight(at(ms));
                path.advance(at(ms), None);
                path.on_rtt(RTT, RTT);
                path.on_acked(at(ms), &[acked], Some(RTT), inflight);
            }
            path.advance(at(ms), None);
            flight.push(path.on_sent(at(ms), None, PACKET));
        }
        let before = bandwidth(&path);
        for ms in 3_000..3_400 {
            if is_punctual {
                path.advance(at(ms), None);
            }
        }
        path.advance(at(3_400), None);
        (before, bandwidth(&path))
    }

    #[test]
    fn a_silence_lowers_the_estimate_as_much_as_if_the_host_had_a_timer() {
        let punctual = bandwidth_after_silence(true);
        let (before, after) = punctual;
        assert!(after < before.mul_f64(0.5), "{before} and then {after}");
        assert_eq!(bandwidth_after_silence(false), punctual);
    }

    /// Wants to be woken up all the time.
    #[derive(Debug)]
    struct Sleepless;

    impl Controller for Sleepless {
        fn on_packet_sent(&mut self, _: &PacketSent) {}
        fn on_ack(&mut self, _: &AckEvent<'_>) {}
        fn on_loss(&mut self, _: &LossEvent<'_>) {}
        fn on_timeout(&mut self, _: &TimeoutEvent) {}
        fn on_mtu_change(&mut self, _: Bytes) {}
        fn next_wakeup(&self) -> Option<Time> {
            Some(Time::ZERO)
        }
        fn cwnd(&self) -> Bytes {
            PACKET
        }
        fn pacing_rate(&self) -> Option<Rate> {
            None
        }
        fn send_quantum(&self) -> Bytes {
            PACKET
        }
        fn snapshot(&self) -> Snapshot {
            Snapshot::default()
        }
    }

    #[test]
    fn a_controller_that_asks_for_wakeups_without_end_does_not_hold_its_connection_up() {
        let mut path = Path::new(Box::new(Sleepless));
        path.advance(at(1), None);
        assert!(path.is_unused());
    }
}
