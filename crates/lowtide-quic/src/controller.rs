//! The host: turns what s2n-quic tells a congestion controller into the core's events.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lowtide_cc::controller::{
    AckEvent, AckedPacket, Feedback, LossEvent, LostPacket, PacketSent, PeerSignal, TimeoutEvent,
    TimeoutKind,
};
use lowtide_cc::delivery_rate::DeliveryRateSampler;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_cc::{Config, Controller};
use s2n_quic::provider::congestion_controller::{
    CongestionController, Publisher, RandomGenerator, RttEstimator, Timestamp,
};

use crate::clock::{Clock, since};
use crate::connection::Link;
use crate::flight::{Flight, Sent, Token};
use crate::observer::{AckSeen, LossSeen, Observer, Observers};
use crate::pacer::Pacer;

/// Pacing of algorithms that do not pace themselves: N × cwnd / srtt (RFC 9002 §7.7).
const WINDOW_PACING_FACTOR: f64 = 1.25;

/// With no more than so many packets in flight and nothing more to send, nothing is held back: who
/// sends acknowledgments and a few words would delay the peer's samples for nothing.
const UNPACED_PACKETS: u64 = 2;

/// The signal is repeated each round trip, in case a packet was lost; but not more often than this.
const LEAST_REPETITION: Duration = Duration::from_millis(10);

/// Makes a controller.
pub type Make = Arc<dyn Fn(&Config) -> Box<dyn Controller> + Send + Sync>;

/// Builds the controllers of an endpoint's connections.
pub(crate) struct Factory {
    make: Make,
    observers: Option<Observers>,
    seed: u64,
    made: AtomicU64,
}

impl Factory {
    pub(crate) fn new(make: Make, observers: Option<Observers>, seed: u64) -> Self {
        Self {
            make,
            observers,
            seed,
            made: AtomicU64::new(0),
        }
    }

    fn build(&self, max_datagram: Bytes) -> Box<dyn Controller> {
        let mut config = Config::for_datagram(max_datagram);
        config.seed = self.seed.wrapping_add(self.made.fetch_add(1, Relaxed));
        (self.make)(&config)
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Factory").finish_non_exhaustive()
    }
}

/// Finds a packet in its [`Host`] again.
#[derive(Clone, Copy, Debug)]
pub struct PacketInfo {
    token: Token,
    /// 1-RTT; otherwise Initial or Handshake.
    is_application: bool,
}

/// Packets declared lost that the controller has not been told of: s2n-quic names them one by one,
/// the core wants them together.
#[derive(Debug, Default)]
struct Losses {
    at: Time,
    packets: Vec<LostPacket>,
    persistent_congestion: bool,
    /// Bytes in flight before the first of them.
    prior_inflight: Bytes,
}

/// A core's controller on one path of an s2n-quic connection.
#[derive(Debug)]
pub struct Host {
    factory: Arc<Factory>,
    link: Link,
    /// Asked for with the first packet, when the connection is known.
    observer: Option<Arc<dyn Observer>>,
    core: Box<dyn Controller>,
    clock: Clock,
    pacer: Pacer,
    sampler: DeliveryRateSampler,
    /// Initial and Handshake packets, whose numbers overlap with those of 1-RTT packets.
    handshake: Flight,
    application: Flight,
    next_number: u64,
    max_datagram: Bytes,
    inflight: Bytes,
    window: Bytes,
    smoothed_rtt: Duration,
    min_rtt: Duration,
    /// The sample of the acknowledgment under way and when that arrived, and when its newest packet
    /// was sent. An acknowledgment of nothing in flight gives a sample, too, and no `on_ack`.
    rtt: Option<(Time, Duration)>,
    newest_acked_sent_at: Time,
    losses: Losses,
    bytes_lost_since_ack: Bytes,
    /// The last packet that left was the last there was to send.
    is_app_limited: bool,
    /// What the peer's estimator should know, what a packet last said, and when.
    signal: Option<PeerSignal>,
    signal_written: Option<(Option<PeerSignal>, Time)>,
    // Reused from event to event.
    acked: Vec<Sent>,
    acked_packets: Vec<AckedPacket>,
}

impl Host {
    pub(crate) fn new(factory: Arc<Factory>, link: Link, max_datagram_size: u16) -> Self {
        let max_datagram = Bytes::new(u64::from(max_datagram_size).max(1));
        let core = factory.build(max_datagram);
        let window = core.cwnd();
        Self {
            factory,
            link,
            observer: None,
            core,
            clock: Clock::default(),
            pacer: Pacer::default(),
            sampler: DeliveryRateSampler::new(),
            handshake: Flight::default(),
            application: Flight::default(),
            next_number: 0,
            max_datagram,
            inflight: Bytes::ZERO,
            window,
            smoothed_rtt: Duration::ZERO,
            min_rtt: Duration::MAX,
            rtt: None,
            newest_acked_sent_at: Time::ZERO,
            losses: Losses::default(),
            bytes_lost_since_ack: Bytes::ZERO,
            is_app_limited: false,
            signal: None,
            signal_written: None,
            acked: Vec::new(),
            acked_packets: Vec::new(),
        }
    }

