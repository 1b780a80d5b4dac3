//! TCP's loss recovery over a path that can be followed by hand: 12 Mbit/s, that is a packet of 1500
//! bytes each millisecond, and 20 ms each way. How each part of it decides its own tests say, and the kernel's scripts.

use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::impairment::parse_scripted_loss;
use lowtide_sim::link::Link;
use lowtide_sim::probe::Sent;
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::source::SourceConfig;
use lowtide_sim::transport::TransportConfig;
use lowtide_sim::{FlowConfig, Probe, SenderKind, SimConfig, Simulation};

/// When packets left that had been sent before, and when all had arrived, ms.
#[derive(Debug, Default)]
struct Log {
    again: Vec<f64>,
    complete: Option<f64>,
}

fn ms(t: Time) -> f64 {
    t.since(Time::ZERO).as_millis_f64()
}

impl Probe for Log {
    fn on_send(&mut self, sent: &Sent) {
        self.again
            .extend(sent.retransmission.then_some(ms(sent.now)));
    }

    fn on_flow_complete(&mut self, _flow: usize, now: Time) {
        self.complete = Some(ms(now));
    }
}

#[test]
fn a_lost_tail_is_probed_for_and_given_up_a_whole_timeout_after_the_probe() {
    let flow = FlowConfig {
        transport: TransportConfig::tcp(),
        source: SourceConfig::Sized(Bytes::new(10 * 1_500)),
        ..FlowConfig::bulk(SenderKind::of(&registry::parse("window").unwrap()))
    };
    let link = Link::constant(Rate::from_mbps(12)).unwrap();
    let (buffer, delay) = (QueueLimit::Unlimited, Duration::from_millis(20));
    let mut config = SimConfig::over(link, buffer, delay, vec![flow], Duration::from_secs(1));
    // The last two of ten packets are lost, and the probe.
    config.forward.script.losses = parse_scripted_loss("9ms:3p:1/1").unwrap();
    let mut log = Log::default();
    Simulation::new(config).unwrap().run(&mut log);
    // Each packet is acknowledged for itself, at 41 to 48 ms: SRTT 41, 41.125, …, 43.748870. Two of
    // these and 2 ms after the last the probe repeats the tenth packet. The variation is 200 ms.
    let probe = 137.497_740;
    let timeout = 381.246_610;
    assert_eq!(log.again, [probe, timeout, timeout]);
    assert_eq!(log.complete, Some(timeout + 2.0 + 40.0));
}
