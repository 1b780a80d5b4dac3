//! The contract between a controller and its host.
//!
//! # What the host must do
//! 1. Call [`Controller::on_packet_sent`] for each packet that counts towards bytes in flight,
//!    in the order of sending, with numbers that grow.
//! 2. For each acknowledgment that newly acknowledges packets: first declare losses
//!    ([`Controller::on_loss`]), then call [`Controller::on_ack`] once, with all packets it newly
//!    acknowledges. Losses found by a timer are reported by `on_loss` alone. Where the acknowledgment
//!    also reports marks, [`Controller::on_ecn_ce`] comes between the two.
//! 3. Send packets with [`Controller::ecn`] in their headers, unless the path or the peer is known to
//!    mangle it (RFC 9000 §13.4.2). Send only while bytes in flight + packet ≤ [`Controller::cwnd`], at
//!    [`Controller::pacing_rate`], in bursts of at most [`Controller::send_quantum`].
//! 4. Call [`Controller::on_wakeup`] when [`Controller::next_wakeup`] is due. A host without a timer
//!    makes up for it before its next event: one call for each wake-up that is due by then, at the
//!    wake-up's own time.
//! 5. Where the peer speaks the feedback extension: put [`Controller::peer_signal`] into what it
//!    sends, hand received feedback to [`Controller::on_feedback`].
//!
//! [`lowtide_host::contract`](https://docs.rs/lowtide-host/latest/lowtide_host/contract/) checks whether a
//! host does: a controller that it has `recorded` notes each breach as a sentence.
//! [`lowtide_host::Driver`](https://docs.rs/lowtide-host/latest/lowtide_host/struct.Driver.html) keeps
//! rules 1, 2 and 4 for a host that says packet by packet what happened.

use core::fmt;

use crate::delivery_rate::RateSample;
use crate::ecn::Ecn;
use crate::estimators::Belief;
use crate::state::{State, StateKind};
use crate::units::{Bytes, Duration, Rate, Time};

/// The transport protocol that carries a controller's flow.
///
/// Controllers that are specified for one and deployed in both follow what each has: recovery ends by
/// sequence number in TCP (RFC 6675) and by sending time in QUIC (RFC 9002 §7.3.2), and CUBIC leaves slow
/// start by Linux's HyStart or by HyStart++ (RFC 9406). In TCP a loss reduces the window of Reno's kind and of
/// CUBIC by Proportional Rate Reduction (RFC 9937).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transport {
    /// QUIC (RFC 9000).
    #[default]
    Quic,
    /// TCP (RFC 9293).
    Tcp,
}

impl Transport {
    /// The transport's name, in small letters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quic => "quic",
            Self::Tcp => "tcp",
        }
    }
}

/// What a controller needs to know when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Largest datagram (QUIC) or segment (TCP) payload that a packet carries: the unit of
    /// "packets" in window rules. At least 1 byte; zero is taken as 1.
    pub max_datagram: Bytes,
    /// Window before any feedback (RFC 6928, RFC 9002 §7.2).
    pub initial_window: Bytes,
    /// When the connection starts, on the host's clock.
    pub now: Time,
    /// Seeds the controller's own randomness, so that a run can be repeated.
    pub seed: u64,
    /// Which transport the host has.
    pub transport: Transport,
}

impl Config {
    /// The usual configuration for QUIC with packets of `max_datagram` bytes: an initial window of 10
    /// packets, but not more than 14 720 bytes unless two packets are larger (RFC 9002 §7.2).
    #[must_use]
    pub fn for_datagram(max_datagram: Bytes) -> Self {
        let mss = max_datagram.max(Bytes::new(1));
        let initial_window = (mss * 10).min(Bytes::new(14_720).max(mss * 2));
        Self {
            max_datagram: mss,
            initial_window,
            now: Time::ZERO,
            seed: 0,
            transport: Transport::Quic,
        }
    }
}