    /// Time passes: losses are reported, feedback taken, wake-ups made.
    #[inline]
    fn advance(&mut self, now: Time) {
        if !self.losses.packets.is_empty() {
            self.report_losses();
        }
        if let Some(received) = self.link.get().and_then(|c| c.take_feedback()) {
            self.core.on_feedback(&Feedback {
                now,
                carrier: received.carrier,
                rate: received.rate,
            });
        }
        if self.core.next_wakeup().is_some_and(|at| at <= now) {
            self.core.on_wakeup(now);
        }
    }

    fn report_losses(&mut self) {
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

    /// Makes the controller's decisions known.
    #[inline]
    fn publish(&mut self, now: Time) {
        self.window = self.core.cwnd();
        let Some(connection) = self.link.get() else {
            return;
        };
        self.signal = self.core.peer_signal().map(|signal| {
            // The next packet ends a pause of our own making, whatever the controller knows of it.
            if self.is_app_limited {
                PeerSignal::Suspend
            } else {
                signal
            }
        });
        let due = match self.signal_written {
            Some((written, at)) => {
                written != self.signal || now.since(at) >= self.smoothed_rtt.max(LEAST_REPETITION)
            }
            None => true,
        };
        connection.set_signal(self.signal, due);
    }

    fn rate(&self) -> Option<Rate> {
        let floor = Rate::from_bytes_per_sec(1);
        self.core.pacing_rate().map(|r| r.max(floor)).or_else(|| {
            (!self.smoothed_rtt.is_zero()).then(|| {
                Rate::from_volume(self.window, self.smoothed_rtt)
                    .mul_f64(WINDOW_PACING_FACTOR)
                    .max(floor)
            })
        })
    }

    fn flight(&mut self, is_application: bool) -> &mut Flight {
        if is_application {
            &mut self.application
        } else {
            &mut self.handshake
        }
    }
}

impl Clone for Host {
    /// A new controller for the same path. s2n-quic copies a controller before its first packet, when
    /// it puts the path into its list, and never later.
    fn clone(&self) -> Self {
        let size = u16::try_from(self.max_datagram.get()).unwrap_or(u16::MAX);
        Self::new(self.factory.clone(), self.link.clone(), size)
    }
}

fn saturate(bytes: Bytes) -> u32 {
    u32::try_from(bytes.get()).unwrap_or(u32::MAX)
}

impl CongestionController for Host {
    type PacketInfo = PacketInfo;

    #[inline]
    fn congestion_window(&self) -> u32 {
        saturate(self.window)
    }

    #[inline]
    fn bytes_in_flight(&self) -> u32 {
        saturate(self.inflight)
    }

    #[inline]
    fn is_congestion_limited(&self) -> bool {
        self.inflight + self.max_datagram > self.window
    }

    fn requires_fast_retransmission(&self) -> bool {
        false
    }

    #[inline]
    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        sent_bytes: usize,
        app_limited: Option<bool>,
        _rtt_estimator: &RttEstimator,
        _publisher: &mut Pub,
    ) -> PacketInfo {
        let now = self.clock.time(time_sent);
        let bytes = Bytes::new(sent_bytes as u64);
        // Only 1-RTT packets know whether the application is the limit.
        let is_application = app_limited.is_some();
        let mut wire_number = None;
        if is_application && let Some(connection) = self.link.get() {
            wire_number = connection.take_leaving();
            if connection.take_signal_written() {
                self.signal_written = Some((self.signal, now));
            }
        }
        self.advance(now);
        if self.next_number == 0
            && let Some(observers) = &self.factory.observers
        {
            self.observer = observers(self.link.get().map(|c| c.id()));
        }
        let number = self.next_number;
        self.next_number += 1;
        let is_sample_limited = self.sampler.is_app_limited();
        let rate_state = self.sampler.on_packet_sent(now, bytes, self.inflight);
        let sent = Sent::new(number, wire_number, bytes, now, rate_state);
        let token = self.flight(is_application).push(sent);
        if !bytes.is_zero() {
            self.inflight += bytes;
            let sent = PacketSent {
                now,
                number,
                bytes,
                inflight: self.inflight,
                app_limited: is_sample_limited,
            };
            self.core.on_packet_sent(&sent);
            if let Some(observer) = &self.observer {
                observer.on_sent(&sent);
            }
            self.is_app_limited = app_limited.unwrap_or(true);
            if self.is_app_limited {
                self.sampler.on_app_limited(self.inflight);
            }
            if let Some(rate) = self.rate() {
                self.pacer.on_sent(now, bytes, rate);
            }
        }
        self.publish(now);
        PacketInfo {
            token,
            is_application,
        }
    }

