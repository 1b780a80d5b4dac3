//! One path of a QUIC stack: the driver of its controller, and what such a stack tells piecemeal.

use std::sync::Arc;

use lowtide_cc::Controller;
use lowtide_cc::controller::{Feedback, PeerSignal, TimeoutKind};
use lowtide_cc::units::{Bytes, Duration, Time};

use crate::driver::{Driver, RoundTrip};
use crate::flight::Sent;
use crate::observer::{Observation, Observer};
use crate::timestamps::Report;

/// A controller on one path of a QUIC connection.
#[derive(Debug)]
pub struct Path {
    driver: Driver,
    observer: Option<Arc<dyn Observer>>,
    next_number: u64,
    smoothed_rtt: Duration,
    min_rtt: Duration,
    /// When the losses were found that the controller has not been told of: stacks name them one by
    /// one, the controller wants them together.
    lost_at: Time,
    /// The time of the last event.
    advanced_to: Time,
}

impl Path {
    /// A path on which nothing has been sent.
    #[must_use]
    pub fn new(controller: Box<dyn Controller>) -> Self {
        Self {
            driver: Driver::new(controller),
            observer: None,
            next_number: 0,
            smoothed_rtt: Duration::ZERO,
            min_rtt: Duration::MAX,
            lost_at: Time::ZERO,
            advanced_to: Time::ZERO,
        }
    }

    /// Whether both ends speak RBBR's extension, for observers.
    #[inline]
    pub fn set_negotiated(&mut self, negotiated: bool) {
        self.driver.set_negotiated(negotiated);
    }

    /// Sets the observer; `None` removes it.
    pub fn set_observer(&mut self, observer: Option<Arc<dyn Observer>>) {
        self.observer = observer;
    }

    /// The controller.
    #[inline]
    #[must_use]
    pub fn core(&self) -> &dyn Controller {
        self.driver.controller()
    }

    /// What the peer's estimator should know. A pause of the application is one of our own making,
    /// regardless of what the controller knows of it.
    #[inline]
    #[must_use]
    pub fn peer_signal(&self, is_app_limited: bool) -> Option<PeerSignal> {
        let signal = self.core().peer_signal()?;
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
        self.driver.inflight()
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

    /// Time passes: losses are reported and wake-ups made. Stacks give their controllers no timer, so
    /// that wake-ups come with the next event.
    #[inline]
    pub fn advance(&mut self, now: Time, feedback: Option<Feedback>) {
        self.report_losses();
        self.driver.wake(self.advanced_to, now);
        self.advanced_to = now;
        if let Some(feedback) = feedback {
            self.driver.on_feedback(&feedback);
        }
    }

    /// A packet of `bytes` leaves, whose number in the transport is `wire_number`. One of zero
    /// bytes does not count as in flight (RFC 9002 §2) and the controller is not told.
    #[inline]
    pub fn on_sent(&mut self, now: Time, wire_number: Option<u64>, bytes: Bytes) -> Sent {
        let number = self.next_number;
        self.next_number += 1;
        let rate_state = if bytes.is_zero() {
            self.driver.on_sent_uncounted(now)
        } else {
            let (sent, rate_state) = self.driver.on_sent(now, number, bytes);
            if let Some(observer) = &self.observer {
                observer.on_sent(&sent);
            }
            rate_state
        };
        Sent::new(number, wire_number, bytes, now, rate_state)
    }

    /// The application has nothing more to send although it may.
    #[inline]
    pub fn on_app_limited(&mut self) {
        self.driver.on_app_limited();
    }

    /// The transport took a sample of the RTT.
    #[inline]
    pub fn on_rtt(&mut self, sample: Duration, smoothed: Duration) {
        self.min_rtt = self.min_rtt.min(sample);
        self.smoothed_rtt = smoothed;
    }

    /// A packet was declared lost. The controller is told together with the others of this time.
    pub fn on_lost(&mut self, now: Time, sent: &Sent) {
        if self.lost_at != now {
            self.report_losses();
        }
        self.lost_at = now;
        self.driver.note_lost(&sent.packet());
    }

    /// The losses of this time make up persistent congestion (RFC 9002 §7.6).
    pub fn on_persistent_congestion(&mut self) {
        if self.driver.has_lost() {
            self.driver.note_timeout(TimeoutKind::PersistentCongestion);
        }
    }

    /// Tells the controller of the losses that it has not been told of.
    #[inline]
    pub fn report_losses(&mut self) {
        let observer = self.observer.as_deref();
        self.driver
            .report_losses(self.lost_at, |seen| show(observer, &seen));
    }

    /// An acknowledgment newly covers `acked`, in the order of their numbers, and may bring feedback.
    /// `rtt`: the sample that it gives; `arrivals`: what the peer reports of the packets, by their numbers
    /// in the transport.
    pub fn on_acked(
        &mut self,
        now: Time,
        acked: &[Sent],
        rtt: Option<Duration>,
        feedback: Option<Feedback>,
        arrivals: Option<&Report>,
    ) {
        if self.lost_at != now {
            self.report_losses();
        }
        for sent in acked {
            let received_at = arrivals.and_then(|report| report.received_at(sent.wire_number?));
            self.driver.note_acked(now, &sent.packet(), received_at);
        }
        self.advance(now, feedback);
        let rtt = RoundTrip {
            sample: rtt,
            smoothed: self.smoothed_rtt,
            min: self.min_rtt,
        };
        let observer = self.observer.as_deref();
        self.driver.settle(now, rtt, |seen| show(observer, &seen));
    }

    /// The peer reported so many packets newly marked ECN-CE. The controller is told with the next
    /// acknowledgment of packets in flight, mostly that which reported them.
    pub fn on_marked(&mut self, packets: u64) {
        self.driver.note_marked(packets);
    }

    /// The path carries packets of another size.
    pub fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.driver.on_mtu_change(max_datagram);
    }

    /// Bytes are no longer in flight, neither acknowledged nor lost.
    pub fn on_discarded(&mut self, bytes: Bytes) {
        self.driver.on_discarded(bytes);
    }
}

#[inline]
fn show(observer: Option<&dyn Observer>, seen: &Observation<'_>) {
    if let Some(observer) = observer {
        seen.show(observer);
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::controllers::window::ConstantWindow;
    use lowtide_cc::units::Rate;
    use lowtide_cc::{Config, Wrap, registry};

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
                path.on_rtt(RTT, RTT);
                path.on_acked(at(ms), &[acked], Some(RTT), None, None);
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
    struct Sleepless(ConstantWindow);

    impl Wrap for Sleepless {
        type Inner = ConstantWindow;

        fn inner(&self) -> &ConstantWindow {
            &self.0
        }

        fn inner_mut(&mut self) -> &mut ConstantWindow {
            &mut self.0
        }

        fn next_wakeup(&self) -> Option<Time> {
            Some(Time::ZERO)
        }
    }

    #[test]
    fn a_controller_that_asks_for_wakeups_without_end_does_not_hold_its_connection_up() {
        let window = ConstantWindow::new(&Config::default(), 1);
        let mut path = Path::new(Box::new(Sleepless(window)));
        path.advance(at(1), None);
        assert!(path.is_unused());
    }
}
