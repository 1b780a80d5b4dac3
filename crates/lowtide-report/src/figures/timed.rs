//! From what a run keeps over time to what a plot draws.

use lowtide_cc::units::Duration;
use lowtide_lab::curves::capacity;
use lowtide_lab::timeline::{Envelope, Timeline};
use lowtide_sim::link::Link;

use super::plot::{Axis, Plot};

/// Bins of a figure: about a pixel each.
pub(crate) const BINS: usize = 750;

/// A timeline of no more bins than can be seen.
pub(crate) fn fitted(timeline: &Timeline) -> Timeline {
    timeline.coarsened(timeline.link().len().div_ceil(BINS))
}

/// An empty plot over a run's time.
pub(crate) fn over_time(name: &str, y: Axis, duration: Duration) -> Plot {
    let end = duration.as_secs_f64();
    Plot::new(name, Axis::linear("time, s").within(0.0, end), y)
}

/// Values in the middle of their bins.
pub(crate) fn at_bins(bin: Duration, values: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
    let bin = bin.as_secs_f64();
    let place = |(n, value)| ((n as f64 + 0.5) * bin, value);
    values.into_iter().enumerate().map(place).collect()
}

/// The upper edge of envelopes as points, and the lower one.
pub(crate) fn band(timeline: &Timeline, envelopes: &[Envelope]) -> (Vec<(f64, f64)>, Vec<f64>) {
    let edge = |pick: fn((f32, f32)) -> f32| {
        let value = move |e: &Envelope| e.get().map_or(f64::NAN, |ends| f64::from(pick(ends)));
        envelopes.iter().map(value)
    };
    let upper = at_bins(timeline.bin(), edge(|(_, max)| max));
    (upper, edge(|(min, _)| min).collect())
}

/// What the link could carry; nothing for one without limit.
pub(crate) fn shade(link: &Link, timeline: &Timeline) -> Vec<(f64, f64)> {
    if link.is_unlimited() {
        return Vec::new();
    }
    let values = capacity(link, timeline.bin(), timeline.link().len());
    at_bins(timeline.bin(), values)
}
