//! Two clocks that nobody has set by each other: how far apart they are, and how fast they part.

/// A one-way delay as the clocks have it: when, µs of the client's clock, and how long, µs.
pub(crate) type Point = (f64, f64);

/// What the delays of both ways say of the clocks of both ends.
///
/// Each way's delays have a lower envelope, along which nothing waited. Drift of the clocks tilts the envelopes of both
/// ways against each other; a path that becomes longer raises both. How far both are raised, or how far two halves of
/// the packets disagree, whichever is more, is the uncertainty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clocks {
    /// The client's clock less the server's when the session began, µs, if both ways take the same time.
    pub offset_us: f64,
    /// How much faster the client's clock runs, parts in a million.
    pub drift_ppm: f64,
    /// What of that a changing path or chance may have made.
    pub uncertainty_ppm: f64,
    /// Whether the drift is more than three times that, and so taken out of the delays.
    pub is_corrected: bool,
    /// The shortest round trip, µs.
    pub base_rtt_us: f64,
}

/// Drift that no crystal has, parts in a million: a path has changed.
const IMPLAUSIBLE: f64 = 500.0;
/// A drift is believed beyond so many times its uncertainty.
const CERTAIN: f64 = 3.0;

impl Clocks {
    /// Estimates the clocks from the delays down and up.
    pub(crate) fn of(down: &[Point], up: &[Point]) -> Self {
        let slopes = Slope::of(down).zip(Slope::of(up));
        let (drift, uncertainty) = slopes.map_or((0.0, f64::INFINITY), |(down, up)| {
            let moved = (down.all + up.all).abs() / 2.0;
            let chance = down.chance.max(up.chance);
            ((down.all - up.all) / 2.0, moved.max(chance))
        });
        let is_corrected = drift.abs() > CERTAIN * uncertainty && drift.abs() * 1e6 < IMPLAUSIBLE;
        let used = if is_corrected { drift } else { 0.0 };
        let least = |points: &[Point], sign: f64| {
            let corrected = points.iter().map(|(at, delay)| delay - sign * used * at);
            corrected.fold(f64::INFINITY, f64::min)
        };
        let (down, up) = (least(down, 1.0), least(up, -1.0));
        let is_known = down.is_finite() && up.is_finite();
        Self {
            offset_us: if is_known { (down - up) / 2.0 } else { 0.0 },
            drift_ppm: drift * 1e6,
            uncertainty_ppm: if uncertainty.is_finite() {
                uncertainty * 1e6
            } else {
                IMPLAUSIBLE
            },
            is_corrected,
            base_rtt_us: if is_known { (down + up).max(0.0) } else { 0.0 },
        }
    }

    /// The client's clock less the server's at a time of the client's, µs.
    pub(crate) fn offset_at(&self, at: f64) -> f64 {
        let drift = if self.is_corrected {
            self.drift_ppm * 1e-6
        } else {
            0.0
        };
        self.offset_us + drift * at
    }
}

/// How a lower envelope rises.
struct Slope {
    all: f64,
    /// Half of what every second packet and the others differ by.
    chance: f64,
}

impl Slope {
    /// `None` where the points span no time.
    fn of(points: &[Point]) -> Option<Self> {
        let mut sorted = points.to_vec();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let of_half = |first: usize| envelope_slope(sorted.iter().skip(first).step_by(2));
        Some(Self {
            all: envelope_slope(sorted.iter())?,
            chance: (of_half(0)? - of_half(1)?).abs() / 2.0,
        })
    }
}

/// The slope of the line below all points that is closest to them: the edge of their convex hull below the middle of
/// their time (Moon, Skelly and Towsley, INFOCOM 1999). The points are in the order of time.
fn envelope_slope<'a>(points: impl Iterator<Item = &'a Point> + Clone) -> Option<f64> {
    let mut hull: Vec<Point> = Vec::new();
    for point in points.clone() {
        // Of several at a time the lowest comes first.
        if hull.last().is_some_and(|last| last.0 == point.0) {
            continue;
        }
        while let [.., a, b] = hull[..]
            && (b.1 - a.1) * (point.0 - a.0) >= (point.1 - a.1) * (b.0 - a.0)
        {
            hull.pop();
        }
        hull.push(*point);
    }
    let middle = points.clone().next()?.0.midpoint(points.last()?.0);
    let edge = hull.windows(2).find(|edge| edge[1].0 >= middle)?;
    Some((edge[1].1 - edge[0].1) / (edge[1].0 - edge[0].0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delays of 20 ms and some noise each 10 ms for 30 s, of a clock that drifts and a path that grows, ppm.
    fn delays(drift: f64, growth: f64, offset: f64) -> Vec<Point> {
        let point = |n: u32| {
            let at = f64::from(n) * 10_000.0;
            let noise = f64::from(n.wrapping_mul(2_654_435_761) >> 20);
            (at, 20_000.0 + offset + noise + (drift + growth) * 1e-6 * at)
        };
        (0..3000).map(point).collect()
    }

    #[test]
    fn drift_tilts_the_ways_against_each_other_and_is_found() {
        for drift in [-80.0, 0.0, 30.0, 200.0] {
            let offset = 5_000_000.0;
            let clocks = Clocks::of(&delays(drift, 0.0, offset), &delays(-drift, 0.0, -offset));
            assert!((clocks.drift_ppm - drift).abs() < 1.0, "{clocks:?}");
            assert_eq!(clocks.is_corrected, drift != 0.0, "{clocks:?}");
            assert!((clocks.offset_us - offset).abs() < 100.0, "{clocks:?}");
            assert!((clocks.base_rtt_us - 40_000.0).abs() < 200.0, "{clocks:?}");
        }
    }

    #[test]
    fn a_path_that_becomes_longer_is_no_drift() {
        let clocks = Clocks::of(&delays(0.0, 300.0, 0.0), &delays(0.0, 300.0, 0.0));
        assert!(
            !clocks.is_corrected && clocks.drift_ppm.abs() < 1.0,
            "{clocks:?}"
        );
        let clocks = Clocks::of(&delays(0.0, 300.0, 0.0), &delays(0.0, 0.0, 0.0));
        assert!(
            !clocks.is_corrected,
            "what changed one way only is not known: {clocks:?}"
        );
    }

    /// Delays of 20 ms and noise of up to 2 ms each 10 ms for 30 s, of a clock that drifts, ppm.
    fn noisy(drift: f64, mut seed: u64) -> Vec<Point> {
        let point = |n: u32| {
            let at = f64::from(n) * 10_000.0;
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let noise = (seed >> 40) as f64 / (1 << 24) as f64 * 2000.0;
            (at, 20_000.0 + noise + drift * 1e-6 * at)
        };
        (0..3000).map(point).collect()
    }

    #[test]
    fn drift_is_not_made_of_noise() {
        let corrected = |drift: f64| {
            let of = |seed: u64| Clocks::of(&noisy(drift, 2 * seed), &noisy(-drift, 2 * seed + 1));
            (0..100).filter(|seed| of(*seed).is_corrected).count()
        };
        let (none, some) = (corrected(0.0), corrected(20.0));
        assert!(
            none <= 5 && some >= 95,
            "{none} of 100 without drift, {some} with"
        );
    }

    #[test]
    fn without_packets_nothing_is_known() {
        let clocks = Clocks::of(&[], &[(0.0, 1.0)]);
        assert!(!clocks.is_corrected && clocks.base_rtt_us == 0.0);
    }
}
