//! The C controllers against the Rust core: the same streams of acknowledgments, losses, timeouts and
//! silences, and after each call the same window and pacing rate, within what fixed point allows.
//!
//! The kernel cannot run a congestion control on made-up input (`BPF_PROG_TEST_RUN` knows no struct_ops), so
//! the C code is compiled for this machine, behind the kernel's structures. `LOWTIDE_STREAMS` sets how
//! many streams of 20 000 calls each controller gets: 125 make 10^7 over the four.

mod mapping;
mod native;
mod path;

use std::collections::BTreeMap;

use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_cc::{Config, Transport};
use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::{Pcg32, Pcg64};

use self::mapping::{Host, Numbers};
use self::native::{Answer, Binary, Call, Kernel, RANDOMS};
use self::path::World;

const CALLS: usize = 20_000;
const STREAMS: u64 = 32;

/// A controller in both languages, and what fixed point may make of its window and rate.
struct Pair {
    name: &'static str,
    header: &'static str,
    /// What the loader would set, as a definition.
    definition: Option<&'static str>,
    numbers: Numbers,
    mss_changes: bool,
    /// The core with a parameter that differs in the seventh digit, about as much as the errors of fixed
    /// point add up to. Some streams make the law itself sensitive, so that it multiplies any
    /// difference: by as much as its twins part from the core, times [`TWINS`], the C code may, too.
    twins: &'static [&'static str],
    /// Else windows and rates differ by no more than this share …
    share: f64,
    /// … and windows by so many bytes besides, rates by what two bytes of window make.
    bytes: f64,
}

/// The C code errs in more places than a twin.
const TWINS: f64 = 16.0;

/// What the Rust core answers to a call.
struct Expected {
    answer: Answer,
    phase: &'static str,
    mss: u64,
    /// How far a twin of the core has been from it so far: bytes of window, and bytes a second.
    twin: (u64, u64),
}

/// A stream's calls, and what the Rust core answers to each.
fn stream(pair: &Pair, seed: u64) -> (Vec<(Call, Kernel)>, Vec<Expected>) {
    let random = Pcg64::seed_from_u64(seed);
    let mut world = World::new(random, pair.mss_changes, !seed.is_multiple_of(2));
    let mut calls = vec![world.next(0, 0)];
    let start = calls[0].1;
    let config = Config {
        max_datagram: Bytes::new(u64::from(start.mss_cache)),
        initial_window: Bytes::new(u64::from(start.mss_cache * start.snd_cwnd)),
        now: Time::ZERO + Duration::from_micros(start.tcp_mstamp),
        seed,
        transport: Transport::Tcp,
    };
    let host = |name: &str| {
        let controller = registry::build(name, &config).expect("a known name");
        Host::new(controller, pair.numbers, &start)
    };
    let mut core = host(pair.name);
    let mut twins: Vec<Host> = pair.twins.iter().map(|name| host(name)).collect();
    let mut twin = (0, 0);
    let mut answers = vec![Expected {
        answer: core.answer(),
        phase: core.phase(),
        mss: core.mss(),
        twin,
    }];
    while calls.len() < CALLS {
        let wanted = core.answer();
        let (call, kernel) = world.next(wanted.window, wanted.rate);
        core.call(call, &kernel);
        let answer = core.answer();
        for other in &mut twins {
            other.call(call, &kernel);
            let own = other.answer();
            twin.0 = twin.0.max(own.window.abs_diff(answer.window));
            twin.1 = twin.1.max(own.rate.abs_diff(answer.rate));
        }
        calls.push((call, kernel));
        answers.push(Expected {
            answer,
            phase: core.phase(),
            mss: core.mss(),
            twin,
        });
    }
    (calls, answers)
}

/// How much of what is allowed the difference of two values is; `besides` is allowed in any case.
fn error(got: u64, wanted: u64, share: f64, besides: f64) -> f64 {
    got.abs_diff(wanted) as f64 / (share * wanted as f64 + besides)
}

/// The socket's window: the controller's in whole packets, but on short paths as much as leaves in 1/2048 s,
/// up to two sends of 64 KiB, unless it empties the path (`bpf/program.h`).
fn in_packets(wants: Answer, phase: &str, mss: u64) -> u64 {
    let least = if phase == "ProbeRTT" {
        0
    } else {
        (wants.rate / 2048).min(131_072)
    };
    (wants.window.max(least) / mss).max(1)
}

