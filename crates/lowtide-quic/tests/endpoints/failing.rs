//! Connections that fail in a simulated run.

use lowtide_cc::registry;
use lowtide_cc::units::{Duration, Rate};
use lowtide_quic::virtual_time;
use lowtide_sim::impairment::parse_scripted_loss;
use lowtide_sim::link::Link;
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::stack::Error;
use lowtide_sim::{FlowConfig, SenderKind, SimConfig};

#[test]
fn a_run_whose_connection_fails_says_which_and_why() {
    let flow = FlowConfig::bulk(SenderKind::of(&registry::parse("cubic").unwrap()));
    let link = Link::constant(Rate::from_mbps(12)).unwrap();
    let (buffer, delay) = (QueueLimit::Unlimited, Duration::from_millis(20));
    // Handshakes may take an hour.
    let duration = Duration::from_secs(3_700);
    let mut config = SimConfig::over(link, buffer, delay, vec![flow], duration);
    config.forward.script.losses = parse_scripted_loss("0s:3700s:1/1").unwrap();
    let ran = virtual_time::run(&config, ());
    let Err(Error::Closed {
        flow: 0,
        at,
        reason,
    }) = ran
    else {
        panic!("no packet arrives");
    };
    assert!(at.as_secs_f64() > 3_599.0, "{at}: {reason}");
    assert!(reason.contains("handshake"), "{reason}");
}
