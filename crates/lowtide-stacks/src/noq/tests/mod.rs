//! Lowtide's host in noq, over whole connections.

mod contract;
mod feedback;

use std::cell::RefCell;
use std::rc::Rc;

use lowtide_cc::Ecn;
use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Rate, Time};
use lowtide_host::contract::{Shared, recorded};
use lowtide_host::{ExtensionSeen, Make};
use lowtide_sim::link::Link;
use lowtide_sim::probe::{AckSeen, Departure, DropCause, Sent};
use lowtide_sim::queue::QueueLimit;

use super::*;
use crate::driver::Run;

const TEN_MBIT: Rate = Rate::from_mbps(10);

/// A forger forges no more often.
const FORGERY_PERIOD: std::time::Duration = std::time::Duration::from_millis(2);

/// What a hostile end sends in a datagram, if it sends one now.
type Forge = Box<dyn FnMut() -> Option<Vec<u8>>>;

/// A flow whose controller checks its host, and what happens to it.
struct Scenario {
    config: SimConfig,
    make: Make,
    /// Whether sender and receiver run RBBR's extension.
    extensions: [bool; 2],
    /// Which end forges datagrams.
    forger: Option<(usize, Forge)>,
    /// When the receiver's port changes.
    new_port_at: Option<Time>,
    mtu_discovery: bool,
}

impl Scenario {
    /// Bulk data for 8 s over a link of one rate with 40 ms RTT and two BDP of buffer.
    fn new(spec: &str, rate: Rate) -> Self {
        let link = Link::constant(rate).unwrap();
        let spec = registry::parse(spec).unwrap();
        let flows = vec![FlowConfig::bulk(SenderKind::of(&spec))];
        let (there, duration) = (Duration::from_millis(20), Duration::from_secs(8));
        Self {
            config: SimConfig::over(link, QueueLimit::Bdp(2.0), there, flows, duration),
            make: Arc::new(move |config| spec.build(config)),
            extensions: [false; 2],
            forger: None,
            new_port_at: None,
            mtu_discovery: false,
        }
    }
}

/// What was seen of a run.
#[derive(Debug, Default)]
struct Seen {
    /// Data delivered in the last three quarters of the run, per second.
    goodput: Rate,
    delivered: u64,
    dropped: u64,
    /// Packets with data that were marked ECN-CE.
    marked: u64,
    /// When packets left that count as in flight, and their sizes.
    departures: Vec<(Time, Bytes)>,
    /// When the last packet of the sender was behind the link: it acknowledges the receiver's.
    last_exit: Time,
    rtts: Vec<Duration>,
    estimate: Option<Rate>,
    /// What the sender knew of the extension last.
    extension: ExtensionSeen,
    breaches: Vec<String>,
}

impl Seen {
    fn mean_rtt_ms(&self) -> f64 {
        let sum: f64 = self.rtts.iter().map(|rtt| rtt.as_millis_f64()).sum();
        sum / self.rtts.len() as f64
    }
}

impl Probe for Seen {
    fn on_send(&mut self, sent: &Sent) {
        self.departures.push((sent.now, sent.bytes));
    }

    fn on_drop(&mut self, _flow: usize, _now: Time, _bytes: Bytes, _cause: DropCause) {
        self.dropped += 1;
    }

    fn on_bottleneck_exit(&mut self, exit: &Departure) {
        self.marked += u64::from(exit.ecn == Ecn::Ce);
        self.last_exit = exit.at;
    }

    fn on_ack(&mut self, _flow: usize, ack: &AckSeen<'_>) {
        self.extension = ack.extension;
        // The controllers pass their phase of start-up in less than two seconds.
        if ack.now >= Time::ZERO + Duration::from_secs(2) {
            self.rtts.extend(ack.rtt);
        }
    }
}

/// noq, whose server sends the data: only a client can come from another port.
struct Rigged {
    sender: Make,
    receiver: Make,
    mtu_discovery: bool,
    /// What the callers at sender and receiver do.
    attend: Vec<Attend>,
}

impl Stack for Rigged {
    type End = End;

    fn ends(&mut self, setup: &Setup<'_>) -> Result<[End; 2], Error> {
        let transport = |factory: Factory| {
            let mut transport = transport(setup);
            transport.congestion_controller_factory(Arc::new(Controllers::from(factory)));
            if self.mtu_discovery {
                let discovery = Some(proto::MtuDiscoveryConfig::default());
                let transport = transport.initial_mtu(1200).min_mtu(1200);
                transport.mtu_discovery_config(discovery);
            }
            transport
        };
        let sender = Factory::with_controller("sender", self.sender.clone()).with_seed(1);
        let sender = transport(sender.with_observer(setup.observer.clone()));
        let receiver = Factory::with_controller("receiver", self.receiver.clone()).with_seed(2);
        let receiver = transport(receiver);
        let mut attend = self.attend.drain(..);
        let mut attend = || attend.next().unwrap();
        let sender = server(setup, sender, attend())?;
        let receiver = client(setup, receiver, attend())?;
        Ok([sender, receiver].map(|end| End {
            is_sender: !end.is_sender,
            ..end
        }))
    }
}

/// Runs a scenario with a controller that checks its host.
fn run(mut scenario: Scenario) -> (Seen, Shared) {
    let (sender, notes) = recorded(scenario.make.clone());
    let spoken = [0, 1].map(|_| Rc::new(RefCell::new(None)));
    let mut attend: Vec<Attend> = Vec::new();
    for (side, extension) in spoken.iter().cloned().enumerate() {
        let speaks = scenario.extensions[side];
        let mut forge = scenario.forger.take_if(|(forger, _)| *forger == side);
        let mut next_forgery: Option<Instant> = None;
        attend.push(Box::new(move |now, connection| {
            if speaks {
                exchange(&mut extension.borrow_mut(), now, connection);
            }
            if let Some((_, forge)) = &mut forge
                && next_forgery.is_none_or(|at| now >= at)
                && let Some(payload) = forge()
            {
                next_forgery = Some(now + FORGERY_PERIOD);
                connection.datagrams().send(payload.into(), true).unwrap();
            }
        }));
    }
    let mut noq = Rigged {
        sender,
        receiver: scenario.make,
        mtu_discovery: scenario.mtu_discovery,
        attend,
    };
    let duration = scenario.config.duration;
    let mut run = Run::new(&mut noq, &scenario.config, Seen::default()).unwrap();
    run.until(Time::ZERO + duration.div(4)).unwrap();
    let before = run.flows[0].read;
    if let Some(at) = scenario.new_port_at {
        run.until(at).unwrap();
        run.flows[0].sender.peer.set_port(5001);
    }
    run.until(Time::ZERO + duration).unwrap();
    let delivered = run.flows[0].read;
    let (_, mut seen) = run.finish().unwrap();
    seen.delivered = delivered;
    seen.goodput = Rate::from_volume(Bytes::new(delivered - before), duration.div(4) * 3);
    seen.estimate = spoken[1].borrow().as_ref().and_then(Extension::estimate);
    seen.breaches = notes.lock().unwrap().breaches.clone();
    (seen, notes)
}
