//! Congestion window validation: what an application that sends little may keep of its window.
//!
//! Over QUIC the window does not grow where the flow does not use it (RFC 9002 §7.8). TCP as Linux has it looks at
//! the largest flight of a window's time instead of the one at each acknowledgment (`tcp_cwnd_validate`), does not
//! count duplicate acknowledgments, and begins anew after an idle time longer than the retransmission timeout
//! (`tcp_cwnd_restart`; RFC 5681 §4.1, RFC 2861). RFC 7661, which has replaced RFC 2861, is not implemented.

use super::smoothed_rtt::SmoothedRtt;
use super::variation::RttVariation;
use crate::controller::{AckEvent, Config, PacketSent, Transport};
use crate::units::{Bytes, Duration, Time};

/// Least variation in the retransmission timeout (Linux `TCP_RTO_MIN`).
const MIN_VARIATION: Duration = Duration::from_millis(200);

/// Whether the window, not the application, limits the flow; only then may it grow (RFC 9002
/// §7.8, which knows no tolerance). In slow start half a window in use suffices, because it may double in a round
/// (Linux `tcp_is_cwnd_limited`).
pub(crate) fn is_cwnd_limited(
    ack: &AckEvent<'_>,
    cwnd: Bytes,
    max_datagram: Bytes,
    slow_start: bool,
) -> bool {
    let room = if slow_start {
        Bytes::new(cwnd.get() / 2)
    } else {
        max_datagram * 3
    };
    ack.prior_inflight + room >= cwnd
}

/// How a flow uses its window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Validation {
    transport: Transport,
    initial_window: Bytes,
    /// The flight reached the window in the window's time under way.
    is_limited: bool,
    /// The largest flight in that time.
    largest_flight: Bytes,
    /// The window's time under way ends when a packet from this number on is acknowledged.
    until: u64,
    is_over: bool,
    /// One more than the newest packet that left.
    next_sent: u64,
    /// One more than the newest that was acknowledged.
    next_acked: u64,
    /// Earlier packets are in flight than the newest that was acknowledged.
    has_gap: bool,
    /// The last acknowledgment covered the oldest packet in flight.
    advanced: bool,
    last_sent_at: Time,
    rtt: SmoothedRtt,
    variation: RttVariation,
    /// The round trip of `variation` ends when more than the packets below is acknowledged.
    round_ends_at: u64,
}

