//! Decisions of a likelihood without chance.

/// Happens with a likelihood, as evenly as it can: `recur()` of RFC 9332, Appendix A.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recurrence {
    count: f64,
}

impl Recurrence {
    /// Whether it happens this time, of which the likelihood is in `0..=1`.
    #[inline]
    pub(super) fn happens(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let happens = self.count > 1.0;
        if happens {
            self.count -= 1.0;
        }
        happens
    }
}
