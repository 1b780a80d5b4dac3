//! A cell in the simulator.

use std::error::Error;
use std::sync::Arc;

use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_link::Distribution;
use lowtide_sim::probe::{Delivery, Sent};
use lowtide_sim::source::SourceConfig;
use lowtide_sim::transport::TransportConfig;
use lowtide_sim::{FlowConfig, Probe, SenderKind, SimConfig, Simulation};

use crate::cells::Cell;
use crate::kernel::PACKET;
use crate::measured::Measured;

#[derive(Default)]
struct AtLink {
    sent: u64,
    again: u64,
    bytes: Bytes,
    delays: Distribution,
}

impl Probe for AtLink {
    fn on_send(&mut self, sent: &Sent) {
        self.sent += 1;
        self.again += u64::from(sent.retransmission);
    }

    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        self.bytes += delivery.bytes;
        self.delays.record(delivery.now.since(delivery.sent_at));
    }
}

pub(crate) fn run(
    cell: &Cell,
    controller: &str,
    seconds: u64,
    seed: u64,
) -> Result<Measured, Box<dyn Error + Send + Sync>> {
    let spec = registry::parse(controller)?;
    let duration = Duration::from_secs(seconds);
    let source = cell
        .pauses()
        .map_or(SourceConfig::Bulk, |p| SourceConfig::OnOff {
            on: p.on,
            off: p.off,
            rate: p.rate,
        });
    let config = SimConfig {
        forward: cell.forward(),
        reverse: cell.reverse(),
        flows: vec![FlowConfig {
            transport: TransportConfig::tcp(),
            source,
            // The kernel's flow begins with a handshake.
            start: Time::ZERO + cell.rtt,
            ..FlowConfig::bulk(SenderKind::Controlled {
                estimator: spec.receiver(),
                controller: Arc::new(move |c| spec.build(c)),
            })
        }],
        duration,
        packet_size: Bytes::new(u64::from(PACKET)),
        ack_size: Bytes::new(60),
        seed,
    };
    let mut at = AtLink::default();
    Simulation::new(config)?.run(&mut at);
    let delays = at.delays.percentiles().ok_or("nothing arrived")?;
    let back = cell.back().as_millis_f64();
    Ok(Measured {
        mbps: at.bytes.as_f64() * 8e-6 / duration.as_secs_f64(),
        rtt_ms: delays.mean + back,
        p95_ms: delays.p95 + back,
        again: at.again as f64 / at.sent.max(1) as f64 * 100.0,
    })
}
