//! How long it takes until a rate is reached.

use lowtide_cc::units::{Duration, Time};

use super::Part;
use super::sliding::{Judge, Judged, Window};
use crate::setting::measures::Reached;

/// A window passes in so many steps.
const STEPS: usize = 10;
const WINDOW: Duration = Duration::from_millis(100);

#[derive(Debug)]
struct Wait {
    told: Reached,
    from: Time,
    /// When the first of the windows that all fit ended.
    since: Option<Time>,
    is_over: bool,
}

pub(super) fn judge(told: &Reached, part: Part) -> Judged {
    Judged {
        part,
        length: told.window.map_or(WINDOW, |t| t.0),
        steps: STEPS,
        judge: Box::new(Wait {
            told: *told,
            from: part.from,
            since: None,
            is_over: false,
        }),
    }
}

impl Judge for Wait {
    fn window(&mut self, window: &Window<'_>) {
        // Where the link offers nothing there is nothing to reach.
        if self.is_over || window.offered.is_zero() {
            return;
        }
        let parts = if self.told.fair {
            window.of(None).filter(|flow| flow.is_alive).count().max(1)
        } else {
            1
        };
        let offered = window.offered.as_f64() / parts as f64;
        let share = window.sum(self.told.group).delivered.as_f64() / offered;
        let fits = if self.told.below {
            share <= self.told.share
        } else {
            share >= self.told.share
        };
        if !fits {
            self.since = None;
            return;
        }
        let since = *self.since.get_or_insert(window.end);
        let hold = self.told.hold.map_or(Duration::ZERO, |t| t.0);
        self.is_over = window.end.since(since) >= hold;
    }

    fn value(&self) -> f64 {
        match self.since.filter(|_| self.is_over) {
            Some(since) => since.since(self.from).as_secs_f64(),
            None => f64::NAN,
        }
    }
}
