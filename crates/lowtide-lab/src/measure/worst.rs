//! The largest value that so many windows in a row have.

use super::Part;
use super::sliding::{Judge, Judged, Window};
use crate::setting::measures::{Looked, Worst};

#[derive(Debug)]
struct Largest {
    metric: Looked,
    group: Option<usize>,
    /// Values of the last windows.
    last: Vec<f64>,
    consecutive: usize,
    largest: f64,
}

pub(super) fn judge(told: &Worst, part: Part) -> Judged {
    Judged {
        part,
        length: told.window.0,
        steps: 1,
        judge: Box::new(Largest {
            metric: told.metric,
            group: told.group,
            last: Vec::new(),
            consecutive: usize::from(told.consecutive.unwrap_or(1)).max(1),
            largest: f64::NAN,
        }),
    }
}

impl Judge for Largest {
    fn window(&mut self, window: &Window<'_>) {
        let did = window.sum(self.group);
        let value = match self.metric {
            Looked::LossShare if did.sent.is_zero() => 0.0,
            Looked::LossShare => did.dropped.as_f64() / did.sent.as_f64(),
            Looked::SentMbps => did.sent.as_f64() * 8e-6 / window.length.as_secs_f64(),
        };
        if self.last.len() == self.consecutive {
            self.last.remove(0);
        }
        self.last.push(value);
        if self.last.len() == self.consecutive {
            let held = self.last.iter().copied().fold(f64::INFINITY, f64::min);
            self.largest = self.largest.max(held);
        }
    }

    fn value(&self) -> f64 {
        self.largest
    }
}
