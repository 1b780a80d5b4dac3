//! A cell in the simulator.

use std::error::Error;

use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_link::Distribution;
use lowtide_sim::probe::{Delivery, Sent};
use lowtide_sim::source::SourceConfig;
use lowtide_sim::transport::TransportConfig;
use lowtide_sim::{FlowConfig, Probe, SenderKind, SimConfig, Simulation};

use crate::cells::Cell;
use crate::kernel::{ATTEMPTS, PACKET};
use crate::measured::Measured;

type Failure = Box<dyn Error + Send + Sync>;

/// The flow that is measured; the others are the packets of its handshake.
const MEASURED: usize = 0;
const SYN: usize = 1;
/// Headers of IP and TCP with options.
const HANDSHAKE_PACKET: Bytes = Bytes::new(60);

#[derive(Default)]
struct AtLink {
    syn_arrived: bool,
    sent: u64,
    again: u64,
    bytes: Bytes,
    delays: Distribution,
}

impl Probe for AtLink {
    fn on_send(&mut self, sent: &Sent) {
        if sent.flow != MEASURED {
            return;
        }
        self.sent += 1;
        self.again += u64::from(sent.retransmission);
    }

    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        self.syn_arrived |= delivery.flow == SYN;
        self.bytes += delivery.bytes;
        self.delays.record(delivery.now.since(delivery.sent_at));
    }
}

/// A packet of the handshake. Links that lose by chance must have drawn for it when data come, as in the kernel's
/// runs: where the second packet of a link is lost, that is there an acknowledgment that nobody misses.
fn handshake_packet(at: Time, is_answered: bool) -> Result<FlowConfig, Failure> {
    let any = registry::parse("newreno")?;
    let transport = if is_answered {
        TransportConfig::tcp()
    } else {
        TransportConfig::Quic {
            ack_every: u32::MAX,
            max_ack_delay: Duration::from_secs(3_600),
            timestamps: false,
        }
    };
    Ok(FlowConfig {
        transport,
        source: SourceConfig::Sized(HANDSHAKE_PACKET),
        start: at,
        stop: Some(at + Duration::from_nanos(1)),
        ..FlowConfig::bulk(SenderKind::of(&any))
    })
}

/// A run whose handshake was not lost, as the kernel's are.
pub(crate) fn run(
    cell: &Cell,
    controller: &str,
    seconds: u64,
    seed: u64,
) -> Result<Measured, Failure> {
    for n in 0..ATTEMPTS {
        if let Some(measured) = attempt(cell, controller, seconds, seed + n * 1000)? {
            return Ok(measured);
        }
    }
    Err(format!("{}: no handshake came through", cell.name()).into())
}

/// `None`: the handshake was lost.
fn attempt(
    cell: &Cell,
    controller: &str,
    seconds: u64,
    seed: u64,
) -> Result<Option<Measured>, Failure> {
    let spec = registry::parse(controller)?;
    let duration = Duration::from_secs(seconds);
    let source = cell
        .pauses()
        .map_or(SourceConfig::Bulk, |p| SourceConfig::OnOff {
            on: p.on,
            off: p.off,
            rate: p.rate,
        });
    let established = Time::ZERO + cell.rtt;
    let config = SimConfig {
        forward: cell.forward(),
        reverse: cell.reverse(),
        flows: vec![
            FlowConfig {
                transport: TransportConfig::tcp(),
                source,
                start: established,
                ..FlowConfig::bulk(SenderKind::of(&spec))
            },
            handshake_packet(Time::ZERO, true)?,
            handshake_packet(established - Duration::from_nanos(1), false)?,
        ],
        duration,
        packet_size: Bytes::new(u64::from(PACKET)),
        ack_size: Bytes::new(60),
        seed,
    };
    let mut at = AtLink::default();
    Simulation::new(config)?.run(&mut at);
    if !at.syn_arrived {
        return Ok(None);
    }
    let delays = at.delays.percentiles().ok_or("nothing arrived")?;
    let back = cell.back().as_millis_f64();
    Ok(Some(Measured {
        mbps: at.bytes.as_f64() * 8e-6 / duration.as_secs_f64(),
        rtt_ms: delays.mean + back,
        p95_ms: delays.p95 + back,
        again: at.again as f64 / at.sent.max(1) as f64 * 100.0,
    }))
}
