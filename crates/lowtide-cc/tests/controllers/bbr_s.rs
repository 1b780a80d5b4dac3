//! BBR-S: capacity samples, SKIP's modes, and what differs in Startup and ProbeRTT.

use lowtide_cc::controllers::bbr::{BandwidthEstimator, Model, Phase, Policy};
use lowtide_cc::controllers::bbr_s::{
    CapacitySample, CapacitySampler, LowDelay, MIN_CAPACITY, Mode, Skip, SkipConfig, SkipEstimator,
};
use lowtide_cc::delivery_rate::RateSample;
use lowtide_cc::estimators::{Adaptation, NoiseBounds};
use lowtide_cc::units::{Duration, Rate};
use lowtide_cc::{Config, registry};

use super::events::{ack, at, ms, packet, rate_sample};
use super::host::{Host, MSS};

/// Samples of packets that leave each `gap` µs and arrive each `arrival_gap` µs, the first one
/// after 40 ms.
fn samples(gap: u64, arrival_gap: u64, packets: u64) -> Vec<CapacitySample> {
    samples_on(ms(40), false, gap, arrival_gap, packets)
}

/// The same on a path of that minimum RTT.
fn samples_on(
    min_rtt: Duration,
    app_limited: bool,
    gap: u64,
    arrival_gap: u64,
    packets: u64,
) -> Vec<CapacitySample> {
    let mut sampler = CapacitySampler::new(ms(10), 3, 1.1);
    let sample = |n| {
        let sent_at = at(1_000) + Duration::from_micros(gap * n);
        let now = at(1_040) + Duration::from_micros(arrival_gap * n);
        let acked = [packet(n, sent_at)];
        let mut event = ack(now, now.since(sent_at), &acked);
        event.rate_sample = Some(RateSample {
            app_limited,
            ..rate_sample(Rate::from_mbps(8))
        });
        sampler.on_ack(&event, min_rtt)
    };
    (0..packets).filter_map(sample).collect()
}

#[test]
fn a_capacity_sample_is_the_sending_rate_over_one_plus_the_slope_of_the_rtt() {
    // 1000 bytes a millisecond; they arrive 1.25 ms apart, so that the slope is 0.25.
    for sample in samples(1_000, 1_250, 50) {
        assert_eq!(sample.sending_rate, Rate::from_bytes_per_sec(1_000_000));
        assert_eq!(sample.capacity, Rate::from_bytes_per_sec(800_000));
    }
    assert_eq!(samples(1_000, 1_250, 50).len(), 6, "one each 10 ms");
    // Without a queue the capacity does not show: what was sent does.
    for sample in samples(1_000, 1_000, 50) {
        assert_eq!(sample.capacity, sample.sending_rate);
    }
    // A queue that drains shows more than was sent.
    assert_eq!(
        samples(1_000, 500, 50)[0].capacity,
        Rate::from_bytes_per_sec(2_000_000)
    );
    // At a low rate a step lasts until it holds three acknowledgments.
    assert_eq!(samples(20_000, 20_000, 11).len(), 5);
    // A packet that was overtaken lies in the past.
    let mut sampler = CapacitySampler::new(ms(10), 3, 1.1);
    for n in 0..30 {
        let now = at(1_040 + n);
        for sent_at in [at(1_000 + n), at(990 + n)] {
            let acked = [packet(n, sent_at)];
            if let Some(sample) = sampler.on_ack(&ack(now, now.since(sent_at), &acked), ms(40)) {
                assert_eq!(sample.sending_rate, Rate::from_bytes_per_sec(1_000_000));
            }
        }
    }
    // Packets that left at once have no slope.
    assert!(samples(0, 1_000, 50).is_empty());
}

#[test]
fn a_sample_is_censored_at_the_sending_rate_unless_all_its_packets_queued() {
    let queued = |samples: Vec<CapacitySample>| -> Vec<bool> {
        samples.iter().map(|sample| sample.queued).collect()
    };
    // Without a queue.
    assert_eq!(queued(samples(1_000, 1_000, 22)), [false, false]);
    // A step holds eight packets and each waits 250 µs longer than the one before: from the fourth
    // step on all RTTs are above 44 ms, a tenth more than the minimum.
    let growing = queued(samples(1_000, 1_250, 50));
    assert_eq!(growing, [false, false, false, true, true, true]);
    // A queue that drains: twice as much arrives as was sent.
    let draining = samples_on(ms(20), false, 1_000, 500, 22);
    assert_eq!(draining[0].capacity, Rate::from_bytes_per_sec(2_000_000));
    assert_eq!(draining[0].ceiling(), None);
    // The same packets where the RTT was never less: nothing queued.
    let sent = Rate::from_bytes_per_sec(1_000_000);
    assert_eq!(samples(1_000, 500, 22)[0].ceiling(), Some(sent));
    // Behind other flows' queue an application that sends little sees only what it sends.
    let little = samples_on(ms(20), true, 1_000, 1_000, 22);
    assert_eq!(little[0].ceiling(), Some(sent));
}

