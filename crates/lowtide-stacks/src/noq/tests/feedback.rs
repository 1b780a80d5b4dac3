//! RBBR's feedback in datagrams, also from a peer that lies.

use lowtide_cc::controller::PeerSignal;
use lowtide_cc::controllers::rbbr::frame::Frame;
use lowtide_sim::source::SourceConfig;
use noq_proto::congestion::ControllerFactory;

use super::*;

#[test]
fn the_receivers_estimate_is_that_of_the_link_and_the_sender_uses_it() {
    let mut scenario = Scenario::new("rbbr", TEN_MBIT);
    scenario.extensions = [true; 2];
    let (seen, notes) = run(scenario);
    let notes = notes.lock().unwrap();
    assert_eq!(seen.breaches, [""; 0]);
    // On the link are 28 bytes a packet more than the receiver counts: 9.81 Mbit/s.
    let estimate = seen.estimate.unwrap().as_mbps();
    assert!((9.6..10.0).contains(&estimate), "{estimate}");
    let used = notes.bandwidth.unwrap().as_mbps();
    assert!((9.5..10.0).contains(&used), "{used}");
    assert!(seen.goodput > Rate::from_mbps(9), "{}", seen.goodput);
    // One for each sample of 10 ms outside of Startup and ProbeRTT.
    let count = notes.feedback.len();
    assert!((400..800).contains(&count), "{count}");
    assert_eq!(seen.extension.negotiated, Some(true));
    // The last may have come after the last acknowledgment.
    assert!(count as u64 - seen.extension.reports <= 1);
}

#[test]
fn the_receiver_samples_as_the_spec_says() {
    let controllers = Arc::new(Controllers::new("rbbr:interval=20ms").unwrap());
    let extension = Extension::new(controllers.build(Instant::now(), 1200));
    assert_eq!(extension.interval(), Duration::from_millis(20));
}

#[test]
fn without_the_extension_at_either_end_rbbr_runs_by_its_own_estimate() {
    for extensions in [[false, false], [true, false], [false, true]] {
        let mut scenario = Scenario::new("rbbr", TEN_MBIT);
        scenario.extensions = extensions;
        let (seen, notes) = run(scenario);
        assert_eq!(notes.lock().unwrap().feedback, [], "{extensions:?}");
        assert_eq!(seen.extension.reports, 0, "{extensions:?}");
        assert!(seen.goodput > Rate::from_mbps(9), "{extensions:?}");
    }
}

#[test]
fn a_connection_that_has_nothing_to_send_falls_silent() {
    let mut scenario = Scenario::new("rbbr", TEN_MBIT);
    scenario.extensions = [true; 2];
    scenario.config.flows[0].source = SourceConfig::Sized(Bytes::new(3_000_000));
    scenario.config.duration = Duration::from_secs(20);
    let (seen, _) = run(scenario);
    assert_eq!(seen.delivered, 3_000_000);
    // 2.6 s of data, a round trip or two of acknowledgments.
    let last = seen.last_exit;
    assert!(last < Time::ZERO + Duration::from_secs(4), "{last}");
}

fn signalling(signal: PeerSignal, rate: Rate) -> Option<Vec<u8>> {
    Some(Frame { signal, rate }.encode().to_vec())
}

fn frame(rate: u64) -> Option<Vec<u8>> {
    signalling(PeerSignal::Suspend, Rate::from_bytes_per_sec(rate))
}

#[test]
fn a_receiver_that_lies_gains_nothing_and_stops_nobody_but_itself() {
    let bbr = run(Scenario::new("bbr-noagg", TEN_MBIT)).0;
    let lie = |forge: Forge| {
        let mut scenario = Scenario::new("rbbr", TEN_MBIT);
        scenario.extensions = [true, false];
        scenario.forger = Some((1, forge));
        let (seen, notes) = run(scenario);
        assert_eq!(seen.breaches, [""; 0]);
        (seen, notes.lock().unwrap().feedback.len())
    };
    // Upwards: on a link of its own no more than BBR v1's own estimate gives.
    let (seen, heard) = lie(Box::new(|| frame(u64::MAX)));
    assert!(heard > 500, "{heard}");
    let gain = seen.goodput.as_mbps() / bbr.goodput.as_mbps();
    let delay = seen.mean_rtt_ms() / bbr.mean_rtt_ms();
    assert!(
        (0.97..1.01).contains(&gain) && delay < 1.1,
        "{gain} {delay}"
    );
    // Downwards: four packets a round trip, 1.1 Mbit/s, until the sender no longer believes it.
    let (seen, _) = lie(Box::new(|| frame(1)));
    let mbps = seen.goodput.as_mbps();
    assert!((1.5..10.0).contains(&mbps), "{mbps}");
    // Nothing at all, or what is no frame.
    let mut count = 0_u8;
    let (seen, heard) = lie(Box::new(move || {
        count = count.wrapping_add(1);
        Some(match count % 4 {
            0 => Vec::new(),
            1 => vec![count; usize::from(count)],
            2 => [frame(77).unwrap(), vec![0]].concat(),
            _ => frame(0).unwrap(),
        })
    }));
    assert_eq!(heard, 0);
    assert!(seen.goodput > Rate::from_mbps(9), "{}", seen.goodput);
}

#[test]
fn a_sender_that_flips_its_state_spoils_only_what_it_is_told() {
    let mut scenario = Scenario::new("bbr", TEN_MBIT);
    scenario.extensions = [false, true];
    let mut regular = false;
    let flip = move || {
        regular = !regular;
        let signal = if regular {
            PeerSignal::Regular
        } else {
            PeerSignal::Suspend
        };
        signalling(signal, Rate::ZERO)
    };
    scenario.forger = Some((0, Box::new(flip)));
    let (seen, _) = run(scenario);
    assert_eq!(seen.breaches, [""; 0]);
    assert!(seen.goodput > Rate::from_mbps(8), "{}", seen.goodput);
    // An interval that is suspended before it is over gives no sample.
    assert_eq!(seen.estimate, None);
}
