//! How long a value stays within a bound, and how often.

use lowtide_cc::units::Time;
use lowtide_sim::probe::{AckSeen, Sent};
use lowtide_sim::{Probe, SimConfig};

use super::state::State;
use super::{Gauge, Part, read};
use crate::claim::{self, Expression};
use crate::setting::measures::{Stretch, What};

#[derive(Debug)]
pub(super) struct Stretches {
    told: Stretch,
    value: Expression,
    part: Part,
    state: State,
    began: Option<Time>,
    last_began: Option<Time>,
    count: u64,
    found: f64,
}

impl Stretches {
    pub(super) fn new(told: &Stretch, part: Part, config: &SimConfig) -> Self {
        Self {
            told: told.clone(),
            value: read(&told.value),
            part,
            state: State::new(told.flow, config),
            began: None,
            last_began: None,
            count: 0,
            found: f64::NAN,
        }
    }

    fn begin(&mut self, now: Time) {
        self.count += 1;
        let since = |at: Time| now.since(at).as_secs_f64();
        match (self.told.what, self.last_began) {
            (What::First, None) => self.found = since(self.part.from),
            (What::LeastPeriod, Some(last)) => self.found = self.found.min(since(last)),
            (What::MostPeriod, Some(last)) => self.found = self.found.max(since(last)),
            _ => {}
        }
        self.began = Some(now);
        self.last_began = self.began;
    }

    fn end(&mut self, began: Time, now: Time) {
        let length = now.since(began).as_secs_f64();
        match self.told.what {
            What::Shortest => self.found = self.found.min(length),
            What::Longest => self.found = self.found.max(length),
            _ => {}
        }
    }
}

impl Gauge for Stretches {
    fn finish(self: Box<Self>) -> f64 {
        match self.told.what {
            What::Count => self.count as f64,
            _ => self.found,
        }
    }
}

impl Probe for Stretches {
    fn on_send(&mut self, sent: &Sent) {
        if self.state.is_of(sent.flow) {
            self.state.on_send(sent);
        }
    }

    fn on_ack(&mut self, flow: usize, ack: &AckSeen<'_>) {
        if !self.state.is_of(flow) {
            return;
        }
        self.state.read(ack);
        let value = claim::number(&self.value, &|name: &str| self.state.get(name));
        let fits = self.told.at_most.is_none_or(|most| value <= most)
            && self.told.at_least.is_none_or(|least| value >= least)
            && !value.is_nan();
        match self.began {
            None if fits && self.part.contains(ack.now) => self.begin(ack.now),
            Some(began) if !fits => {
                self.end(began, ack.now);
                self.began = None;
            }
            _ => {}
        }
    }
}
