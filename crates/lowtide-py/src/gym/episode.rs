//! An episode: a simulation that is stepped, and what an agent is told of each step.

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_lab::setting::Setting;
use lowtide_sim::link::Link;
use lowtide_sim::{SenderKind, Simulation};

use super::steered::{Action, Seen, Steered, Wheel};
use crate::controller::number::{bytes, rate, seconds, span};
use crate::records::Field;

/// What an action steers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steer {
    Rate,
    Window,
}

/// How actions and observations are scaled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) steer: Steer,
    /// An action is a factor, and not a place between the bounds.
    pub(super) relative: bool,
    /// The least and the most rate, bytes a second.
    pub(super) rates: (f64, f64),
    /// The least and the most window, packets.
    pub(super) windows: (f64, f64),
    pub(super) interval: Duration,
}

/// Where `value` lies between the bounds, 0 to 1, by its logarithm.
fn place(value: f64, (least, most): (f64, f64)) -> f64 {
    ((value / least).ln() / (most / least).ln()).clamp(0.0, 1.0)
}

impl Scale {
    fn bounds(&self) -> (f64, f64) {
        match self.steer {
            Steer::Rate => self.rates,
            Steer::Window => self.windows,
        }
    }

    /// The middle of the bounds.
    fn begin(&self) -> f64 {
        let (least, most) = self.bounds();
        match self.steer {
            Steer::Rate => (least * most).sqrt(),
            // An initial window, as any sender's.
            Steer::Window => 10_f64.clamp(least, most),
        }
    }

    /// What an action between −1 and 1 makes of the value in force.
    fn after(&self, value: f64, action: f64) -> f64 {
        let (least, most) = self.bounds();
        let action = action.clamp(-1.0, 1.0);
        let next = if self.relative {
            value * action.exp2()
        } else {
            least * (most / least).powf((action + 1.0) / 2.0)
        };
        next.clamp(least, most)
    }

    fn action(&self, value: f64, packet: Bytes) -> Action {
        match self.steer {
            Steer::Rate => Action::Rate(rate(value)),
            Steer::Window => Action::Window(bytes(value * packet.as_f64())),
        }
    }
}

/// How many features a step has.
pub(super) const FEATURES: usize = 10;

/// What a step is measured by; the reward is made of it.
pub(super) const MEASURED: &[Field] = &[
    ("now", "=f8"),
    ("interval", "=f8"),
    ("bytes_sent", "=f8"),
    ("bytes_acked", "=f8"),
    ("bytes_lost", "=f8"),
    ("marked_share", "=f8"),
    ("rtt", "=f8"),
    ("min_rtt", "=f8"),
    ("inflight", "=f8"),
    ("steered", "=f8"),
    ("capacity", "=f8"),
    ("mean_capacity", "=f8"),
    ("base_rtt", "=f8"),
];
pub(super) const MEASURES: usize = MEASURED.len();

/// A simulation and who steers its first flow.
pub(super) struct Episode {
    simulation: Simulation,
    wheel: Wheel,
    link: Arc<Link>,
    scale: Scale,
    packet: Bytes,
    base_rtt: f64,
    /// Bytes a second.
    mean_capacity: f64,
    value: f64,
    now: Time,
    end: Time,
    rtt: f64,
    trend: f64,
}

impl Episode {
    /// One of a setting, whose first group is the agent's flow.
    pub(super) fn new(setting: &Setting, seed: u64, scale: Scale) -> Result<Self, String> {
        let mut config = setting.config(seed).map_err(|e| e.to_string())?;
        let value = scale.begin();
        let packet = config.packet_size;
        let wheel = Wheel::new(scale.action(value, packet));
        let Some(flow) = config.flows.first_mut() else {
            return Err("there is no flow to steer".to_string());
        };
        let (own, interval) = (wheel.clone(), scale.interval);
        flow.sender = SenderKind::Controlled {
            controller: Arc::new(move |config| {
                Box::new(Steered::new(own.clone(), interval, config))
            }),
            estimator: None,
        };
        let access = flow.access;
        let base_rtt = span(config.base_rtt(&access));
        let link = config.pipe(access.direction).link.clone();
        let end = Time::ZERO + config.duration;
        let volume = link.volume_between(Time::ZERO, end);
        Ok(Self {
            simulation: Simulation::new(config).map_err(|e| e.to_string())?,
            mean_capacity: volume.as_f64() / seconds(end),
            wheel,
            link,
            scale,
            packet,
            base_rtt,
            value,
            now: Time::ZERO,
            end,
            rtt: base_rtt,
            trend: 0.0,
        })
    }

    /// Acts, and runs on for an interval; true when that was the last one.
    pub(super) fn step(&mut self, action: f64) -> bool {
        self.value = self.scale.after(self.value, action);
        self.wheel.lock().action = self.scale.action(self.value, self.packet);
        self.now += self.scale.interval;
        self.simulation.run_until(self.now, &mut ());
        self.now >= self.end
    }

    /// Says what the interval has shown, once.
    pub(super) fn tell(&mut self, features: &mut [f32], measured: &mut [f64]) {
        let (seen, inflight, min_rtt) = {
            let mut shared = self.wheel.lock();
            (
                std::mem::take(&mut shared.seen),
                shared.inflight,
                shared.min_rtt,
            )
        };
        let interval = span(self.scale.interval);
        let is_silent = seen.rtt_count == 0;
        if let Some(rtt) = seen.mean_rtt() {
            self.rtt = rtt;
            self.trend = (seen.rtt_last - seen.rtt_first) / interval;
        }
        let Seen {
            bytes_sent,
            bytes_acked,
            bytes_lost,
            packets_acked,
            packets_marked,
            ..
        } = seen;
        let share = |part: u64, of: u64| if of > 0 { part as f64 / of as f64 } else { 0.0 };
        let lost_share = share(bytes_lost, bytes_lost + bytes_acked);
        let marked_share = share(packets_marked, packets_acked).min(1.0);
        let known = if min_rtt.is_finite() {
            min_rtt
        } else {
            self.rtt
        };
        let rates = self.scale.rates;
        let told = [
            place(bytes_acked as f64 / interval, rates),
            place(bytes_sent as f64 / interval, rates),
            1.0 - (known / self.rtt).min(1.0),
            self.trend.clamp(-1.0, 1.0),
            lost_share,
            marked_share,
            place(
                (inflight as f64 / self.packet.as_f64()).max(1.0),
                (1.0, INFLIGHT),
            ),
            place(self.value, self.scale.bounds()),
            place(known, RTTS),
            f64::from(is_silent),
        ];
        for (place, value) in features.iter_mut().zip(told) {
            *place = value as f32;
        }
        let from = self.now - self.scale.interval;
        let capacity = self.link.volume_between(from, self.now);
        let values = [
            seconds(self.now),
            interval,
            bytes_sent as f64,
            bytes_acked as f64,
            bytes_lost as f64,
            marked_share,
            self.rtt,
            known,
            inflight as f64,
            self.value,
            capacity.as_f64(),
            self.mean_capacity,
            self.base_rtt,
        ];
        measured.copy_from_slice(&values);
    }
}

/// In flight at most, packets, for observations.
const INFLIGHT: f64 = 65_536.0;
/// Shortest and longest RTT for observations, seconds.
const RTTS: (f64, f64) = (0.001, 10.0);
