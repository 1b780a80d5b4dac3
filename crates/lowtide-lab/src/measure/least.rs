//! The least share of its fair share that a flow has in any window: whether somebody starves.

use super::Part;
use super::sliding::{Judge, Judged, Window};
use crate::setting::measures::Least;

/// A window passes in so many steps.
const STEPS: usize = 20;

#[derive(Debug)]
struct Smallest {
    group: Option<usize>,
    share: f64,
}

pub(super) fn judge(told: &Least, part: Part) -> Judged {
    Judged {
        part,
        length: told.window.0,
        steps: STEPS,
        judge: Box::new(Smallest {
            group: told.group,
            share: f64::NAN,
        }),
    }
}

impl Judge for Smallest {
    fn window(&mut self, window: &Window<'_>) {
        let alive = window.of(None).filter(|flow| flow.is_alive).count();
        if window.offered.is_zero() || alive == 0 {
            return;
        }
        let fair = window.offered.as_f64() / alive as f64;
        for flow in window.of(self.group).filter(|flow| flow.is_alive) {
            self.share = self.share.min(flow.did.delivered.as_f64() / fair);
        }
    }

    fn value(&self) -> f64 {
        self.share
    }
}
