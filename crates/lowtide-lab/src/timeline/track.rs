//! What state something was in, when.

use lowtide_cc::state::{State, StateKind};
use lowtide_cc::units::{Duration, Time};
use serde::{Deserialize, Serialize};

/// Changes that are kept before the resolution is halved.
const MAX_CHANGES: usize = 4_096;
/// States beyond this many are all shown as the last one.
const MAX_STATES: usize = 32;

/// A state that is shown, and the colour of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateLabel {
    /// Its name; a state that its gain tells apart has the gain in it.
    pub name: String,
    /// What is done in it.
    pub kind: StateKind,
}

/// A state over time, as the moments at which it changed. Memory is bounded: when changes are many,
/// the shortest stays are given to the state before them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Track {
    /// The states that the controller lists, then those that it does not.
    states: Vec<StateLabel>,
    changes: Vec<(Time, u8)>,
    resolution: Duration,
}

/// How a state with this gain is shown.
fn shown(state: &State, gain: Option<f64>) -> (&'static str, StateKind) {
    match (state.kind, gain) {
        (StateKind::GainCycle, Some(gain)) if gain > 1.0 => (", gain > 1", StateKind::Up),
        (StateKind::GainCycle, Some(gain)) if gain < 1.0 => (", gain < 1", StateKind::Down),
        (StateKind::GainCycle, _) => ("", StateKind::Steady),
        (kind, _) => ("", kind),
    }
}

impl Track {
    /// The state at `now` is the one named so, with this pacing gain; `known`: all that the
    /// controller lists.
    pub fn set(&mut self, now: Time, known: &[State], name: &'static str, gain: Option<f64>) {
        if name.is_empty() {
            return;
        }
        if self.states.is_empty() {
            self.list(known);
        }
        let unlisted = State::new(name, StateKind::Steady);
        let state = known.iter().find(|state| state.name == name);
        let (suffix, kind) = shown(state.unwrap_or(&unlisted), gain);
        let is_it = |s: &StateLabel| s.name.strip_prefix(name) == Some(suffix);
        if let Some(&(_, current)) = self.changes.last()
            && is_it(&self.states[usize::from(current)])
        {
            return;
        }
        let state = match self.states.iter().position(is_it) {
            Some(state) => state,
            None => self.add(format!("{name}{suffix}"), kind),
        };
        self.push(now, state as u8);
        if self.changes.len() > MAX_CHANGES {
            let least = self.resolution.max(Duration::from_micros(500)) * 2;
            self.coarsen(least);
        }
    }

    /// Every state in every form, in the order of the list.
    fn list(&mut self, known: &[State]) {
        for state in known {
            let gains: &[f64] = match state.kind {
                StateKind::GainCycle => &[2.0, 1.0, 0.5],
                _ => &[1.0],
            };
            for gain in gains {
                let (suffix, kind) = shown(state, Some(*gain));
                self.add(format!("{}{suffix}", state.name), kind);
            }
        }
    }

    fn add(&mut self, name: String, kind: StateKind) -> usize {
        if self.states.len() < MAX_STATES {
            self.states.push(StateLabel { name, kind });
        }
        self.states.len() - 1
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

    /// All states that it knows, in the order in which legends show them.
    #[must_use]
    pub fn states(&self) -> &[StateLabel] {
        &self.states
    }

    /// The states in which it was.
    pub fn entered(&self) -> impl Iterator<Item = &StateLabel> {
        let is_entered = |n: usize| self.changes.iter().any(|(_, s)| usize::from(*s) == n);
        let states = self.states.iter().enumerate();
        states.filter_map(move |(n, state)| is_entered(n).then_some(state))
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

    const LISTED: &[State] = &[
        State::new("a", StateKind::Steady),
        State::new("b", StateKind::Drain),
    ];

    #[test]
    fn a_state_that_its_gain_tells_apart_is_three() {
        let cycle = [State::new("cycle", StateKind::GainCycle)];
        let mut track = Track::default();
        for (ms, gain) in [(0, 1.0), (10, 1.25), (20, 0.75), (30, 1.1)] {
            track.set(at(ms), &cycle, "cycle", Some(gain));
        }
        let shown: Vec<(&str, StateKind)> = track
            .states()
            .iter()
            .map(|s| (s.name.as_str(), s.kind))
            .collect();
        let expected = [
            ("cycle, gain > 1", StateKind::Up),
            ("cycle", StateKind::Steady),
            ("cycle, gain < 1", StateKind::Down),
        ];
        assert_eq!(shown, expected);
        let changes = [(at(0), 1), (at(10), 0), (at(20), 2), (at(30), 0)];
        assert_eq!(track.changes(), changes);
    }

    #[test]
    fn only_changes_are_kept_and_coarsening_forgets_short_stays() {
        let mut track = Track::default();
        for (ms, name) in [(0, "a"), (5, "a"), (10, "b"), (12, "a"), (50, "c")] {
            track.set(at(ms), LISTED, name, None);
        }
        let names = track.states().iter().map(|s| s.name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["a", "b", "c"]);
        let changes = [(at(0), 0), (at(10), 1), (at(12), 0), (at(50), 2)];
        assert_eq!(track.changes(), changes);
        track.coarsen(Duration::from_millis(5));
        assert_eq!(track.changes(), [(at(0), 0), (at(50), 2)]);
    }

    #[test]
    fn memory_is_bounded_however_often_and_to_whatever_the_state_changes() {
        let mut track = Track::default();
        let names: Vec<&'static str> = (0..100)
            .map(|n| &*Box::leak(format!("state {n}").into_boxed_str()))
            .collect();
        for n in 0..100_000_u64 {
            track.set(at(n), &[], names[n as usize % 100], None);
        }
        assert!(track.changes().len() <= MAX_CHANGES);
        assert_eq!(track.states().len(), MAX_STATES);
        assert!(track.changes().is_sorted_by_key(|(time, _)| *time));
    }
}