impl Default for Config {
    /// 1200-byte datagrams, the smallest that QUIC allows as a maximum (RFC 9000 §14).
    fn default() -> Self {
        Self::for_datagram(Bytes::new(1200))
    }
}

/// A packet has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSent {
    /// When.
    pub now: Time,
    /// Packet number (QUIC) or transmission number (TCP: retransmissions get new ones).
    pub number: u64,
    /// The packet's size.
    pub bytes: Bytes,
    /// Bytes in flight with this packet included. Equal to `bytes` when the flow was idle.
    pub inflight: Bytes,
    /// The application, not the window or the pacer, limited the flow when this packet left
    /// (the packet's delivery-rate sample will be marked app-limited).
    pub app_limited: bool,
}

/// A packet that an acknowledgment newly covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckedPacket {
    /// The packet's number, as in [`PacketSent`].
    pub number: u64,
    /// The packet's size.
    pub bytes: Bytes,
    /// When it was sent. TCP: where an earlier transmission may have been the one that arrived, no later
    /// than the least RTT ago, as a time that is too late makes RTTs that no path has.
    pub sent_at: Time,
    /// When it arrived, on the peer's clock, where the peer reports that (draft-ietf-quic-receive-ts).
    /// Where that clock begins and how fast it runs is unknown: only differences mean something, and
    /// as they come from the network they may be anything.
    pub received_at: Option<Time>,
}

/// A packet that the host's loss detection gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostPacket {
    /// The packet's number, as in [`PacketSent`].
    pub number: u64,
    /// The packet's size.
    pub bytes: Bytes,
    /// When it was sent.
    pub sent_at: Time,
    /// Bytes in flight when it was sent, with it included
    /// ([`PacketRateState::inflight`](crate::delivery_rate::PacketRateState::inflight)).
    pub sent_inflight: Bytes,
    /// Data declared lost from its sending until now, itself included, packets that stand behind it
    /// in the same event not: [`DeliveryRateSampler::on_packet_lost`] returns it.
    ///
    /// [`DeliveryRateSampler::on_packet_lost`]: crate::delivery_rate::DeliveryRateSampler::on_packet_lost
    pub lost: Bytes,
    /// The application limited the flow when it was sent
    /// ([`PacketRateState::app_limited`](crate::delivery_rate::PacketRateState::app_limited)).
    pub app_limited: bool,
}

/// An acknowledgment arrived that newly covers at least one packet.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent<'a> {
    /// When.
    pub now: Time,
    /// All packets it newly acknowledges, in the order of their numbers. Not empty. One that was
    /// declared lost may be among them: it arrived after all.
    pub packets: &'a [AckedPacket],
    /// Total size of the packets newly acknowledged.
    pub bytes_acked: Bytes,
    /// Bytes declared lost since the previous acknowledgment (already reported by
    /// [`Controller::on_loss`]) and still taken for lost:
    /// [`Controller::on_spurious_timeout`] takes back all that was declared until then.
    pub bytes_lost: Bytes,
    /// The newest RTT sample, not corrected for the peer's acknowledgment delay. `None` when the
    /// acknowledgment gives none (RFC 9002 §5.1: the largest acknowledged packet is not new;
    /// TCP: only retransmitted segments).
    pub rtt: Option<Duration>,
    /// Bytes in flight just before this acknowledgment and its losses.
    pub prior_inflight: Bytes,
    /// Bytes in flight after it and its losses.
    pub inflight: Bytes,
    /// Delivery-rate sample, if a valid one could be taken.
    pub rate_sample: Option<RateSample>,
}

/// The host's loss detection gave up packets.
#[derive(Clone, Copy, Debug)]
pub struct LossEvent<'a> {
    /// When they were declared lost.
    pub now: Time,
    /// The packets, in the order of their numbers. Not empty.
    pub packets: &'a [LostPacket],
    /// Total size of the lost packets.
    pub bytes_lost: Bytes,
    /// Bytes in flight without them, and without what an acknowledgment that showed the losses newly
    /// covers.
    pub inflight: Bytes,
}