    #[inline]
    fn on_rtt_update<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        now: Timestamp,
        rtt_estimator: &RttEstimator,
        _publisher: &mut Pub,
    ) {
        let rtt = since(now, time_sent);
        self.newest_acked_sent_at = self.clock.time(time_sent);
        self.rtt = Some((self.clock.time(now), rtt));
        self.min_rtt = self.min_rtt.min(rtt);
        self.smoothed_rtt = rtt_estimator.smoothed_rtt().into();
    }

    fn on_ack<Pub: Publisher>(
        &mut self,
        _newest_acked_time_sent: Timestamp,
        bytes_acknowledged: usize,
        newest_acked_packet_info: PacketInfo,
        _rtt_estimator: &RttEstimator,
        _random_generator: &mut dyn RandomGenerator,
        ack_receive_time: Timestamp,
        _publisher: &mut Pub,
    ) {
        let now = self.clock.time(ack_receive_time);
        let prior_inflight = if !self.losses.packets.is_empty() && self.losses.at == now {
            self.losses.prior_inflight
        } else {
            self.inflight
        };
        self.advance(now);

        let PacketInfo {
            token,
            is_application,
        } = newest_acked_packet_info;
        let bytes = Bytes::new(bytes_acknowledged as u64);
        self.acked.clear();
        match self.link.get().filter(|_| is_application) {
            Some(connection) => connection.with_acked_ranges(|ranges| {
                self.application
                    .acknowledge(token, bytes, ranges, &mut self.acked);
            }),
            None => {
                let acked = &mut self.acked;
                let flight = if is_application {
                    &mut self.application
                } else {
                    &mut self.handshake
                };
                flight.acknowledge(token, bytes, &[], acked);
            }
        }
        let rtt = self.rtt.take().filter(|(at, _)| *at == now);
        let rtt = rtt.map(|(_, rtt)| rtt);
        if self.acked.is_empty() {
            return;
        }
        self.acked_packets.clear();
        let mut bytes_acked = Bytes::ZERO;
        for sent in &self.acked {
            bytes_acked += sent.bytes;
            self.sampler
                .on_packet_acked(now, sent.bytes, sent.at, &sent.rate_state);
            self.acked_packets.push(AckedPacket {
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
            packets: &self.acked_packets,
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
                packets: &self.acked_packets,
                smoothed_rtt: self.smoothed_rtt,
                inflight: self.inflight,
                controller: &*self.core,
            });
        }
        self.publish(now);
    }

    fn on_packet_lost<Pub: Publisher>(
        &mut self,
        lost_bytes: u32,
        packet_info: PacketInfo,
        persistent_congestion: bool,
        _new_loss_burst: bool,
        _random_generator: &mut dyn RandomGenerator,
        timestamp: Timestamp,
        _publisher: &mut Pub,
    ) {
        let now = self.clock.time(timestamp);
        if !self.losses.packets.is_empty() && self.losses.at != now {
            self.report_losses();
        }
        let PacketInfo {
            token,
            is_application,
        } = packet_info;
        let bytes = Bytes::new(u64::from(lost_bytes));
        let Some(sent) = self.flight(is_application).lose(token, bytes) else {
            return;
        };
        if self.losses.packets.is_empty() {
            self.losses.at = now;
            self.losses.prior_inflight = self.inflight;
        }
        self.inflight -= sent.bytes;
        let lost = self.sampler.on_packet_lost(sent.bytes, &sent.rate_state);
        self.losses.persistent_congestion |= persistent_congestion;
        self.losses.packets.push(LostPacket {
            number: sent.number,
            bytes: sent.bytes,
            sent_at: sent.at,
            sent_inflight: sent.rate_state.inflight,
            lost,
            app_limited: sent.rate_state.app_limited,
        });
    }

    fn on_explicit_congestion<Pub: Publisher>(
        &mut self,
        ce_count: u64,
        event_time: Timestamp,
        _publisher: &mut Pub,
    ) {
        let now = self.clock.time(event_time);
        self.advance(now);
        self.core
            .on_ecn_ce(now, self.newest_acked_sent_at, ce_count);
        self.publish(now);
    }

    fn on_mtu_update<Pub: Publisher>(&mut self, max_data_size: u16, _publisher: &mut Pub) {
        self.max_datagram = Bytes::new(u64::from(max_data_size).max(1));
        self.core.on_mtu_change(self.max_datagram);
        self.window = self.core.cwnd();
    }

    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes_sent: usize, _publisher: &mut Pub) {
        let bytes = Bytes::new(bytes_sent as u64);
        let left = self.handshake.discard(bytes);
        let left = self.application.discard(left);
        self.inflight -= bytes - left;
    }

    #[inline]
    fn earliest_departure_time(&self) -> Option<Timestamp> {
        if self.is_app_limited && self.inflight <= self.max_datagram * UNPACED_PACKETS {
            return None;
        }
        self.clock.timestamp(self.pacer.departure())
    }

    #[inline]
    fn send_quantum(&self) -> Option<usize> {
        usize::try_from(self.core.send_quantum().get()).ok()
    }
}
