//! Networks as points in a unit cube, which searches move about in.

use crate::network::{Network, OnOff, Queue, Step};
use crate::world::{Range, World};

/// Rates that a genome holds, whatever the world allows.
const RATES: usize = 8;
/// Places: two for each rate, and one for each number below.
const GENES: usize = 2 * RATES + 38;
/// A feature is there where its gene is above this: two in five of random ones.
const PRESENT: f64 = 0.6;

/// A network as numbers between 0 and 1, one for each thing that can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Genome(pub Vec<f64>);

/// Reads one gene after the other.
struct Reader<'a> {
    genes: &'a [f64],
    at: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> f64 {
        let gene = self.genes.get(self.at).copied().unwrap_or(0.0);
        self.at += 1;
        gene.clamp(0.0, 1.0)
    }

    fn is(&mut self, allowed: bool) -> bool {
        self.next() > PRESENT && allowed
    }

    /// A number of two significant digits, even in its logarithm.
    fn number(&mut self, (least, most): Range) -> u64 {
        number(self.next(), least, most)
    }

    /// A whole number in a range, or nothing where the feature is not there.
    fn up_to(&mut self, least: u64, most: u64) -> Option<u64> {
        let is = self.is(most >= least && most > 0);
        let value = self.number((least, most.max(least)));
        is.then_some(value)
    }
}

/// A number of two significant digits between two others, even in its logarithm.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
fn number(gene: f64, least: u64, most: u64) -> u64 {
    let [low, high] = [least, most].map(|end| libm::log(end.max(1) as f64));
    let value = libm::exp(low + gene * (high - low)).round() as u64;
    rounded(value).clamp(least, most.max(least))
}

/// A number to two significant digits.
#[must_use]
pub fn rounded(value: u64) -> u64 {
    let mut unit = 1;
    while value / unit >= 100 {
        unit *= 10;
    }
    (value + unit / 2) / unit * unit
}

impl Genome {
    /// How many numbers there are.
    pub const LEN: usize = GENES;

    /// The network that it stands for in a world, of a run of so many ms.
    #[must_use]
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    pub fn network(&self, world: &World, run_ms: u64) -> Network {
        let mut genes = Reader {
            genes: &self.0,
            at: 0,
        };
        let steps: Vec<Step> = (0..RATES)
            .map(|_| Step {
                kbit: genes.number(world.rate_kbit),
                ms: genes.number(world.rate_ms),
            })
            .collect();
        let moves = genes.is(world.rates > 1);
        let count = 2 + (genes.next() * (world.rates.max(2) - 1) as f64) as usize;
        let count = if moves {
            count.min(world.rates as usize)
        } else {
            1
        };
        let mut network = Network::calm(steps[0].kbit, genes.number(world.rtt_us));
        if count > 1 {
            network.rates = steps[..count].to_vec();
        }
        network.rtt_steps = {
            let far = genes.up_to(world.rtt_move_us / 20, world.rtt_move_us);
            let at = rounded((genes.next() * run_ms as f64 * 0.7) as u64).max(1);
            let longer = genes.next() > 0.3;
            far.map(|far| {
                let to = if longer {
                    network.rtt_us + far
                } else {
                    network.rtt_us.saturating_sub(far)
                };
                (at, rounded(to.clamp(world.rtt_us.0, world.rtt_us.1)))
            })
            .filter(|(_, to)| *to != network.rtt_us)
            .into_iter()
            .collect()
        };
        let unlimited = genes.next() > 0.85 && world.unlimited;
        let buffer = genes.number(world.buffer_tenths);
        network.buffer_tenths = (!unlimited).then_some(buffer);
        let managed = genes.is(world.managed);
        let kind = 1 + (genes.next() * 2.999) as usize;
        if managed {
            network.queue = Queue::ALL[kind];
        }
        network.policer = {
            let is = genes.is(world.policed);
            let share = genes.number((20, 100));
            let burst = genes.number((10, 1000));
            is.then_some((share, burst))
        };
        network.jitter_us = genes.up_to(200, world.jitter_us).unwrap_or(0);
        network.reorder = genes.next() > 0.5 && world.reorders;
        network.loss_ppm = genes.up_to(100, world.loss_ppm).unwrap_or(0);
        network.burst = genes.number((1, world.burst));
        network.outage = {
            let long = genes.up_to(50, world.outage_ms);
            let at = rounded((genes.next() * run_ms as f64 * 0.7) as u64).max(1);
            long.map(|long| (at, long))
        };
        network.ack_batch_us = genes.up_to(500, world.ack_batch_us).unwrap_or(0);
        network.ack_every = genes.up_to(1, world.ack_every).unwrap_or(2);
        network.ack_loss_ppm = genes.up_to(1000, world.ack_loss_ppm).unwrap_or(0);
        network.cross = genes.on_off(10, world.cross_percent);
        network.source = genes.on_off(10, 150);
        network.tcp = genes.next() > 0.7;
        if network.tcp {
            network.ack_every = 2;
        }
        debug_assert_eq!(genes.at, GENES, "each gene is read once");
        network
    }
}

impl Reader<'_> {
    fn on_off(&mut self, least: u64, most: u64) -> Option<OnOff> {
        let percent = self.up_to(least, most);
        let (on_ms, off_ms) = (self.number((50, 5_000)), self.number((50, 5_000)));
        percent.map(|percent| OnOff {
            percent,
            on_ms,
            off_ms,
        })
    }
}
