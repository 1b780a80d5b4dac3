//! Two clocks that nobody has set by each other: how far apart they are, and how fast they part.

/// A one-way delay as the clocks have it: when, µs of the client's clock, and how long, µs.
pub(crate) type Point = (f64, f64);

/// What the delays of both ways say of the clocks of both ends.
///
/// Each way's delays have a lower envelope, along which nothing waited. Drift of the clocks tilts the envelopes of both
/// ways against each other; a path that becomes longer raises both, and that it does by less than the difference cannot be
/// told from drift: it is the uncertainty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clocks {
    /// The client's clock less the server's when the session began, µs, if both ways take the same time.
    pub offset_us: f64,
    /// How much faster the client's clock runs, parts in a million.
    pub drift_ppm: f64,
    /// What of that a changing path may have made.
    pub uncertainty_ppm: f64,
    /// Whether the drift is larger than that, and so taken out of the delays.
    pub is_corrected: bool,
    /// The shortest round trip, µs.
    pub base_rtt_us: f64,
}

/// What no crystal does, parts in a million: a path has changed.
const IMPLAUSIBLE: f64 = 500.0;

impl Clocks {
    /// Of the delays down and up.
    pub(crate) fn of(down: &[Point], up: &[Point]) -> Self {
        let slopes = envelope_slope(down).zip(envelope_slope(up));
        let (drift, uncertainty) = slopes.map_or((0.0, f64::INFINITY), |(down, up)| {
            ((down - up) / 2.0, (down + up).abs() / 2.0)
        });
        let is_corrected = drift.abs() > uncertainty && drift.abs() * 1e6 < IMPLAUSIBLE;
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

/// The slope of the line below all points that is closest to them: the edge of their convex hull below their mean time
/// (Moon, Skelly and Towsley, INFOCOM 1999). `None` where the points span no time.
fn envelope_slope(points: &[Point]) -> Option<f64> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut hull: Vec<Point> = Vec::new();
    for point in &sorted {
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
    let middle = sorted.first()?.0.midpoint(sorted.last()?.0);
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

    #[test]
    fn without_packets_nothing_is_known() {
        let clocks = Clocks::of(&[], &[(0.0, 1.0)]);
        assert!(!clocks.is_corrected && clocks.base_rtt_us == 0.0);
    }
}
