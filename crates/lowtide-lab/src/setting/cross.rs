//! Traffic that shares a link with the flows that are measured, as people write it.

use std::path::PathBuf;

use lowtide_cc::units::quantity::{self, QuantityError};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::network::seed;
use lowtide_sim::source::{self, SourceConfig};
use serde::Serialize;

/// What crosses a link.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Traffic {
    /// An application's packets, which answer to nothing.
    Source(SourceConfig),
    /// Packets of a file.
    File(PathBuf),
    /// Short CUBIC flows that offer this share of the link's mean rate.
    Web(f64),
}

/// What crosses a link: `cbr:5mbit`, `onoff:10mbit:1s:500ms`, `video:2mbit`, `web:30%`, `file:PATH`.
pub(super) fn parse(text: &str) -> Result<Traffic, QuantityError> {
    let form = "write cbr:5mbit, onoff:10mbit:1s:500ms, video:2mbit, web:30% or file:PATH";
    let remedy = |e: &dyn std::fmt::Display| QuantityError::new(format!("{e}; {form}"));
    let Some((kind, rest)) = text.split_once(':') else {
        return Err(remedy(&QuantityError::of(text, "is no cross traffic")));
    };
    match kind {
        "cbr" => {
            let rate = quantity::rate(rest).map_err(|e| remedy(&e))?;
            Ok(Traffic::Source(SourceConfig::ConstantRate(rate)))
        }
        "onoff" | "video" => match source::parse_timed(text).map_err(|e| remedy(&e))? {
            Some(source) => Ok(Traffic::Source(source)),
            None => Err(remedy(&QuantityError::of(text, "is no cross traffic"))),
        },
        "web" => {
            let load = quantity::probability(rest).map_err(|e| remedy(&e))?;
            if load == 0.0 {
                return Err(remedy(&"a load of 0 % is none"));
            }
            Ok(Traffic::Web(load))
        }
        "file" if !rest.is_empty() => Ok(Traffic::File(PathBuf::from(rest))),
        _ => Err(remedy(&QuantityError::of(text, "is no cross traffic"))),
    }
}

/// Sizes of transfers: a Pareto distribution of this shape between these bounds, as Crovella and
/// Bestavros found them in the web (IEEE/ACM Transactions on Networking 5(6), 1997: 1.1 to 1.3).
const SHAPE: f64 = 1.2;
const LEAST: f64 = 10e3;
const MOST: f64 = 10e6;

/// Short flows, one transfer each, that begin as a Poisson process has it: given how many there are,
/// their starts are independent and evenly distributed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Web {
    /// In this time.
    within: Duration,
    /// Which of the run's streams of chance is theirs.
    stream: u64,
}

/// The streams of web traffic, by [`seed::derive`] of the run's seed.
const FIRST_STREAM: u64 = 1 << 40;

impl Web {
    pub(super) fn new(within: Duration, number: usize) -> Self {
        Self {
            within,
            stream: FIRST_STREAM + number as u64,
        }
    }

    /// Mean size of a transfer, bytes.
    fn mean_size() -> f64 {
        let ratio = LEAST / MOST;
        LEAST * SHAPE / (SHAPE - 1.0) * (1.0 - libm::pow(ratio, SHAPE - 1.0))
            / (1.0 - libm::pow(ratio, SHAPE))
    }

    /// How many transfers offer this share of a rate.
    pub(super) fn count(within: Duration, load: f64, rate: Rate) -> u64 {
        let volume = rate.volume_in(within).as_f64() * load;
        libm::round(volume / Self::mean_size()).max(1.0) as u64
    }

    /// Starts and sizes of so many transfers in the run of a seed, by their starts.
    pub(super) fn transfers(&self, count: usize, run: u64) -> Vec<(Time, Bytes)> {
        let mut numbers = uniform(run, self.stream);
        let mut uniform = || numbers.next().unwrap_or_default();
        let mut transfers: Vec<(Time, Bytes)> = (0..count)
            .map(|_| {
                let start = Time::ZERO + self.within.mul_f64(uniform());
                let kept = 1.0 - uniform() * (1.0 - libm::pow(LEAST / MOST, SHAPE));
                let size = LEAST / libm::pow(kept, 1.0 / SHAPE);
                (start, Bytes::new(size as u64))
            })
            .collect();
        transfers.sort();
        transfers
    }
}

/// Numbers evenly distributed in `0..1`, of one of a run's streams.
fn uniform(run: u64, stream: u64) -> impl Iterator<Item = f64> {
    let own = seed::derive(run, stream);
    (1..).map(move |n| (seed::derive(own, n) >> 11) as f64 / (1_u64 << 53) as f64)
}

/// The streams of groups that start at random.
const FIRST_POISSON: u64 = 1 << 41;

/// When the flows of the n-th group start, so many in this time, as a Poisson process has it.
pub(super) fn poisson(within: Duration, count: usize, run: u64, group: u64) -> Vec<Duration> {
    let numbers = uniform(run, FIRST_POISSON + group).take(count);
    let mut starts: Vec<Duration> = numbers.map(|u| within.mul_f64(u)).collect();
    starts.sort();
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_offer_their_share_of_the_link_and_most_of_it_in_few_of_them() {
        let within = Duration::from_secs(1_000);
        let rate = Rate::from_mbps(100);
        let count = Web::count(within, 0.3, rate) as usize;
        let transfers = Web::new(within, 0).transfers(count, 7);
        let sum: f64 = transfers.iter().map(|(_, size)| size.as_f64()).sum();
        let share = sum / rate.volume_in(within).as_f64();
        assert!((0.27..0.33).contains(&share), "{share}");
        let mut sizes: Vec<u64> = transfers.iter().map(|(_, size)| size.get()).collect();
        sizes.sort_unstable();
        let largest: u64 = sizes[count * 9 / 10..].iter().sum();
        let share = largest as f64 / sum;
        assert!(share > 0.5, "a tenth of them has {share}");
        assert_ne!(transfers, Web::new(within, 0).transfers(count, 8));
    }
}
