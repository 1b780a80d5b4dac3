//! What a flow is in its phases, and when.

use lowtide_cc::units::{Bytes, Time};
use lowtide_sim::network::DropCause;
use lowtide_sim::probe::{AckSeen, LossSeen, Sent};
use lowtide_sim::{Probe, SimConfig};

use super::state::{Rounds, State, Values};
use super::{Gauge, Part, read};
use crate::claim::{self, Expression};
use crate::setting::measures::{ANY, At, Of, Phase};

/// A visit under way.
#[derive(Debug)]
struct Visit {
    is_wanted: bool,
    entry: Values,
    rounds: Rounds,
    drops: u64,
    losses: u64,
    /// When the first packet was dropped, and the rounds by then.
    dropped: Option<(Time, u64)>,
    /// NaN before there is one.
    value: f64,
}

#[derive(Debug)]
pub(super) struct Visits {
    told: Phase,
    value: Expression,
    part: Part,
    state: State,
    visits: u64,
    phase: &'static str,
    inside: Option<Visit>,
    count: u64,
    found: f64,
}

impl Visit {
    fn get(&self, name: &str, now: &State) -> f64 {
        match (name, self.dropped) {
            ("rounds", _) => self.rounds.count() as f64,
            ("drops", _) => self.drops as f64,
            ("losses", _) => self.losses as f64,
            ("rounds_since_drop" | "since_drop", None) => f64::NAN,
            ("rounds_since_drop", Some((_, rounds))) => (self.rounds.count() - rounds) as f64,
            ("since_drop", Some((at, _))) => now.get("now") - at.since(Time::ZERO).as_secs_f64(),
            _ => match name.strip_prefix("entry.") {
                Some(name) => self.entry.get(name),
                None => now.get(name),
            },
        }
    }

    fn work_out(&self, value: &Expression, now: &State) -> f64 {
        claim::number(value, &|name: &str| self.get(name, now))
    }
}

impl Visits {
    /// `part`: where acknowledgments count.
    pub(super) fn new(told: &Phase, part: Part, config: &SimConfig) -> Self {
        Self {
            told: told.clone(),
            value: read(&told.value),
            part,
            state: State::new(told.flow, config),
            visits: 0,
            phase: "",
            inside: None,
            count: 0,
            found: f64::NAN,
        }
    }

    fn enter(&mut self, ack: &AckSeen<'_>, before: &str) {
        self.visits += 1;
        let told = &self.told;
        let is_wanted = told.visit.is_none_or(|visit| visit == self.visits)
            && told.after.as_ref().is_none_or(|after| after == before)
            && (is_over_visit(told.at) || self.part.contains(ack.now));
        self.inside = Some(Visit {
            is_wanted,
            entry: self.state.known.clone(),
            rounds: Rounds::from(&self.state),
            drops: 0,
            losses: 0,
            dropped: None,
            value: f64::NAN,
        });
    }

    /// Takes the value of a visit that is over; `next` is the phase that follows.
    fn leave(&mut self, mut visit: Visit, next: Option<&str>) {
        let is_next = self.told.next.as_deref().is_none_or(|n| Some(n) == next);
        if !visit.is_wanted || !is_next {
            return;
        }
        match self.told.at {
            At::After if next.is_some() => visit.value = visit.work_out(&self.value, &self.state),
            At::Exit | At::After if next.is_none() => return,
            _ => {}
        }
        if visit.value.is_nan() {
            return;
        }
        self.count += 1;
        self.found = match self.told.of {
            _ if self.count == 1 => visit.value,
            Of::Least => self.found.min(visit.value),
            Of::Most => self.found.max(visit.value),
            Of::Sum => self.found + visit.value,
            Of::Count | Of::Last => visit.value,
        };
    }
}

/// Whether acknowledgments in all of a visit count, and not one of them.
fn is_over_visit(at: At) -> bool {
    matches!(at, At::Least | At::Most)
}

impl Gauge for Visits {
    fn finish(mut self: Box<Self>) -> f64 {
        if let Some(visit) = self.inside.take() {
            self.leave(visit, None);
        }
        match self.told.of {
            Of::Count => self.count as f64,
            Of::Sum if self.count == 0 => 0.0,
            _ => self.found,
        }
    }
}

impl Probe for Visits {
    fn on_send(&mut self, sent: &Sent) {
        if self.state.is_of(sent.flow) {
            self.state.on_send(sent);
        }
    }

    fn on_drop(&mut self, flow: usize, now: Time, _bytes: Bytes, _cause: DropCause) {
        if let Some(visit) = &mut self.inside
            && self.state.is_of(flow)
        {
            visit.drops += 1;
            visit.dropped = visit.dropped.or(Some((now, visit.rounds.count())));
        }
    }

    fn on_loss(&mut self, flow: usize, loss: &LossSeen<'_>) {
        if let Some(visit) = &mut self.inside
            && self.state.is_of(flow)
        {
            visit.losses += loss.packets.len() as u64;
        }
    }

    fn on_ack(&mut self, flow: usize, ack: &AckSeen<'_>) {
        if !self.state.is_of(flow) {
            return;
        }
        self.state.read(ack);
        let before = std::mem::replace(&mut self.phase, State::phase(ack));
        let is_inside = match &self.told.name {
            None => true,
            Some(name) => name == self.phase || name == ANY,
        };
        if let Some(visit) = &mut self.inside {
            visit.rounds.on_ack(ack, &self.state);
        }
        let is_any = self.told.name.as_deref() == Some(ANY);
        if !is_inside || (is_any && before != self.phase) {
            if let Some(visit) = self.inside.take() {
                self.leave(visit, Some(self.phase));
            }
            if !is_inside {
                return;
            }
        }
        let enters = self.inside.is_none();
        if enters {
            self.enter(ack, before);
        }
        let Some(visit) = self.inside.as_mut().filter(|visit| visit.is_wanted) else {
            return;
        };
        let at = self.told.at;
        let counts = match at {
            At::Entry => enters,
            At::Exit => true,
            At::After => false,
            At::Least | At::Most => self.part.contains(ack.now),
        };
        if counts {
            let value = visit.work_out(&self.value, &self.state);
            visit.value = match at {
                At::Least => visit.value.min(value),
                At::Most => visit.value.max(value),
                At::Entry | At::Exit | At::After => value,
            };
        }
    }
}
