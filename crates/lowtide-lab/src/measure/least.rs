//! The least share of its fair share that a flow has in any window: whether somebody starves.

use schemars::JsonSchema;
use serde::Deserialize;

use super::sliding::{Judge, Judged, Window};
use super::{Extent, Part};
use crate::setting::{MomentText, TimeText};

/// The least share of its fair share, which is what the link offers by the flows that send in all of
/// the window, that a flow of a group has in any window. Flows in the background get none.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Least {
    /// The group of flows (default: all).
    pub group: Option<usize>,
    /// How long a window is.
    pub window: TimeText,
    /// The first window begins here (default: with the run).
    pub from: Option<MomentText>,
    /// The last one ends here (default: with the run).
    pub to: Option<MomentText>,
}

/// A window passes in so many steps.
const STEPS: usize = 20;

#[derive(Debug)]
struct Smallest {
    group: Option<usize>,
    share: f64,
}

pub(super) fn judge(told: &Least, extent: Extent) -> Judged {
    Judged {
        part: Part::of(told.from, told.to, extent),
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
