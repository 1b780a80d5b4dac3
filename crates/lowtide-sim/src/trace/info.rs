//! What a link is like: its rates at 10 ms, its gaps, how fast it forgets.

use lowtide_cc::units::{Duration, Rate, Time};

use crate::link::Link;

/// Width of the bins in which rates are taken.
pub const BIN: Duration = Duration::from_millis(10);

/// The longest trace that is described, in bins: more than a day.
const MAX_BINS: u64 = 10_000_000;

/// Wider bins in which the rates' variation is given, too.
pub const WIDER: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];

/// The shortest time without service that counts as an outage.
pub const OUTAGE: Duration = Duration::from_millis(200);

/// Why a link cannot be described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InfoError {
    /// The link has no end, or no limit.
    #[error("it has no length")]
    NoLength,
    /// There is no whole bin.
    #[error("it is shorter than {} ms", BIN.as_nanos() / 1_000_000)]
    TooShort,
    /// The description would take too much memory.
    #[error(
        "it is {} s long; what is described is at most {} s in bins of {} ms: cut it, or check the \
         unit of its times",
        .0.as_secs_f64(),
        MAX_BINS * BIN.as_nanos() / 1_000_000_000,
        BIN.as_nanos() / 1_000_000
    )]
    TooLong(Duration),
}

/// Lags at which the autocorrelation is given.
pub const LAGS: [Duration; 4] = [
    Duration::from_millis(10),
    Duration::from_millis(100),
    Duration::from_secs(1),
    Duration::from_secs(10),
];

/// A link's statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// Length of what was looked at.
    pub length: Duration,
    /// Mean rate.
    pub mean: Rate,
    /// Percentiles 5, 25, 50, 75 and 95 of the rates in bins of 10 ms.
    pub percentiles: [Rate; 5],
    /// Highest rate of a bin.
    pub max: Rate,
    /// Standard deviation of the bins' rates over their mean.
    pub variation: f64,
    /// The variation over bins of [`WIDER`] widths; `None` where the link is shorter than ten of
    /// them.
    pub variation_of_wider: [Option<f64>; 2],
    /// Share of bins in which nothing could leave.
    pub empty_share: f64,
    /// The longest time in which nothing could leave, in whole bins.
    pub longest_gap: Duration,
    /// How many times of at least [`OUTAGE`] there are in which nothing could leave.
    pub outages: u64,
    /// Mean length of the outages, in whole bins; zero without any.
    pub outage_length: Duration,
    /// Autocorrelation of the bins' rates at [`LAGS`]; `None` where the trace is too short or
    /// constant.
    pub autocorrelation: [Option<f64>; 4],
}

/// Describes the first `length` of a link.
///
/// # Errors
/// When the link is unlimited, or the length below a bin or above [`InfoError::TooLong`]'s limit.
pub fn describe(link: &Link, length: Duration) -> Result<Info, InfoError> {
    if link.is_unlimited() {
        return Err(InfoError::NoLength);
    }
    let count = match length.as_nanos() / BIN.as_nanos() {
        0 => return Err(InfoError::TooShort),
        count if count > MAX_BINS => return Err(InfoError::TooLong(length)),
        count => count as usize,
    };
    let edge = |n: usize| Time::ZERO + BIN * n as u64;
    let bins: Vec<u64> = (0..count)
        .map(|n| link.volume_between(edge(n), edge(n + 1)).get())
        .collect();
    let rate = |bytes: u64| Rate::from_bytes_per_sec(bytes * (1_000_000_000 / BIN.as_nanos()));
    let mut sorted = bins.clone();
    sorted.sort_unstable();
    let (mean, variance) = moments(&bins);
    let variation_of = |(mean, variance): (f64, f64)| {
        if mean == 0.0 {
            0.0
        } else {
            libm::sqrt(variance) / mean
        }
    };
    let wider = |width: Duration| {
        let bins = bins.chunks_exact((width.as_nanos() / BIN.as_nanos()) as usize);
        let bins: Vec<u64> = bins.map(|bins| bins.iter().sum()).collect();
        (bins.len() >= 10).then(|| variation_of(moments(&bins)))
    };
    let autocorrelation = |lag: Duration| {
        let lag = (lag.as_nanos() / BIN.as_nanos()) as usize;
        // Below four times the lag the estimate says nothing.
        if count < 4 * lag || variance == 0.0 {
            return None;
        }
        let pairs = bins.iter().zip(&bins[lag..]);
        let covariance = pairs
            .map(|(a, b)| (*a as f64 - mean) * (*b as f64 - mean))
            .sum::<f64>()
            / count as f64;
        Some(covariance / variance)
    };
    let gaps = || bins.split(|b| *b > 0).map(|gap| BIN * gap.len() as u64);
    let longest_gap = gaps().max().unwrap_or(Duration::ZERO);
    let outages = gaps().filter(|gap| *gap >= OUTAGE);
    let (outages, without) = outages.fold((0, Duration::ZERO), |(n, sum), gap| (n + 1, sum + gap));
    Ok(Info {
        length,
        mean: Rate::from_volume(
            link.volume_between(Time::ZERO, edge(count)),
            BIN * count as u64,
        ),
        percentiles: [5, 25, 50, 75, 95].map(|p| rate(sorted[(count - 1) * p / 100])),
        max: rate(sorted[count - 1]),
        variation: variation_of((mean, variance)),
        variation_of_wider: WIDER.map(wider),
        empty_share: bins.iter().filter(|b| **b == 0).count() as f64 / count as f64,
        longest_gap,
        outages,
        outage_length: without.div(outages.max(1)),
        autocorrelation: LAGS.map(autocorrelation),
    })
}

/// Mean and variance.
fn moments(bins: &[u64]) -> (f64, f64) {
    let count = bins.len() as f64;
    let mean = bins.iter().sum::<u64>() as f64 / count;
    let deviations = bins.iter().map(|b| (*b as f64 - mean) * (*b as f64 - mean));
    (mean, deviations.sum::<f64>() / count)
}

/// The length of a link's repetition, where it has one.
#[must_use]
pub fn natural_length(link: &Link) -> Option<Duration> {
    match link {
        Link::Unlimited | Link::Shaper(_) => None,
        Link::Rates(schedule) => schedule.period(),
        Link::Opportunities(trace) => Some(trace.period()),
    }
}
