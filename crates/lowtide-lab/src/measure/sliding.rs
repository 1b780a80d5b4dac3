//! Volumes in windows that move over the run, for measures that judge each of them.

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::link::Link;
use lowtide_sim::probe::{Delivery, DropCause, Sent};
use lowtide_sim::{Probe, SimConfig};

use super::{Gauge, Part};

/// What a flow did in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Volumes {
    pub(super) sent: Bytes,
    pub(super) dropped: Bytes,
    /// First copies that arrived.
    pub(super) delivered: Bytes,
}

impl Volumes {
    fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.dropped += other.dropped;
        self.delivered += other.delivered;
    }
}

/// A flow as a window sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flow {
    /// The flow's group.
    pub(super) group: usize,
    /// Whether the flow has something to send in all of the window.
    pub(super) is_alive: bool,
    /// Whether the flow is there for what it does to others, or goes the other way.
    pub(super) is_background: bool,
    pub(super) did: Volumes,
}

/// A window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window<'a> {
    pub(super) end: Time,
    pub(super) length: Duration,
    /// What the link offered to what could arrive in it.
    pub(super) offered: Bytes,
    pub(super) flows: &'a [Flow],
}

impl Window<'_> {
    /// The flows of a group; of all that are no background where none is named.
    pub(super) fn of(&self, group: Option<usize>) -> impl Iterator<Item = &Flow> {
        self.flows.iter().filter(move |flow| match group {
            Some(group) => flow.group == group,
            None => !flow.is_background,
        })
    }

    /// What the flows of a group did together.
    pub(super) fn sum(&self, group: Option<usize>) -> Volumes {
        let mut all = Volumes::default();
        self.of(group).for_each(|flow| all.add(flow.did));
        all
    }
}

/// Judges windows one after the other.
pub(super) trait Judge: std::fmt::Debug + Send {
    fn window(&mut self, window: &Window<'_>);
    /// What comes of them all.
    fn value(&self) -> f64;
}

/// Which windows are judged, and by whom.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) part: Part,
    pub(super) length: Duration,
    /// How many steps a window takes to pass.
    pub(super) steps: usize,
    pub(super) judge: Box<dyn Judge>,
}

/// Adds up what happens, and shows each window when it is over.
#[derive(Debug)]
pub(super) struct Windows {
    judged: Judged,
    link: Arc<Link>,
    from_link: Duration,
    /// Each flow's life.
    lives: Vec<(Time, Time)>,
    flows: Vec<Flow>,
    /// Each flow's volumes of the last steps, the oldest of them at `oldest`.
    ring: Vec<Vec<Volumes>>,
    oldest: usize,
    /// Steps that are over.
    passed: usize,
    step: Duration,
    end_of_step: Time,
}

impl Windows {
    pub(super) fn new(config: &SimConfig, groups: &[usize], judged: Judged) -> Self {
        let end = Time::ZERO + config.duration;
        let step = (judged.length.div(judged.steps as u64)).max(Duration::from_micros(1));
        let flows = config.flows.iter().zip(groups);
        let access = config.flows.first().map(|f| f.access).unwrap_or_default();
        Self {
            link: config.pipe(access.direction).link.clone(),
            from_link: config.from_link(&access),
            lives: config
                .flows
                .iter()
                .map(|f| (f.start, f.stop.unwrap_or(end).min(end)))
                .collect(),
            flows: flows
                .map(|(flow, group)| Flow {
                    group: *group,
                    is_alive: false,
                    is_background: flow.background,
                    did: Volumes::default(),
                })
                .collect(),
            ring: vec![vec![Volumes::default(); judged.steps]; config.flows.len()],
            oldest: 0,
            passed: 0,
            step,
            end_of_step: judged.part.from + step,
            judged,
        }
    }

    /// Ends all steps up to `now`.
    #[inline]
    fn pass_until(&mut self, now: Time) {
        while self.end_of_step <= now && self.end_of_step <= self.judged.part.to {
            self.pass();
        }
    }

    fn pass(&mut self) {
        self.passed += 1;
        self.oldest = (self.oldest + 1) % self.judged.steps;
        if self.passed >= self.judged.steps {
            let (end, length) = (self.end_of_step, self.judged.length);
            let begin = end - length;
            for ((flow, ring), life) in self.flows.iter_mut().zip(&self.ring).zip(&self.lives) {
                flow.did = Volumes::default();
                ring.iter().for_each(|step| flow.did.add(*step));
                flow.is_alive = life.0 <= begin && end <= life.1;
            }
            let offered = self
                .link
                .volume_between(begin - self.from_link, end - self.from_link);
            self.judged.judge.window(&Window {
                end,
                length,
                offered,
                flows: &self.flows,
            });
        }
        // The step that begins takes the place of the oldest one.
        for ring in &mut self.ring {
            ring[self.oldest] = Volumes::default();
        }
        self.end_of_step += self.step;
    }

    /// The step that `now` is in, of a flow; `None` outside the part.
    #[inline]
    fn at(&mut self, flow: usize, now: Time) -> Option<&mut Volumes> {
        if now < self.judged.part.from || now >= self.judged.part.to {
            return None;
        }
        self.pass_until(now);
        let newest = self.oldest;
        self.ring.get_mut(flow).map(|ring| &mut ring[newest])
    }
}

impl Gauge for Windows {
    fn finish(mut self: Box<Self>) -> f64 {
        self.pass_until(self.judged.part.to);
        self.judged.judge.value()
    }
}

impl Probe for Windows {
    #[inline]
    fn on_send(&mut self, sent: &Sent) {
        if let Some(step) = self.at(sent.flow, sent.now) {
            step.sent += sent.bytes;
        }
    }

    fn on_drop(&mut self, flow: usize, now: Time, bytes: Bytes, _: DropCause) {
        if let Some(step) = self.at(flow, now) {
            step.dropped += bytes;
        }
    }

    #[inline]
    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        if delivery.first_copy
            && let Some(step) = self.at(delivery.flow, delivery.now)
        {
            step.delivered += delivery.bytes;
        }
    }

    fn on_flow_complete(&mut self, flow: usize, now: Time) {
        if let Some(life) = self.lives.get_mut(flow) {
            life.1 = life.1.min(now);
        }
    }
}
