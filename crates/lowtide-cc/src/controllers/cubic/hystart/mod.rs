//! What ends slow start before a loss does: HyStart, in two kinds.

mod linux;
mod rfc9406;

use self::linux::LinuxHyStart;
use self::rfc9406::HyStartPlusPlus;
use crate::controller::{AckEvent, PacketSent, Transport};
use crate::state::{State, StateKind};
use crate::units::Duration;

/// Slow start, and the conservative one of HyStart++, for plots.
pub(super) const FAST: State = State::new("SlowStart", StateKind::Start);
pub(super) const CAREFUL: State = State::new("ConservativeSlowStart", StateKind::CarefulStart);

/// How a flow leaves slow start before packets are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HyStart {
    /// Not before a loss: RFC 9438 alone.
    Off,
    /// Linux's HyStart: by the RTT or the length of a round's train of acknowledgments. The window
    /// then grows as Linux's does, too.
    Linux,
    /// HyStart++ (RFC 9406), by the RTT.
    Rfc9406,
}

impl HyStart {
    /// The HyStart that hosts of this transport have.
    #[must_use]
    pub const fn of(transport: Transport) -> Self {
        match transport {
            Transport::Quic => Self::Rfc9406,
            Transport::Tcp => Self::Linux,
        }
    }
}

/// The RTT rise that counts: an eighth of the RTT, within bounds (Linux `HYSTART_DELAY_THRESH`; RFC 9406 §4.3,
/// `MIN_RTT_THRESH`, `MAX_RTT_THRESH`, `MIN_RTT_DIVISOR`).
fn rtt_rise(rtt: Duration) -> Duration {
    rtt.div(8)
        .clamp(Duration::from_millis(4), Duration::from_millis(16))
}

/// What a flow looks like as an acknowledgment arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// Window, packets.
    pub(super) cwnd: f64,
    /// Window, bytes.
    pub(super) bytes: f64,
    pub(super) srtt: Duration,
}

/// One of them at work.
#[derive(Clone, Copy, Debug)]
pub(super) enum SlowStart {
    Plain,
    Linux(LinuxHyStart),
    Rfc9406(HyStartPlusPlus),
}

impl SlowStart {
    pub(super) fn new(kind: HyStart) -> Self {
        match kind {
            HyStart::Off => Self::Plain,
            HyStart::Linux => Self::Linux(LinuxHyStart::default()),
            HyStart::Rfc9406 => Self::Rfc9406(HyStartPlusPlus::default()),
        }
    }

    pub(super) fn on_packet_sent(&mut self, sent: &PacketSent) {
        match self {
            Self::Plain => {}
            Self::Linux(hystart) => hystart.on_packet_sent(sent),
            Self::Rfc9406(hystart) => hystart.on_packet_sent(sent),
        }
    }

    /// An acknowledgment gave this sample, in slow start or not.
    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        if let Self::Linux(hystart) = self {
            hystart.on_rtt(rtt);
        }
    }

    /// An acknowledgment arrived in slow start; true when that is over, before the window grows for it.
    pub(super) fn ends(&mut self, ack: &AckEvent<'_>, flow: Flow) -> bool {
        match self {
            Self::Plain | Self::Rfc9406(_) => false,
            Self::Linux(hystart) => hystart.ends(ack, flow),
        }
    }

    /// By how many packets the window grows for `acked` packets, and whether slow start is then over.
    pub(super) fn growth(&mut self, ack: &AckEvent<'_>, acked: f64) -> (f64, bool) {
        match self {
            Self::Plain | Self::Linux(_) => (acked, false),
            Self::Rfc9406(hystart) => hystart.growth(ack, acked),
        }
    }

    /// Packets were lost or marked.
    pub(super) fn on_reduction(&mut self) {
        if let Self::Rfc9406(hystart) = self {
            hystart.finish();
        }
    }

    /// The retransmission timer fired.
    pub(super) fn on_timeout(&mut self) {
        if let Self::Linux(hystart) = self {
            hystart.restart();
        }
    }

    pub(super) fn phase(&self) -> &'static str {
        match self {
            Self::Rfc9406(hystart) if hystart.is_careful() => CAREFUL.name,
            _ => FAST.name,
        }
    }
}
