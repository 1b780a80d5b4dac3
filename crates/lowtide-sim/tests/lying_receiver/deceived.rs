//! A receiver that reports what is not so.

use lowtide_cc::Controller;
use lowtide_cc::controller::{AckEvent, AckedPacket, Feedback};
use lowtide_cc::units::{Rate, Time};

/// Makes another report of the receiver's at this time.
pub(crate) type Lie = fn(Time, Rate) -> Rate;

/// Makes another time of an arrival, of a packet sent and arrived at these.
pub(crate) type Clock = fn(Time, Time) -> Time;

/// Hands a controller another report than its receiver sent.
#[derive(Debug)]
pub(crate) struct Deceived {
    pub(crate) inner: Box<dyn Controller>,
    pub(crate) lie: Lie,
    pub(crate) clock: Clock,
}

impl lowtide_cc::Wrap for Deceived {
    type Inner = dyn Controller;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }
    fn inner_mut(&mut self) -> &mut Self::Inner {
        &mut *self.inner
    }
    fn on_feedback(&mut self, feedback: &Feedback) {
        let rate = (self.lie)(feedback.now, feedback.rate);
        self.inner.on_feedback(&Feedback { rate, ..*feedback });
    }
    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        let told = |p: &AckedPacket| AckedPacket {
            received_at: p.received_at.map(|at| (self.clock)(p.sent_at, at)),
            ..*p
        };
        let packets: Vec<AckedPacket> = ack.packets.iter().map(told).collect();
        let packets = &packets;
        self.inner.on_ack(&AckEvent { packets, ..*ack });
    }
}

/// What a clock says that runs so many times as fast.
pub(crate) fn at_speed(at: Time, times: f64) -> Time {
    Time::ZERO + at.since(Time::ZERO).mul_f64(times)
}

/// Half of the packets arrive at the end of all time.
pub(crate) fn jumping(_sent_at: Time, at: Time) -> Time {
    if (at.as_nanos() / 1_000_000).is_multiple_of(2) {
        Time::MAX
    } else {
        at
    }
}