fn compare(pair: &Pair) {
    let Some(binary) = Binary::of("driver", pair.header, pair.definition) else {
        return;
    };
    let streams = std::env::var("LOWTIDE_STREAMS").ok();
    let streams = streams.map_or(STREAMS, |n| n.parse().expect("a number in LOWTIDE_STREAMS"));
    let (mut worst_window, mut worst_rate): (f64, f64) = (0.0, 0.0);
    let mut phases = BTreeMap::<&str, usize>::new();
    let mut sensitive = 0;
    let mut compared = 0;
    let mut parted = Vec::new();
    for seed in 0..streams {
        let (calls, expected) = stream(pair, seed);
        let mut random = Pcg32::seed_from_u64(seed);
        let randoms: [u32; RANDOMS] = std::array::from_fn(|_| random.next_u32());
        let answers = binary.answers(&calls, &randoms);
        assert_eq!(answers.len(), calls.len(), "it died in stream {seed}");
        for (n, (applied, expected)) in answers.iter().zip(&expected).enumerate() {
            let (got, wanted) = (applied.wants, expected.answer);
            assert_eq!(
                u64::from(applied.snd_cwnd),
                in_packets(got, expected.phase, expected.mss),
                "stream {seed}, call {n}: {got:?}"
            );
            // A byte of window more or less is as much of the rate.
            let a_byte = 1.0 + wanted.rate as f64 / wanted.window as f64;
            let (twin_window, twin_rate) = expected.twin;
            let window = error(
                got.window,
                wanted.window,
                pair.share,
                pair.bytes + TWINS * twin_window as f64,
            );
            let rate = error(
                got.rate,
                wanted.rate,
                pair.share,
                2.0 * a_byte + TWINS * twin_rate as f64,
            );
            if window > 1.0 || rate > 1.0 {
                parted.push(format!(
                    "{}: stream {seed}, call {n} ({}): {got:?}, not {wanted:?}, twins {:?}, after {:?}",
                    pair.name,
                    expected.phase,
                    expected.twin,
                    &calls[n.saturating_sub(1)..=n]
                ));
                break;
            }
            compared += 1;
            *phases.entry(expected.phase).or_default() += 1;
            sensitive += usize::from(twin_window > 2);
            worst_window = worst_window.max(window);
            worst_rate = worst_rate.max(rate);
        }
    }
    eprintln!(
        "{}: {compared} calls, {} of {streams} streams parted, {phases:?}, {sensitive} of them after twins parted; of what is allowed, \
         windows differ by at most {worst_window:.3}, rates by {worst_rate:.3}",
        pair.name,
        parted.len()
    );
    assert!(parted.is_empty(), "{}", parted.join("\n"));
}

/// Those that have ProbeRTT.
const BBR: [&str; 3] = ["rtt_gain.h", "bbr_acd.h", "ebcc.h"];

#[test]
fn probe_rtt_ends_at_any_rate_with_one_acknowledgment_a_packet() {
    for header in BBR {
        let Some(binary) = Binary::of("probe", header, None) else {
            return;
        };
        for mbps in [20, 200, 1000] {
            let [probes, longest_ms, worst, used] =
                binary.numbers(&[mbps * 1_000_000, 40_000, 35])[..]
            else {
                panic!("four numbers");
            };
            let said = format!("{header}, {mbps} Mbit/s: {probes}, {longest_ms} ms, {used}");
            // It stays for 200 ms and a round trip.
            assert!(probes >= 2 && longest_ms < 300, "{said}");
            assert!(worst > 500, "{said}, in the worst ten seconds {worst}");
        }
    }
}

#[test]
fn a_flow_that_begins_again_knows_nothing_of_the_one_before() {
    let randoms = [7; RANDOMS];
    for pair in [
        bbr("rtt-gain", "rtt_gain.h"),
        bbr("bbr-acd", "bbr_acd.h"),
        bbr("ebcc", "ebcc.h"),
        ebb("ebb", None, &[]),
    ] {
        let Some(binary) = Binary::of("driver", pair.header, None) else {
            return;
        };
        let [before, after] = [1, 2].map(|seed| stream(&pair, seed).0);
        let again = binary.answers(&[before.clone(), after.clone()].concat(), &randoms);
        let alone = binary.answers(&after, &randoms);
        assert_eq!(again[before.len()..], alone, "{}", pair.name);
    }
}

#[test]
fn spans_of_days_are_no_shorter_than_one_of_hours() {
    let Some(binary) = Binary::of("fixed", "fixed.h", None) else {
        return;
    };
    let seconds = [1, 65_535, 65_536, 65_537, 86_400, (1 << 50) / 1_000_000_000];
    let shares = binary.numbers(&seconds.map(|seconds| seconds * 1_000_000_000));
    assert_eq!(
        shares[0] >> 20,
        (1 << 28) - 1,
        "a second, rounded towards zero"
    );
    assert!(shares[1] >> 48 >= 65_534, "{shares:?}");
    assert!(
        shares[2..].iter().all(|share| *share == shares[1]),
        "{shares:?}"
    );
}

fn bbr(name: &'static str, header: &'static str) -> Pair {
    Pair {
        name,
        header,
        definition: None,
        numbers: Numbers::Recoveries,
        mss_changes: false,
        twins: &[],
        share: 2e-8,
        bytes: 1.0,
    }
}

#[test]
fn rtt_gain_is_that_of_the_rust_core() {
    compare(&bbr("rtt-gain", "rtt_gain.h"));
}

#[test]
fn bbr_acd_is_that_of_the_rust_core() {
    compare(&bbr("bbr-acd", "bbr_acd.h"));
}

#[test]
fn ebcc_is_that_of_the_rust_core() {
    compare(&bbr("ebcc", "ebcc.h"));
}

fn ebb(
    name: &'static str,
    definition: Option<&'static str>,
    twins: &'static [&'static str],
) -> Pair {
    Pair {
        name,
        header: "ebb.h",
        definition,
        numbers: Numbers::Delivered,
        mss_changes: true,
        twins,
        share: 1e-6,
        bytes: 2.0,
    }
}

#[test]
fn ebb_is_that_of_the_rust_core() {
    compare(&ebb(
        "ebb",
        None,
        &["ebb:idle=0.05000001", "ebb:idle=0.04999999"],
    ));
}

#[test]
fn ebb_with_another_share_of_idle_is_that_of_the_rust_core() {
    compare(&ebb(
        "ebb:idle=0.2",
        Some("EBB_IDLE=SHARE(0.2)"),
        &["ebb:idle=0.2000001", "ebb:idle=0.1999999"],
    ));
}