impl Validation {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            transport: config.transport,
            initial_window: config.initial_window,
            is_limited: false,
            largest_flight: Bytes::ZERO,
            until: 0,
            is_over: true,
            next_sent: 0,
            next_acked: 0,
            has_gap: false,
            advanced: false,
            last_sent_at: config.now,
            rtt: SmoothedRtt::default(),
            variation: RttVariation::new(MIN_VARIATION),
            round_ends_at: 0,
        }
    }

    /// A packet left. Returns the window that is left of `cwnd` when the flow was idle for too long.
    #[inline]
    pub(crate) fn on_packet_sent(
        &mut self,
        sent: &PacketSent,
        cwnd: Bytes,
        max_datagram: Bytes,
    ) -> Option<Bytes> {
        if self.transport == Transport::Quic {
            return None;
        }
        let idle = sent.now.since(self.last_sent_at);
        self.last_sent_at = sent.now;
        self.next_sent = sent.number.saturating_add(1);
        let was_idle = sent.inflight <= sent.bytes;
        let restarted = was_idle.then(|| self.restarted(idle, cwnd, max_datagram));
        let restarted = restarted.flatten();
        let cwnd = restarted.unwrap_or(cwnd);
        let is_limited = sent.inflight + max_datagram > cwnd;
        let grows = !self.is_limited && sent.inflight > self.largest_flight;
        if self.is_over || is_limited || grows {
            self.is_over = false;
            self.is_limited = is_limited;
            self.largest_flight = sent.inflight;
            self.until = sent.number;
        }
        restarted
    }

    /// Half of the window for each timeout that has passed, in whole packets, but not below the initial window
    /// (RFC 2861; RFC 5681 §4.1 would go there at once).
    fn restarted(&self, idle: Duration, cwnd: Bytes, max_datagram: Bytes) -> Option<Bytes> {
        if self.rtt.mean().is_zero() {
            return None;
        }
        let timeout = self.rtt.mean() + self.variation.get();
        let least = self.initial_window.min(cwnd);
        let (mut left, mut window) = (idle, cwnd);
        while left > timeout && window > least {
            left -= timeout;
            let packets = window.get() / 2 / max_datagram.get();
            window = max_datagram * packets;
        }
        (window < cwnd).then(|| window.max(least))
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &AckEvent<'_>, max_datagram: Bytes) {
        if self.transport == Transport::Quic {
            return;
        }
        let (Some(first), Some(last)) = (ack.packets.first(), ack.packets.last()) else {
            return;
        };
        self.is_over |= last.number >= self.until;
        let is_next = first.number == self.next_acked && !self.has_gap;
        let fills_gap = first.number < self.next_acked;
        self.next_acked = self.next_acked.max(last.number.saturating_add(1));
        if let Some(rtt) = ack.rtt {
            self.on_sample(rtt);
        }
        // More is in flight than has left since the newest that arrived.
        let since = self.next_sent.saturating_sub(self.next_acked);
        self.has_gap = ack.inflight > max_datagram * since;
        self.advanced = is_next || fills_gap || !self.has_gap;
    }

    #[inline]
    fn on_sample(&mut self, rtt: Duration) {
        if self.rtt.mean().is_zero() {
            self.variation.on_first_sample(rtt);
            self.round_ends_at = self.next_sent;
        } else {
            self.variation.on_sample(rtt, self.rtt.mean());
            if self.next_acked > self.round_ends_at {
                self.variation.on_round_end();
                self.round_ends_at = self.next_sent;
            }
        }
        self.rtt.update(rtt);
    }

    /// Whether the window may grow for an acknowledgment.
    #[inline]
    pub(crate) fn allows_growth(
        &self,
        ack: &AckEvent<'_>,
        cwnd: Bytes,
        max_datagram: Bytes,
        slow_start: bool,
    ) -> bool {
        match self.transport {
            Transport::Quic => is_cwnd_limited(ack, cwnd, max_datagram, slow_start),
            Transport::Tcp => {
                // Duplicate acknowledgments do not raise the window (RFC 5681 §3.2, Linux
                // `tcp_may_raise_cwnd`).
                self.advanced && (self.is_limited || (slow_start && cwnd < self.largest_flight * 2))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{MSS, ack, ms, packet, sent};

    /// A flow of packets of one size whose window is given to each call.
    struct Flow {
        validation: Validation,
        now: Time,
        next: u64,
        inflight: u64,
        rtt: Duration,
    }

    impl Flow {
        fn over(transport: Transport) -> Self {
            let mut config = Config::for_datagram(MSS);
            config.transport = transport;
            Self {
                validation: Validation::new(&config),
                now: Time::ZERO,
                next: 0,
                inflight: 0,
                rtt: Duration::from_millis(40),
            }
        }

        fn pass(&mut self, span: u64) {
            self.now += ms(span);
        }

        /// Sends `packets` at once with a window of `cwnd` packets; the window that an idle time left.
        fn send(&mut self, packets: u64, cwnd: u64) -> Option<u64> {
            let mut restarted = None;
            for _ in 0..packets {
                self.inflight += 1;
                let sent = sent(self.now, self.next, MSS * self.inflight);
                self.next += 1;
                let window = self.validation.on_packet_sent(&sent, MSS * cwnd, MSS);
                restarted = restarted.or(window);
            }
            restarted.map(|window| window.get() / MSS.get())
        }

        /// Packet `number` is acknowledged; whether a window of `cwnd` packets may grow.
        fn ack(&mut self, number: u64, cwnd: u64, slow_start: bool) -> bool {
            let packets = [packet(number, self.now)];
            self.inflight -= 1;
            let ack = AckEvent {
                prior_inflight: MSS * (self.inflight + 1),
                inflight: MSS * self.inflight,
                ..ack(self.now, self.rtt, &packets)
            };
            self.validation.on_ack(&ack, MSS);
            let cwnd = MSS * cwnd;
            self.validation.allows_growth(&ack, cwnd, MSS, slow_start)
        }
    }

    #[test]
    fn over_tcp_the_tail_of_a_flight_raises_the_window_as_its_head_does() {
        for (transport, tail) in [(Transport::Tcp, true), (Transport::Quic, false)] {
            let mut flow = Flow::over(transport);
            flow.send(10, 10);
            let mut grew = [false; 10];
            for (n, grew) in grew.iter_mut().enumerate() {
                *grew = flow.ack(n as u64, 10, true);
            }
            assert_eq!((grew[0], grew[9]), (true, tail), "{transport:?}");
        }
        // Linux: in slow start below twice the flight, in congestion avoidance only a full window.
        let mut flow = Flow::over(Transport::Tcp);
        flow.send(10, 30);
        assert!(flow.ack(0, 19, true) && !flow.ack(1, 20, true) && !flow.ack(2, 11, false));
    }

    #[test]
    fn over_tcp_the_window_does_not_grow_while_an_earlier_packet_is_missing() {
        let mut flow = Flow::over(Transport::Tcp);
        flow.send(10, 10);
        let grew = [0, 2, 3, 1, 4].map(|n| flow.ack(n, 10, true));
        assert_eq!(grew, [true, false, false, true, true]);
    }

    #[test]
    fn over_tcp_each_timeout_of_idle_time_halves_the_window_down_to_the_initial_one() {
        let idle = |transport, ms| {
            let mut flow = Flow::over(transport);
            flow.send(1, 80);
            for n in 0..50 {
                flow.pass(40);
                flow.ack(n, 80, true);
                flow.send(1, 80);
            }
            flow.pass(40);
            flow.ack(50, 80, true);
            flow.pass(ms);
            flow.send(1, 80)
        };
        // The timeout is 240 ms, and the last packet left 40 ms before the silence.
        let windows = [199, 201, 500, 2_000].map(|ms| idle(Transport::Tcp, ms));
        assert_eq!(windows, [None, Some(40), Some(20), Some(10)]);
        assert_eq!(idle(Transport::Quic, 2_000), None);
    }

    #[test]
    fn over_tcp_a_queue_that_has_emptied_does_not_lengthen_the_timeout() {
        let mut flow = Flow::over(Transport::Tcp);
        flow.send(1, 80);
        let rtts = [300; 40].into_iter().chain([100; 5]);
        for (n, ms) in rtts.enumerate() {
            flow.rtt = Duration::from_millis(ms);
            flow.pass(ms);
            flow.ack(n as u64, 80, true);
            flow.send(1, 80);
        }
        flow.pass(100);
        flow.ack(45, 80, true);
        flow.pass(800);
        // Linux's timeout is 390 ms; RFC 6298's would be 630.
        assert_eq!(flow.send(1, 80), Some(20));
    }
}