/// Why a connection's whole flight is taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutKind {
    /// TCP's retransmission timer fired (RFC 6298): everything in flight is marked lost.
    Rto,
    /// QUIC found persistent congestion (RFC 9002 §7.6).
    PersistentCongestion,
}

/// A retransmission timeout or persistent congestion. Called after [`Controller::on_loss`] for the
/// packets concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutEvent {
    /// When.
    pub now: Time,
    /// Which of the two.
    pub kind: TimeoutKind,
    /// Bytes still counted in flight.
    pub inflight: Bytes,
}

/// Feedback of the peer's bandwidth estimator (the RBBR extension).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// When it arrived.
    pub now: Time,
    /// Number of the peer's packet that carried it. The newest wins; an older one is ignored.
    pub carrier: u64,
    /// The peer's estimate. Comes from the network: may be anything.
    pub rate: Rate,
}

/// What the sender tells the peer's bandwidth estimator (the RBBR extension, Algs. 2 and 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerSignal {
    /// Sample: the network limits the sender.
    Regular,
    /// Do not sample: the sender limits itself (Startup, ProbeRTT, application-limited).
    Suspend,
}

impl PeerSignal {
    /// States of a filter under each signal, for plots.
    pub const STATES: &[State] = &[
        State::new(Self::Regular.name(), StateKind::Steady),
        State::new(Self::Suspend.name(), StateKind::Suspended),
    ];

    /// Name of the estimator's state under this signal, in logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Regular => "regular",
            Self::Suspend => "suspended",
        }
    }
}

/// Internals of a filtering bandwidth estimator, for logs and plots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterSnapshot {
    /// Kalman gain of the last step, `0..=1`.
    pub gain: f64,
    /// Process noise variance, (bytes/s)².
    pub process_noise: f64,
    /// Measurement noise variance, (bytes/s)².
    pub measurement_noise: f64,
    /// Last innovation (measurement − prediction), bytes/s.
    pub innovation: f64,
    /// What the filter does with samples now, e.g. a SKIP mode.
    pub mode: &'static str,
}

impl FilterSnapshot {
    /// State of a Kalman filter that filters a rate in bytes/s.
    pub(crate) fn of(belief: &Belief, mode: &'static str) -> Self {
        Self {
            gain: belief.gain,
            process_noise: belief.process_noise,
            measurement_noise: belief.measurement_noise,
            innovation: belief.innovation,
            mode,
        }
    }
}

/// What a controller makes of the peer's feedback, for logs and plots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedbackSnapshot {
    /// The newest report, as the peer sent it.
    pub rate: Rate,
    /// How old it was when the last acknowledgment arrived.
    pub age: Duration,
    /// The sender's own estimate of that rate, once there is one.
    pub own: Option<Rate>,
    /// Use of the feedback: `"used"`; `"waiting"` for ProbeBW; `"stale"`, too old;
    /// `"doubted"`, because it has not been what the sender saw acknowledged.
    pub state: &'static str,
}

/// A readable copy of a controller's state, for logs, plots and tests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The phase in the algorithm's own words: `"Startup"`, `"ProbeBW"`, `"SlowStart"`, …
    pub phase: &'static str,
    /// Bandwidth estimate, where the algorithm has one.
    pub bandwidth: Option<Rate>,
    /// The algorithm's own minimum RTT.
    pub min_rtt: Option<Duration>,
    /// Current pacing gain, where the algorithm has one.
    pub pacing_gain: Option<f64>,
    /// Current cwnd gain, where the algorithm has one.
    pub cwnd_gain: Option<f64>,
    /// Slow-start threshold, where the algorithm has one and it is set.
    pub ssthresh: Option<Bytes>,
    /// Whether a loss recovery is under way.
    pub in_recovery: bool,
    /// Internals of the bandwidth filter, where there is one.
    pub filter: Option<FilterSnapshot>,
    /// The peer's feedback (RBBR); `None` before the first report, and where none is used.
    pub feedback: Option<FeedbackSnapshot>,
}

