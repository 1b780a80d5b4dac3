//! Small networks: what is not needed for a controller to be as bad goes, and what remains gets round numbers.

use crate::genome::rounded;
use crate::network::{Network, OnOff, Queue, Step};

/// A network whose score stays within a tenth is as good a finding.
const KEPT: f64 = 0.9;
/// Passes over all changes at most. Each change takes something away, makes a number round, or makes round times the same:
/// there is no way back.
const PASSES: usize = 20;

/// Makes a network small: `score` says how bad the controller is on one; of what is less than its second argument it need
/// not say how much less. Each change is kept that leaves nine tenths of the score that it began with.
///
/// # Errors
/// Those of `score`.
pub fn minimised<E>(
    network: &Network,
    mut score: impl FnMut(&Network, f64) -> Result<f64, E>,
) -> Result<(Network, f64), E> {
    let mut best = network.clone();
    let mut of_best = score(&best, f64::NEG_INFINITY)?;
    let wanted = KEPT * of_best;
    for _ in 0..PASSES {
        let before = best.clone();
        let mut at = 0;
        // What remains after a change is asked anew: it may be smaller by more than the change.
        while let Some(smaller) = smaller(&best).into_iter().nth(at) {
            let of_smaller = score(&smaller, wanted)?;
            if of_smaller >= wanted {
                (best, of_best) = (smaller, of_smaller);
            } else {
                at += 1;
            }
        }
        if best == before {
            break;
        }
    }
    Ok((best, of_best))
}

/// Networks that are smaller by one change, the greatest change first.
fn smaller(network: &Network) -> Vec<Network> {
    let mut found = Vec::new();
    let mut with = |change: &dyn Fn(&mut Network)| {
        let mut other = network.clone();
        change(&mut other);
        if other != *network {
            found.push(other);
        }
    };
    with(&|n| n.tcp = false);
    with(&|n| n.cross = None);
    with(&|n| n.source = None);
    with(&|n| n.policer = None);
    with(&|n| n.queue = Queue::DropTail);
    with(&|n| n.outage = None);
    with(&|n| n.rtt_steps.clear());
    with(&|n| n.loss_ppm = 0);
    with(&|n| n.jitter_us = 0);
    with(&|n| n.reorder = false);
    with(&|n| n.ack_batch_us = 0);
    with(&|n| n.ack_loss_ppm = 0);
    with(&|n| n.ack_every = 2);
    with(&|n| n.burst = 1);
    with(&|n| n.buffer_tenths = Some(20));
    with(&|n| n.rates.truncate(1));
    for place in 0..network.rates.len() {
        if network.rates.len() > 1 {
            with(&|n| {
                n.rates.remove(place);
            });
        }
    }
    // A single rate lasts for ever.
    with(&|n| {
        if let [only] = &mut n.rates[..] {
            only.ms = 0;
        }
    });
    for place in 0..network.rates.len() {
        with(&|n| n.rates[place].kbit = round(n.rates[place].kbit));
        with(&|n| n.rates[place].ms = round(n.rates[place].ms));
    }
    // A round time, or the next change would be the opposite one, and so for ever.
    if let [first, ..] = network.rates[..] {
        with(&|n| {
            for step in &mut n.rates {
                *step = Step {
                    ms: round(first.ms),
                    ..*step
                };
            }
        });
    }
    with(&|n| n.rtt_us = round(n.rtt_us));
    with(&|n| n.buffer_tenths = n.buffer_tenths.map(round));
    with(&|n| n.jitter_us = round(n.jitter_us));
    with(&|n| n.loss_ppm = round(n.loss_ppm));
    with(&|n| n.burst = round(n.burst));
    with(&|n| n.ack_batch_us = round(n.ack_batch_us));
    with(&|n| n.ack_loss_ppm = round(n.ack_loss_ppm));
    with(&|n| n.ack_every = round(n.ack_every));
    with(&|n| n.outage = n.outage.map(|(at, ms)| (round(at), round(ms))));
    with(&|n| {
        for (at, us) in &mut n.rtt_steps {
            (*at, *us) = (round(*at), round(*us));
        }
    });
    with(&|n| n.policer = n.policer.map(|(share, burst)| (round(share), round(burst))));
    with(&|n| n.cross = n.cross.map(rounder));
    with(&|n| n.source = n.source.map(rounder));
    found
}

fn rounder(traffic: OnOff) -> OnOff {
    OnOff {
        percent: round(traffic.percent),
        on_ms: round(traffic.on_ms),
        off_ms: round(traffic.off_ms),
    }
}

/// A number to one significant digit; 1, 2 and 5 are rounder than others.
#[allow(clippy::cast_precision_loss)]
fn round(value: u64) -> u64 {
    let mut unit = 1;
    while value / unit >= 10 {
        unit *= 10;
    }
    let leading = rounded(value) as f64 / unit as f64;
    let rounds = [1, 2, 5, 10];
    let near = rounds.into_iter().min_by(|a, b| {
        let far = |round: u64| (leading - round as f64).abs();
        far(*a).total_cmp(&far(*b))
    });
    if value == 0 {
        0
    } else {
        near.unwrap_or(1) * unit
    }
}
