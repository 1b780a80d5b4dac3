//! What a link sees of flows, as meters and timelines want to be told.

use lowtide_cc::controller::LostPacket;
use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::probe::{AckSeen, Delivery, Departure, DropCause, ExtensionSeen, LossSeen, Sent};
use lowtide_sim::{Probe, SimConfig};

use crate::run::Meters;
use crate::timeline::Timeline;

/// Feeds meters and a timeline with what a link sees. The RTT is what a sender would see whose packets
/// are acknowledged at once.
#[derive(Debug)]
pub(super) struct LinkView {
    pub(super) meters: Meters,
    pub(super) timeline: Timeline,
    way_back: Duration,
}

impl LinkView {
    pub(super) fn new(config: &SimConfig, meters: Meters, way_back: Duration) -> Self {
        Self {
            meters,
            timeline: Timeline::new(config),
            way_back,
        }
    }
}

impl Probe for LinkView {
    fn on_flow_start(&mut self, flow: usize, start: Time, to_link: Duration, from_link: Duration) {
        self.meters.on_flow_start(flow, start, to_link, from_link);
    }

    fn on_send(&mut self, sent: &Sent) {
        self.meters.on_send(sent);
        self.timeline.on_send(sent);
    }

    fn on_drop(&mut self, flow: usize, now: Time, bytes: Bytes, cause: DropCause) {
        self.meters.on_drop(flow, now, bytes, cause);
        self.timeline.on_drop(flow, now, bytes, cause);
        // Its sender will find out later; the link knows now.
        let packet = LostPacket {
            number: 0,
            bytes,
            sent_at: now,
            sent_inflight: Bytes::ZERO,
            lost: bytes,
            app_limited: false,
        };
        let loss = LossSeen {
            now,
            packets: &[packet],
            bytes,
            inflight: Bytes::ZERO,
        };
        self.timeline.on_loss(flow, &loss);
    }

    fn on_bottleneck_exit(&mut self, exit: &Departure) {
        self.meters.on_bottleneck_exit(exit);
        self.timeline.on_bottleneck_exit(exit);
    }

    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        let Delivery { flow, now, .. } = *delivery;
        self.meters.on_deliver(delivery);
        self.timeline.on_deliver(delivery);
        let rtt = now.since(delivery.sent_at) + self.way_back;
        self.timeline.note_rtt(flow, now, rtt);
        let ack = AckSeen {
            now,
            packets: &[],
            rtt: Some(rtt),
            smoothed_rtt: rtt,
            inflight: Bytes::ZERO,
            extension: ExtensionSeen::default(),
            controller: None,
        };
        self.meters.on_ack(flow, &ack);
    }

    fn on_flow_complete(&mut self, flow: usize, now: Time) {
        self.meters.on_flow_complete(flow, now);
        self.timeline.on_flow_complete(flow, now);
    }
}