/// A congestion controller: told what happened, shows how much may be sent and how fast.
///
/// Times passed in must not go back; where they do, spans count as zero. No method panics on any
/// input. Only the construction allocates.
pub trait Controller: fmt::Debug + Send {
    /// A packet has left.
    fn on_packet_sent(&mut self, sent: &PacketSent);

    /// An acknowledgment arrived.
    fn on_ack(&mut self, ack: &AckEvent<'_>);

    /// Packets were declared lost.
    fn on_loss(&mut self, loss: &LossEvent<'_>);

    /// The whole flight is taken for lost.
    fn on_timeout(&mut self, timeout: &TimeoutEvent);

    /// The last [`on_timeout`](Self::on_timeout) of kind [`TimeoutKind::Rto`] was spurious: packets
    /// taken for lost arrived, and are in flight again (RFC 3522, RFC 5682). A controller may
    /// restore its state from before the timeout.
    ///
    /// The acknowledgment that shows it is the first after the timeout and follows this call. Its
    /// [`AckEvent::bytes_lost`] does not count what was declared lost before: a controller that
    /// has restored its window would otherwise subtract the timeout's losses from it.
    fn on_spurious_timeout(&mut self, _now: Time) {}

    /// The peer reported packets newly marked ECN-CE (RFC 3168, RFC 9002 §7.1); `sent_at` is when
    /// the newest acknowledged packet was sent. [`on_ack`](Self::on_ack) of the same acknowledgment
    /// follows.
    fn on_ecn_ce(&mut self, _now: Time, _sent_at: Time, _marked_packets: u64) {}

    /// The codepoint that packets are to carry. A controller that asks for one but [`Ecn::NotEct`]
    /// answers [`on_ecn_ce`](Self::on_ecn_ce): else queues that mark would keep it from every loss
    /// that could slow it down.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    /// The path's maximum datagram size changed.
    fn on_mtu_change(&mut self, max_datagram: Bytes);

    /// The peer's estimator sent feedback.
    fn on_feedback(&mut self, _feedback: &Feedback) {}

    /// [`next_wakeup`](Self::next_wakeup) is due.
    fn on_wakeup(&mut self, _now: Time) {}

    /// When the controller wants [`on_wakeup`](Self::on_wakeup) called; `None`: never.
    fn next_wakeup(&self) -> Option<Time> {
        None
    }

    /// Congestion window: the most bytes that may be in flight.
    fn cwnd(&self) -> Bytes;

    /// Rate at which packets may leave, above zero; `None` when the algorithm does not pace (the
    /// host may then pace by window and RTT, RFC 9002 §7.7).
    fn pacing_rate(&self) -> Option<Rate>;

    /// The most bytes that may leave back to back when pacing.
    fn send_quantum(&self) -> Bytes;

    /// What to tell the peer's estimator; `None` when the algorithm uses no feedback.
    fn peer_signal(&self) -> Option<PeerSignal> {
        None
    }

    /// A copy of the state for logs, plots and tests.
    fn snapshot(&self) -> Snapshot;

    /// Tells `visit` each variable of the algorithm by the name that its specification has for it:
    /// volumes in bytes, rates in bytes a second, times in seconds (moments on the host's clock), flags
    /// as 0 or 1. A bound that is not set is infinite; what is not known yet is left out. For
    /// observers that judge an implementation by its specification; hosts never call it.
    fn variables(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}

    /// The phases that [`snapshot`](Self::snapshot) can name, in the order in which legends should
    /// show them. Without a list plots show all phases alike.
    fn phases(&self) -> &'static [State] {
        &[]
    }

    /// The modes that a filter in [`snapshot`](Self::snapshot) can name, or what
    /// [`peer_signal`](Self::peer_signal) makes of the peer's; as [`phases`](Self::phases).
    fn filter_modes(&self) -> &'static [State] {
        &[]
    }
}
