//! Curves that plots show, made from what a run has kept.

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::link::Link;

use crate::metrics::{Delays, jain};
use crate::timeline::{FlowBin, FlowTimeline};

/// Mean rates over this time, so that single packets do not show as peaks.
pub const RATE_WINDOW: Duration = Duration::from_millis(100);
/// Windows of shares and of Jain's index, as in the table's.
const SHARE_WINDOW: Duration = Duration::from_secs(1);

/// What the link could carry, Mbit/s: the mean over the window of rates that ends with each bin.
#[must_use]
pub fn capacity(link: &Link, bin: Duration, bins: usize) -> Vec<f64> {
    let before = bin * (per_window(bin) as u64 - 1);
    (0..bins as u64)
        .map(|n| {
            let start = Time::ZERO + bin * n;
            let (from, to) = (start - before, start + bin);
            mbps(link.volume_between(from, to), to.since(from))
        })
        .collect()
}

fn per_window(bin: Duration) -> usize {
    (RATE_WINDOW.as_nanos() / bin.as_nanos().max(1)).max(1) as usize
}

fn mbps(volume: Bytes, time: Duration) -> f64 {
    volume.as_f64() * 8.0 / 1e6 / time.as_secs_f64()
}

/// Rate in Mbit/s, the mean over the window that ends with each bin.
#[must_use]
pub fn rates(bins: &[FlowBin], bin: Duration, volume: impl Fn(&FlowBin) -> Bytes) -> Vec<f64> {
    let per_window = per_window(bin);
    let mut inside = 0_u64;
    (0..bins.len())
        .map(|n| {
            inside += volume(&bins[n]).get();
            if n >= per_window {
                inside -= volume(&bins[n - per_window]).get();
            }
            mbps(Bytes::new(inside), bin * (n + 1).min(per_window) as u64)
        })
        .collect()
}

/// A distribution, thinned to about this many points: milliseconds, share up to there.
#[must_use]
pub fn cdf(delays: &Delays, points: usize) -> Vec<(f64, f64)> {
    let full = delays.cdf();
    let stride = full.len().div_ceil(points.max(1)).max(1);
    let last = full.last().copied();
    full.into_iter()
        .step_by(stride)
        .chain(last)
        .map(|(ms, share)| (short(ms), short(share)))
        .collect()
}

/// The window of shares in whole bins.
#[must_use]
pub fn share_window(bin: Duration) -> Duration {
    bin * SHARE_WINDOW.as_nanos().div_ceil(bin.as_nanos().max(1))
}

/// Mbit/s in each whole window of shares.
#[must_use]
pub fn shares(flow: &FlowTimeline, bin: Duration) -> Vec<f64> {
    let window = share_window(bin);
    let per_window = (window.as_nanos() / bin.as_nanos().max(1)).max(1) as usize;
    flow.bins
        .chunks_exact(per_window)
        .map(|bins| mbps(bins.iter().map(|b| b.delivered).sum(), window))
        .collect()
}

/// Jain's index of the flows that are under way throughout each window; none where they are fewer
/// than two.
pub fn fairness<'t>(
    flows: &'t [FlowTimeline],
    shares: &'t [Vec<f64>],
    window: Duration,
) -> impl Iterator<Item = Option<f64>> + 't {
    let windows = shares.first().map_or(0, Vec::len);
    (0..windows).map(move |n| {
        let from = Time::ZERO + window * n as u64;
        let alive: Vec<f64> = flows
            .iter()
            .zip(shares)
            .filter(|(f, _)| f.start <= from && f.end.is_none_or(|end| end >= from + window))
            .map(|(_, share)| share[n])
            .collect();
        (alive.len() >= 2).then(|| jain(alive.iter().copied()))
    })
}

/// The least factor between two neighbours that makes all beyond it outliers.
const GAP: f64 = 4.0;

/// The largest of the values that lie together, where some lie so far beyond that they would squeeze
/// the others even on a logarithmic axis: at least three, and more than half of all, lie together.
#[must_use]
pub fn without_outliers(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let fewest = (sorted.len() / 2 + 1).max(3);
    let pairs = sorted.windows(2).enumerate();
    let mut gaps = pairs.filter(|(n, pair)| n + 1 >= fewest && pair[1] > GAP * pair[0]);
    gaps.next().map(|(_, pair)| pair[0])
}

/// Four significant digits.
#[must_use]
pub fn short(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_are_few_and_far() {
        let most = [42.0, 95.0, 127.0, 370.0, 610.0, 14_991.0, 14_991.0];
        assert_eq!(without_outliers(most), Some(610.0));
        assert_eq!(without_outliers([42.0, 95.0, 14_991.0, f64::NAN]), None);
        assert_eq!(without_outliers([40.0, 90.0, 300.0, 1_000.0]), None);
        assert_eq!(without_outliers([40.0, 41.0, 5e3, 5e3, 5e3, 5e3]), None);
    }

    #[test]
    fn a_volume_counts_in_the_rate_of_its_window() {
        // 125 kB in one bin of 10 ms are 10 Mbit/s over the 100 ms that end with it.
        let mut bins = vec![FlowBin::default(); 30];
        bins[10].delivered = Bytes::new(125_000);
        let rates = rates(&bins, Duration::from_millis(10), |b| b.delivered);
        let around = [9, 10, 19, 20].map(|n| rates[n]);
        assert_eq!(around, [0.0, 10.0, 10.0, 0.0]);
    }
}