fn sample(capacity: u64, sending_rate: u64) -> CapacitySample {
    CapacitySample {
        capacity: Rate::from_bytes_per_sec(capacity),
        sending_rate: Rate::from_bytes_per_sec(sending_rate),
        queued: false,
    }
}

/// SKIP that has settled near 1 MB/s.
fn settled() -> Skip {
    let mut skip = Skip::new(Adaptation::DEFAULT, NoiseBounds::DEFAULT);
    for n in 0..400 {
        // ±2 %, so that the filter does not take any deviation for sudden.
        let capacity = if n % 2 == 0 { 980_000 } else { 1_020_000 };
        skip.on_sample(&sample(capacity, 2_000_000));
    }
    let settled = skip.capacity().as_f64();
    assert!((settled - 1e6).abs() < 3e4, "{settled}");
    skip
}

#[test]
fn three_steps_far_below_reset_the_estimate_to_their_mean_and_fewer_do_not() {
    // A standard deviation is about 4 % here: three are a drop, two are none.
    for (capacity, mode) in [(800_000, Mode::Drop), (920_000, Mode::Normal)] {
        let mut skip = settled();
        skip.on_sample(&sample(capacity, 2_000_000));
        assert_eq!(skip.mode(), mode, "{capacity}");
    }
    let mut skip = settled();
    let before = skip.capacity();
    for capacity in [300_000, 200_000] {
        skip.on_sample(&sample(capacity, 900_000));
        assert_eq!((skip.mode(), skip.capacity()), (Mode::Drop, before));
    }
    skip.on_sample(&sample(400_000, 900_000));
    assert_eq!(skip.capacity(), Rate::from_bytes_per_sec(300_000));

    // A censored step between says that the link can do what was sent.
    let mut skip = settled();
    for capacity in [300_000, 300_000, 900_000, 300_000, 300_000] {
        skip.on_sample(&sample(capacity, 900_000));
    }
    assert!(skip.capacity() > Rate::from_bytes_per_sec(800_000));
}

#[test]
fn three_steps_far_above_reset_the_estimate_to_their_mean() {
    let mut skip = settled();
    for capacity in [2_900_000, 3_000_000] {
        let before = skip.capacity();
        skip.on_sample(&sample(capacity, 9_000_000));
        assert_eq!(skip.mode(), Mode::Step);
        assert!(skip.capacity() > before, "filtered all the same");
        assert!(skip.capacity() < Rate::from_bytes_per_sec(2_950_000));
    }
    skip.on_sample(&sample(3_100_000, 9_000_000));
    assert_eq!(skip.capacity(), Rate::from_bytes_per_sec(3_000_000));
}

#[test]
fn what_a_queue_delivers_counts_even_above_what_was_sent() {
    let after = |queued| {
        let mut skip = settled();
        for capacity in [2_900_000, 3_000_000, 3_100_000] {
            skip.on_sample(&CapacitySample {
                queued,
                ..sample(capacity, 1_000_000)
            });
        }
        skip.capacity()
    };
    assert_eq!(after(true), Rate::from_bytes_per_sec(3_000_000));
    // Without a queue they show that the link carries 1 MB/s, at least.
    assert!(after(false) < Rate::from_bytes_per_sec(1_200_000));
}

#[test]
fn three_silent_steps_reset_the_estimate_to_its_minimum() {
    let mut skip = settled();
    let before = skip.capacity();
    assert!(!skip.on_silence() && !skip.on_silence());
    assert_eq!((skip.mode(), skip.capacity()), (Mode::Outage, before));
    // Something arrives: the count starts anew.
    skip.on_sample(&sample(900_000, 900_000));
    assert_eq!(skip.mode(), Mode::Censored);
    assert!(!skip.on_silence() && !skip.on_silence());
    assert!(skip.on_silence());
    assert_eq!(skip.capacity(), MIN_CAPACITY);
}

fn host() -> Host {
    let mut host = Host::of("bbr-s", Rate::from_mbps(20), ms(40));
    host.run_until(|h| h.phase() == "ProbeBW");
    host
}

