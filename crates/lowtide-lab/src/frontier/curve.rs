//! A controller's own frontier, between the points that were measured.

/// The ratio of delay at which a controller reaches a ratio of throughput: linear in the throughput and
/// in the logarithm of the delay, between neighbours among those of its `points` (throughput, delay)
/// that no other of them betters in both. `None` beyond the first and the last of these.
#[must_use]
pub fn delay_at(points: &[(f64, f64)], throughput: f64) -> Option<f64> {
    let frontier = undominated(points);
    if let Some(exact) = frontier.iter().find(|p| p.0 == throughput) {
        return Some(exact.1);
    }
    let between = |pair: &&[(f64, f64)]| (pair[0].0..pair[1].0).contains(&throughput);
    let pair = frontier.windows(2).find(between)?;
    let [(low, low_delay), (high, high_delay)] = [pair[0], pair[1]];
    let share = (throughput - low) / (high - low);
    let (low, high) = (libm::log(low_delay), libm::log(high_delay));
    Some(libm::exp(low + share * (high - low)))
}

/// The points that no other betters, by rising throughput, and so by rising delay.
fn undominated(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let finite = points.iter().filter(|p| p.0.is_finite() && p.1 > 0.0);
    let mut falling: Vec<(f64, f64)> = finite.copied().collect();
    falling.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1)));
    let mut least = f64::INFINITY;
    falling.retain(|p| {
        let is_less = p.1 < least;
        least = least.min(p.1);
        is_less
    });
    falling.reverse();
    falling
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_points_the_delay_grows_geometrically() {
        let points = [(1.0, 0.4), (0.9, 0.1)];
        // Half way between 0.1 and 0.4 in logarithms is 0.2.
        let half = delay_at(&points, 0.95).unwrap();
        assert!((half - 0.2).abs() < 1e-12, "{half}");
        assert_eq!(delay_at(&points, 0.9), Some(0.1));
        assert_eq!(delay_at(&points, 1.0), Some(0.4));
        assert_eq!(delay_at(&points, 1.01), None);
        assert_eq!(delay_at(&points, 0.89), None);
        assert_eq!(delay_at(&[], 1.0), None);
    }

    #[test]
    fn a_point_that_another_betters_is_not_on_the_frontier() {
        let points = [(0.9, 0.1), (0.95, 0.9), (1.0, 0.4), (f64::NAN, 0.01)];
        let at = delay_at(&points, 0.95).unwrap();
        assert!((at - 0.2).abs() < 1e-12, "{at}");
    }
}
