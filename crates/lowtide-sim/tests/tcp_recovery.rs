//! TCP's loss recovery on a path that can be followed by hand: 12 Mbit/s, that is a packet of 1500
//! bytes each millisecond, and 20 ms each way.

use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::impairment::parse_scripted_loss;
use lowtide_sim::link::Link;
use lowtide_sim::probe::{LossSeen, Sent};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::source::SourceConfig;
use lowtide_sim::transport::TransportConfig;
use lowtide_sim::{FlowConfig, Probe, SenderKind, SimConfig, Simulation};

const PACKET: Bytes = Bytes::new(1500);

/// What happened, at which millisecond.
#[derive(Debug, Default)]
struct Log {
    /// Number, and whether its data had been sent before.
    sent: Vec<(f64, u64, bool)>,
    /// Number, and how many milliseconds after its sending it was found lost.
    lost: Vec<(f64, u64, f64)>,
    complete: Option<f64>,
}

fn ms(t: Time) -> f64 {
    t.since(Time::ZERO).as_millis_f64()
}

impl Probe for Log {
    fn on_send(&mut self, sent: &Sent) {
        self.sent
            .push((ms(sent.now), sent.number, sent.retransmission));
    }

    fn on_loss(&mut self, _flow: usize, loss: &LossSeen<'_>) {
        for packet in loss.packets {
            let age = loss.now.since(packet.sent_at).as_millis_f64();
            self.lost.push((ms(loss.now), packet.number, age));
        }
    }

    fn on_flow_complete(&mut self, _flow: usize, now: Time) {
        self.complete = Some(ms(now));
    }
}

impl Log {
    /// When packets left, and whether again, from this number on.
    fn sent_from(&self, number: u64) -> Vec<(f64, bool)> {
        let sent = self.sent.iter().filter(|(_, n, _)| *n >= number);
        sent.map(|(at, _, again)| (*at, *again)).collect()
    }
}

/// A flow that loses packets, and acknowledgments, as the scripts say.
fn run(controller: &str, source: SourceConfig, losses: &str, ack_losses: &str, until: u64) -> Log {
    let flow = FlowConfig {
        transport: TransportConfig::tcp(),
        source,
        ..FlowConfig::bulk(SenderKind::of(&registry::parse(controller).unwrap()))
    };
    let link = Link::constant(Rate::from_mbps(12)).unwrap();
    let (buffer, delay) = (QueueLimit::Unlimited, Duration::from_millis(20));
    let until = Duration::from_millis(until);
    let mut config = SimConfig::over(link, buffer, delay, vec![flow], until);
    for (pipe, losses) in [
        (&mut config.forward, losses),
        (&mut config.reverse, ack_losses),
    ] {
        if !losses.is_empty() {
            pipe.script.losses = parse_scripted_loss(losses).unwrap();
        }
    }
    let mut log = Log::default();
    Simulation::new(config).unwrap().run(&mut log);
    log
}

#[test]
fn a_lost_tail_is_probed_for_and_given_up_a_whole_timeout_after_the_probe() {
    // The last two of ten packets are lost, and the probe.
    let source = SourceConfig::Sized(PACKET * 10);
    let log = run("window", source, "9ms:3p:1/1", "", 1_000);
    // Each packet is acknowledged for itself, at 41 to 48 ms: SRTT 41, 41.125, …, 43.748870. Two of
    // these and 2 ms after the last the probe repeats the tenth packet. The variation is 200 ms.
    let probe = 137.497_740;
    let timeout = 381.246_610;
    assert_eq!(
        log.sent_from(10),
        [(probe, true), (timeout, true), (timeout, true)]
    );
    assert_eq!(log.complete, Some(timeout + 2.0 + 40.0));
}

#[test]
fn before_the_first_acknowledgment_the_timeout_is_a_second() {
    let log = run(
        "window:packets=2",
        SourceConfig::Bulk,
        "0s:2p:1/1",
        "",
        1_100,
    );
    assert_eq!(log.sent_from(2)[..2], [(1_000.0, true), (1_000.0, true)]);
}

#[test]
fn one_acknowledgment_for_a_retransmission_and_later_packets_shows_no_reordering() {
    // The repair of the first loss is acknowledged together with what was sent just before it, as all
    // acknowledgments in between are lost. Then another packet is lost.
    let log = run(
        "window:packets=20",
        SourceConfig::Bulk,
        "90ms:1p:1/1,250ms:1p:1/1",
        "114ms:41ms:1/1",
        500,
    );
    // Both when the third later packet is acknowledged: a round trip of 41 ms and 3 more.
    assert_eq!(log.lost, [(133.0, 47, 44.0), (301.0, 91, 44.0)]);
}

#[test]
fn what_was_lost_leaves_at_once_and_half_the_window_follows_over_the_round_trip() {
    // The third packet is lost.
    let log = run("newreno", SourceConfig::Bulk, "3ms:1p:1/1", "", 100);
    assert_eq!(log.lost, [(46.0, 2, 46.0)], "on the third SACK");
    // Until then slow start: two packets for each acknowledgment, at 41 and 42 ms; a SACK lets one leave, and does not raise
    // the window, which is 12 and comes down to 6: one packet for each second acknowledgment, the
    // retransmission first. From 82 ms on those of the second round come.
    let sent: Vec<f64> = log.sent_from(10).iter().map(|(at, _)| *at).collect();
    let before = [41.0, 41.0, 42.0, 42.0, 44.0, 45.0];
    let recovery = [46.0, 48.0, 50.0, 83.0, 85.0, 87.0];
    assert_eq!(sent[..12], [before, recovery].concat());
    let again: Vec<f64> = log.sent.iter().filter(|s| s.2).map(|s| s.0).collect();
    assert_eq!(again, [46.0]);
}
