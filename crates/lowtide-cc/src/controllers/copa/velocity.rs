//! The velocity `v` by which Copa multiplies its steps: doubles every round trip while the window
//! goes on in one direction (NSDI 2018 §2.1 step 4).

/// Where the window goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

/// Round trips, after the first, for which the direction must stay before the velocity doubles. In
/// balance it stays for two and a half.
const ROUNDS_BEFORE_DOUBLING: u32 = 3;

#[derive(Clone, Copy, Debug)]
pub(super) struct Velocity {
    pub(super) v: f64,
    direction: Option<Direction>,
    /// Round trips for which the direction has stayed.
    rounds: u32,
    /// The window, in packets, when the round trip began.
    began_with: f64,
}

impl Velocity {
    /// `v = 1` at this window, in packets.
    pub(super) fn new(cwnd: f64) -> Self {
        Self {
            v: 1.0,
            direction: None,
            rounds: 0,
            began_with: cwnd,
        }
    }

    /// A round trip ends at this window.
    pub(super) fn on_round(&mut self, cwnd: f64) {
        let direction = if cwnd > self.began_with {
            Some(Direction::Up)
        } else if cwnd < self.began_with {
            Some(Direction::Down)
        } else {
            None
        };
        if direction.is_some() && direction == self.direction {
            self.rounds = self.rounds.saturating_add(1);
            if self.rounds >= ROUNDS_BEFORE_DOUBLING {
                // More than the window in a round trip it cannot do in any case.
                self.v = (self.v * 2.0).min(cwnd.max(1.0));
            }
        } else {
            self.v = 1.0;
            self.rounds = 0;
        }
        self.direction = direction;
        self.began_with = cwnd;
    }

    /// The next step goes in this direction. A velocity gained in the other one is lost at once
    /// and not at the end of the round trip, at which the paper looks (so does mvfst); true when
    /// it was, and a new round trip begins.
    pub(super) fn turn(&mut self, direction: Direction, cwnd: f64) -> bool {
        let turns = self.v > 1.0 && self.direction != Some(direction);
        if turns {
            *self = Self::new(cwnd);
        }
        turns
    }
}
