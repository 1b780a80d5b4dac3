//! What a controller said after each acknowledgment.

use lowtide_cc::units::Rate;
use lowtide_sim::Probe;
use lowtide_sim::probe::AckSeen;

use crate::controller::number::{seconds, span};
use crate::records::{Field, Records};

pub(crate) const FIELDS: &[Field] = &[
    ("now", "=f8"),
    ("rtt", "=f8"),
    ("pacing_rate", "=f8"),
    ("cwnd", "=i8"),
    ("inflight", "=i8"),
    ("number", "=i8"),
    ("flow", "=i8"),
];

/// Notes them.
#[derive(Default)]
pub(crate) struct Steps(pub(crate) Records);

impl Probe for Steps {
    fn on_ack(&mut self, flow: usize, ack: &AckSeen<'_>) {
        let Some(controller) = ack.controller else {
            return;
        };
        let records = &mut self.0;
        records.float(seconds(ack.now));
        records.float(ack.rtt.map_or(f64::NAN, span));
        records.float(controller.pacing_rate().map_or(f64::NAN, Rate::as_f64));
        records.whole(controller.cwnd().get());
        records.whole(ack.inflight.get());
        records.whole(ack.packets.last().map_or(0, |packet| packet.number));
        records.whole(flow as u64);
        records.end();
    }
}
