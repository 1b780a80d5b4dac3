//! The largest value that so many windows in a row have.

use schemars::JsonSchema;
use serde::Deserialize;

use super::sliding::{Judge, Judged, Window};
use super::{Extent, Part};
use crate::setting::{MomentText, TimeText};

/// What is looked for in each window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Looked {
    /// Bytes dropped over bytes sent.
    LossShare,
    /// What was sent, Mbit/s.
    SentMbps,
}

/// The largest value that so many windows in a row have, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Worst {
    /// What is looked for.
    pub metric: Looked,
    /// The group of flows (default: all flows together).
    pub group: Option<usize>,
    /// How long a window is.
    pub window: TimeText,
    /// So many in a row have at least the value (default: 1).
    pub consecutive: Option<u8>,
    /// The first window begins here (default: with the run).
    pub from: Option<MomentText>,
    /// The last one ends here (default: with the run).
    pub to: Option<MomentText>,
}

#[derive(Debug)]
struct Largest {
    metric: Looked,
    group: Option<usize>,
    /// Values of the last windows.
    last: Vec<f64>,
    consecutive: usize,
    largest: f64,
}

pub(super) fn judge(told: &Worst, extent: Extent) -> Judged {
    Judged {
        part: Part::of(told.from, told.to, extent),
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
