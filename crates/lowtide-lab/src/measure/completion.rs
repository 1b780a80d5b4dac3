//! How long transfers take.

use lowtide_cc::units::{Duration, Time};
use lowtide_sim::{Probe, SimConfig};

use super::{Gauge, Part};
use crate::metrics::Delays;
use crate::setting::measures::Completion;

#[derive(Debug)]
pub(super) struct Transfers {
    quantile: Option<f64>,
    /// Per flow of the group: index, start, end.
    flows: Vec<(usize, Time, Time)>,
}

impl Transfers {
    pub(super) fn new(told: &Completion, part: Part, config: &SimConfig, groups: &[usize]) -> Self {
        let end = Time::ZERO + config.duration;
        let flows = config.flows.iter().enumerate().zip(groups);
        let wanted =
            flows.filter(|((_, flow), group)| **group == told.group && part.contains(flow.start));
        Self {
            quantile: told.quantile,
            flows: wanted.map(|((n, flow), _)| (n, flow.start, end)).collect(),
        }
    }
}

impl Gauge for Transfers {
    fn finish(self: Box<Self>) -> f64 {
        let took = |(_, start, end): &(usize, Time, Time)| end.since(*start);
        let mut times: Vec<Duration> = self.flows.iter().map(took).collect();
        times.sort();
        match self.quantile {
            None => {
                let mut all = Delays::default();
                times.iter().for_each(|time| all.record(*time));
                all.summary_above(Duration::ZERO).mean / 1e3
            }
            Some(quantile) => {
                let last = times.len().saturating_sub(1);
                // The nearest rank: the least time that so many of them keep to.
                let rank = (quantile.clamp(0.0, 1.0) * times.len() as f64).ceil() as usize;
                let time = times.get(rank.saturating_sub(1).min(last));
                time.map_or(f64::NAN, |time| time.as_secs_f64())
            }
        }
    }
}

impl Probe for Transfers {
    fn on_flow_complete(&mut self, flow: usize, now: Time) {
        let found = self.flows.binary_search_by_key(&flow, |(n, _, _)| *n);
        if let Ok(at) = found {
            self.flows[at].2 = now;
        }
    }
}
