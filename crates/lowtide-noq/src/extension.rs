//! RBBR's feedback in DATAGRAM frames.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes as Payload;
use lowtide_cc::controller::PeerSignal;
use lowtide_cc::controllers::rbbr::frame::{Frame, LENGTH};
use lowtide_cc::controllers::rbbr::{Receiver, ReceiverConfig};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_host::Clock;
use noq_proto::ConnectionStats;
use noq_proto::congestion::Controller;

use crate::exchange::Exchange;
use crate::host::Host;

/// RBBR's extension on one connection, for both roles: as a sender of data it tells the peer
/// whether the path limits it, as a receiver it estimates and reports. Both ends need one, which an
/// application negotiates, for example by ALPN; a peer without it would find datagrams that it does
/// not know.
///
/// [`run`](crate::run) does this on a connection of `noq`. An application that drives `noq-proto`,
/// or sends datagrams of its own, calls it itself, in this order for each event of the connection:
///
/// 1. [`on_datagram`](Self::on_datagram) for each datagram received; `false`: it is not the
///    extension's;
/// 2. [`on_received`](Self::on_received), with the connection's statistics: after each packet or,
///    less exactly, several times in each sampling interval (10 ms);
/// 3. sends what [`poll_datagram`](Self::poll_datagram) returns.
#[derive(Debug)]
pub struct Extension {
    /// None when the connection's controller is not ours.
    exchange: Option<Arc<Exchange>>,
    receiver: Receiver,
    clock: Clock,
    interval: Duration,
    /// What had been received at the last call.
    seen: Seen,
    /// Datagrams of this extension among it.
    own_datagrams: u64,
    has_arrivals: bool,
    feedback_at: Time,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    bytes: u64,
    data_frames: u64,
}

impl Extension {
    /// The extension of the connection whose controller this is a copy of:
    /// `connection.congestion_state(PathId::ZERO)`. Its estimator has the settings of
    /// [`Factory::with_receiver`](crate::Factory::with_receiver). With a controller that is
    /// not Lowtide's, the extension only estimates for the peer, with the default settings.
    #[must_use]
    pub fn new(controller: Box<dyn Controller>) -> Self {
        let host = host_of(controller);
        let receiver = host
            .as_ref()
            .map_or(ReceiverConfig::DEFAULT, |h| h.receiver());
        Self {
            exchange: host.map(|h| h.exchange().clone()),
            receiver: Receiver::new(&receiver),
            clock: Clock::default(),
            interval: receiver.interval,
            seen: Seen::default(),
            own_datagrams: 0,
            has_arrivals: false,
            feedback_at: Time::ZERO,
        }
    }

    /// The connection has a new path; `controller` is a copy of its controller.
    pub fn set_controller(&mut self, controller: Box<dyn Controller>) {
        self.exchange = host_of(controller).map(|h| h.exchange().clone());
    }

    #[cfg(feature = "noq")]
    pub(crate) fn exchange(&self) -> Option<Arc<Exchange>> {
        self.exchange.clone()
    }

    /// A datagram arrived; `false` when it is not one of this extension's, which all have 10 bytes.
    pub fn on_datagram(&mut self, now: Instant, payload: &[u8]) -> bool {
        self.clock.time(now);
        let Some(frame) = Frame::decode(payload).filter(|_| payload.len() == LENGTH) else {
            return false;
        };
        self.own_datagrams = self.own_datagrams.saturating_add(1);
        self.receiver.on_signal(frame.signal);
        if let Some(exchange) = &self.exchange {
            exchange.on_frame();
            if !frame.rate.is_zero() {
                exchange.on_feedback(frame.rate);
            }
        }
        true
    }

    /// Takes what the connection has received until now. Only intervals in which data came count:
    /// lone acknowledgments do not show what the path carries.
    pub fn on_received(&mut self, now: Instant, stats: &ConnectionStats) {
        let frames = stats
            .frame_rx
            .stream
            .saturating_add(stats.frame_rx.datagram.saturating_sub(self.own_datagrams));
        let seen = Seen {
            bytes: stats.udp_rx.bytes,
            data_frames: frames.max(self.seen.data_frames),
        };
        let before = std::mem::replace(&mut self.seen, seen);
        if seen.data_frames > before.data_frames {
            let now = self.clock.time(now);
            let bytes = Bytes::new(seen.bytes.saturating_sub(before.bytes));
            self.receiver.on_packet(now, bytes);
            self.has_arrivals = true;
        }
    }

    /// The payload of the next datagram to send, if one is due.
    pub fn poll_datagram(&mut self, now: Instant) -> Option<Payload> {
        let now = self.clock.time(now);
        let feedback = self.feedback(now);
        let signal_due = self.exchange.as_ref().is_some_and(|e| e.is_signal_due());
        if feedback.is_none() && !signal_due {
            return None;
        }
        let frame = Frame {
            signal: self
                .exchange
                .as_ref()
                .map_or(PeerSignal::Suspend, |e| e.tell()),
            rate: feedback
                .or_else(|| self.receiver.estimate())
                .unwrap_or(Rate::ZERO),
        };
        Some(Payload::copy_from_slice(&frame.encode()))
    }

    /// Feedback is due with each sample, subject to the receiver's schedule.
    fn feedback(&mut self, now: Time) -> Option<Rate> {
        let is_due = self.has_arrivals
            && !self.receiver.is_suspended()
            && now.since(self.feedback_at) >= self.interval;
        if !is_due {
            return None;
        }
        self.has_arrivals = false;
        self.feedback_at = now;
        self.receiver.feedback_for_ack(now)
    }

    /// The estimate of what the path to here carries; `None` before the first sample.
    #[must_use]
    pub fn estimate(&self) -> Option<Rate> {
        self.receiver.estimate()
    }

    /// Whether the peer sends data that should be sampled.
    #[must_use]
    pub fn is_sampling(&self) -> bool {
        !self.receiver.is_suspended()
    }

    /// The sampling interval.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.interval
    }
}

/// The controller's host; `None` when the controller is not ours.
fn host_of(controller: Box<dyn Controller>) -> Option<Box<Host>> {
    controller.into_any().downcast().ok()
}
