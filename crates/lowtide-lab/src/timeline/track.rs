//! What state something was in, when.

use lowtide_cc::units::{Duration, Time};

/// Changes that are kept before the resolution is halved.
const MAX_CHANGES: usize = 4_096;
/// States beyond this many are all shown as the last one.
const MAX_STATES: usize = 32;

/// A state over time, as the moments at which it changed. Memory is bounded: when changes are many,
/// the shortest stays are given to the state before them.
#[derive(Clone, Debug, Default)]
pub struct Track {
    states: Vec<String>,
    changes: Vec<(Time, u8)>,
    resolution: Duration,
}

impl Track {
    /// The state at `now` is the one named so.
    pub fn set(&mut self, now: Time, name: &str) {
        if let Some(&(_, current)) = self.changes.last()
            && self.states[usize::from(current)] == name
        {
            return;
        }
        let known = self.states.iter().position(|s| s == name);
        let state = match known {
            Some(state) => state,
            None if self.states.len() < MAX_STATES => {
                self.states.push(name.to_string());
                self.states.len() - 1
            }
            None => MAX_STATES - 1,
        };
        self.push(now, state as u8);
        if self.changes.len() > MAX_CHANGES {
            let least = self.resolution.max(Duration::from_micros(500)) * 2;
            self.coarsen(least);
        }
    }

    fn push(&mut self, now: Time, state: u8) {
        match self.changes.last_mut() {
            Some(last) if last.1 == state => {}
            Some(last) if now.since(last.0) < self.resolution => {
                last.1 = state;
                // The state before may be the same again.
                if let [.., before, last] = self.changes.as_slice()
                    && before.1 == last.1
                {
                    self.changes.pop();
                }
            }
            _ => self.changes.push((now, state)),
        }
    }

    /// Forgets stays shorter than `resolution`.
    pub fn coarsen(&mut self, resolution: Duration) {
        self.resolution = self.resolution.max(resolution);
        for (time, state) in std::mem::take(&mut self.changes) {
            self.push(time, state);
        }
    }

    /// The names of the states.
    #[must_use]
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// When a state began, and its index in [`states`](Self::states).
    #[must_use]
    pub fn changes(&self) -> &[(Time, u8)] {
        &self.changes
    }

    /// Stays shorter than this are not shown.
    #[must_use]
    pub fn resolution(&self) -> Duration {
        self.resolution
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn only_changes_are_kept_and_coarsening_forgets_short_stays() {
        let mut track = Track::default();
        for (ms, name) in [(0, "a"), (5, "a"), (10, "b"), (12, "a"), (50, "c")] {
            track.set(at(ms), name);
        }
        assert_eq!(track.states(), ["a", "b", "c"]);
        let changes = [(at(0), 0), (at(10), 1), (at(12), 0), (at(50), 2)];
        assert_eq!(track.changes(), changes);
        track.coarsen(Duration::from_millis(5));
        assert_eq!(track.changes(), [(at(0), 0), (at(50), 2)]);
    }

    #[test]
    fn memory_is_bounded_however_often_and_to_whatever_the_state_changes() {
        let mut track = Track::default();
        for n in 0..100_000_u64 {
            track.set(at(n), &format!("state {}", n % 100));
        }
        assert!(track.changes().len() <= MAX_CHANGES);
        assert_eq!(track.states().len(), MAX_STATES);
        assert!(track.changes().is_sorted_by_key(|(time, _)| *time));
    }
}