#[test]
fn an_outage_slows_the_sender_down_and_its_end_brings_it_back() {
    let mut host = host();
    host.run_for(Duration::from_secs(2));
    let estimate = |h: &Host| h.cc.snapshot().bandwidth.unwrap().as_mbps();
    assert!((15.0..25.0).contains(&estimate(&host)));
    host.stall(Duration::from_secs(1));
    let stalled_at = host.now;
    host.run_until(|h| estimate(h) < 1.0);
    let took = host.now.since(stalled_at);
    assert!(took < ms(100), "noticed after {took}");
    // Not 50 kB/s: the smallest window moves 100 kB/s.
    let smallest = Rate::from_volume(MSS * 4, host.last_rtt);
    assert_eq!(host.cc.snapshot().bandwidth, Some(smallest));
    assert_eq!(
        host.cc.next_wakeup(),
        None,
        "there is nothing more to learn"
    );
    host.run_for(Duration::from_secs(5));
    let mbps = estimate(&host);
    assert!(mbps > 15.0, "{mbps} Mbit/s after it");
}

#[test]
fn pauses_of_the_application_are_no_outages() {
    let mut host = host();
    host.run_for(Duration::from_secs(2));
    host.pause(ms(100));
    // A frame of four packets each 30 ms: when the last one is acknowledged the next has long left,
    // but is not due yet.
    for _ in 0..100 {
        host.data = Some(4);
        host.run_until(|h| h.data == Some(0));
        host.pause(ms(30));
        let snapshot = host.cc.snapshot();
        assert_ne!(snapshot.filter.unwrap().mode, "outage", "at {}", host.now);
        assert!(snapshot.bandwidth.unwrap().as_mbps() > 5.0);
    }
}

#[test]
fn probe_rtt_keeps_half_a_bdp_in_flight() {
    let mut host = host();
    host.run_until(|h| h.phase() == "ProbeRTT");
    host.run_for(ms(100));
    let snapshot = host.cc.snapshot();
    assert_eq!(snapshot.phase, "ProbeRTT");
    let half = snapshot
        .bandwidth
        .unwrap()
        .volume_in(snapshot.min_rtt.unwrap())
        .mul_f64(0.5);
    assert_eq!(host.cc.cwnd(), half);
    assert!(half > MSS * 40);
    assert_eq!(host.cc.next_wakeup(), None, "silence is its own doing");
}

#[test]
fn gaps_between_packets_of_a_slow_link_are_no_outages() {
    // A packet each 50 ms.
    let mut host = Host::of("bbr-s", Rate::from_bytes_per_sec(20_000), ms(40));
    host.run_until(|h| h.phase() == "ProbeBW");
    for _ in 0..2_000 {
        assert!(host.step());
        let filter = host.cc.snapshot().filter.unwrap();
        assert_ne!(filter.mode, "outage", "at {}", host.now);
    }
}

#[test]
fn the_estimate_does_not_exceed_what_was_delivered() {
    let mut model = Model::new(&Config::for_datagram(MSS));
    (model.min_rtt, model.rtt) = (ms(40), ms(40));
    let mut estimator = SkipEstimator::new(&SkipConfig::DEFAULT);
    estimator.on_phase(Phase::ProbeBw);
    // Bursts of 1 MB/s, as they were sent; in a round trip a fifth of it arrives.
    let delivered = Rate::from_bytes_per_sec(200_000);
    for n in 0..100 {
        let acked = [packet(n, at(1_000 + n))];
        let mut event = ack(at(1_040 + n), ms(40), &acked);
        event.rate_sample = Some(rate_sample(delivered));
        estimator.on_ack(&event, &model);
    }
    assert_eq!(estimator.bandwidth(), delivered);
}

#[test]
fn startup_ends_when_the_rtt_is_six_times_its_minimum() {
    let mut model = Model::new(&Config::default());
    let acked = [packet(1, at(0))];
    model.min_rtt = ms(40);
    model.bandwidth = Rate::from_mbps(1);
    for (rtt, ends) in [(239, false), (240, true)] {
        model.rtt = ms(rtt);
        let ack = ack(at(500), model.rtt, &acked);
        assert_eq!(LowDelay.ends_startup(&ack, &model), ends);
    }
}

#[test]
fn a_long_rtt_before_the_first_rate_sample_does_not_stop_the_flow() {
    let mut cc = registry::build("bbr-s", &Config::for_datagram(MSS)).unwrap();
    for (now, rtt) in [(40, 40), (340, 340)] {
        cc.on_ack(&ack(at(now), ms(rtt), &[packet(now, at(0))]));
    }
    let rate = cc.pacing_rate().unwrap();
    assert!(rate > Rate::from_bytes_per_sec(100_000), "paces at {rate}");
}
