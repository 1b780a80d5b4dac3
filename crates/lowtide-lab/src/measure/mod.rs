//! temporary
mod invariant;
mod phase;
mod state;
mod stretch;
use lowtide_cc::units::{Duration, Time};
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    from: Time,
    to: Time,
}
impl Part {
    /// Whether a moment lies in it.
    fn contains(self, at: Time) -> bool {
        self.from <= at && at < self.to
    }
}
