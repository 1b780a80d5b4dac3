//! What a liar has of a link beside an honest flow of ebb, over rates, RTTs and starts.

use lowtide_cc::units::{Duration, Rate, Time};
use lowtide_sim::link::Link;

use super::ebb::{
    BUNCHED, HONEST, LATE, NEVER_QUEUED, NEVER_QUEUED_BUNCHED, ONE_FOR_40, Receiver, flow,
};
use super::two_flows::{Shares, run_over};

const ONE_FOR_10: Receiver = Receiver {
    name: "one acknowledgment for 10",
    ack_every: 10,
    ..HONEST
};

const RATES_MBPS: [u64; 6] = [1, 3, 5, 8, 20, 100];
const RTTS_MS: [u64; 5] = [10, 20, 40, 100, 200];
/// When the liar and the honest flow start, ms.
const STARTS: [[u64; 2]; 5] = [[0, 137], [137, 0], [0, 411], [411, 0], [5_000, 0]];

/// The cell of the grid in which a receiver has most, and its share there.
struct Worst {
    receiver: Receiver,
    mbps: u64,
    rtt_ms: u64,
    starts: [u64; 2],
    share: f64,
}

/// The maximum over the full grid of each.
const WORST: [Worst; 9] = [
    worst(HONEST, 100, 200, [137, 0], 0.621),
    worst(LATE[0], 100, 20, [137, 0], 0.705),
    worst(LATE[1], 3, 40, [0, 137], 0.697),
    worst(BUNCHED[0], 3, 40, [137, 0], 0.763),
    worst(BUNCHED[1], 5, 40, [0, 137], 0.698),
    worst(ONE_FOR_10, 5, 40, [137, 0], 0.699),
    worst(ONE_FOR_40, 3, 40, [411, 0], 0.698),
    worst(NEVER_QUEUED, 3, 20, [0, 137], 0.613),
    worst(NEVER_QUEUED_BUNCHED, 3, 40, [137, 0], 0.748),
];

/// What a share may grow by before a test fails: the runs have no randomness, but a change of the
/// law moves single cells.
const MARGIN: f64 = 0.02;

const fn worst(receiver: Receiver, mbps: u64, rtt_ms: u64, starts: [u64; 2], share: f64) -> Worst {
    Worst {
        receiver,
        mbps,
        rtt_ms,
        starts,
        share,
    }
}

fn share(mbps: u64, rtt_ms: u64, receiver: Receiver, starts: [u64; 2]) -> f64 {
    let at = starts.map(|ms| Time::ZERO + Duration::from_millis(ms));
    let flows = vec![flow("ebb", receiver, at[0]), flow("ebb", HONEST, at[1])];
    let link = Link::constant(Rate::from_mbps(mbps)).unwrap();
    let mut shares = Shares::default();
    let one_way = Duration::from_micros(rtt_ms * 500);
    run_over(link, one_way, flows, 1, &mut shares);
    let share = shares.of_first();
    println!(
        "{mbps} Mbit/s, {rtt_ms} ms, {}, {starts:?}: {share:.3}",
        receiver.name
    );
    share
}

#[test]
fn no_liar_has_more_of_a_link_than_measured_in_its_worst_cell() {
    for worst in WORST {
        let share = share(worst.mbps, worst.rtt_ms, worst.receiver, worst.starts);
        let name = worst.receiver.name;
        assert!(share < worst.share + MARGIN, "{name}: {share}");
    }
}

#[test]
#[ignore = "1350 runs, three minutes"]
fn no_liar_has_more_anywhere_on_the_grid_than_in_its_worst_cell() {
    let mut beyond = Vec::new();
    for worst in WORST {
        for mbps in RATES_MBPS {
            for rtt_ms in RTTS_MS {
                for starts in STARTS {
                    let share = share(mbps, rtt_ms, worst.receiver, starts);
                    if share >= worst.share + MARGIN {
                        beyond.push((worst.receiver.name, mbps, rtt_ms, starts, share));
                    }
                }
            }
        }
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}
