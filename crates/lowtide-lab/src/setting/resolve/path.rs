//! Paths: their delays, and what they do to packets.

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::PipeConfig;
use lowtide_sim::impairment::{self, Aggregation, Jitter, LossModel, MovingDelay, Script};

use super::{Problem, Resolver, wrong};
use crate::setting::sections::PathSection;
use crate::setting::{LinkSource, Setting};

/// The largest packet: what IP can carry.
const MAX_PACKET: Bytes = Bytes::new(65_535);
/// The most steps of a delay that drifts.
const MAX_DRIFT_STEPS: u64 = 100_000;

impl Resolver {
    /// How the delays of a path move.
    pub(super) fn move_delay(
        &mut self,
        setting: &mut Setting,
        path: &PathSection,
    ) -> Result<(), Problem> {
        let both = |one: &str, other: &str| {
            let problem = format!("there is '{other}' already; leave one out");
            wrong(&format!("path.{one}"), problem)
        };
        let moved = |pipe: &PipeConfig<LinkSource>, delay: Arc<MovingDelay>| {
            let delay = if path.reorder {
                Arc::new(delay.as_ref().clone().reordering())
            } else {
                delay
            };
            pipe.clone().with_moving_delay(delay)
        };
        let steps = match (&path.rtt_steps, &path.rtt_drift, &path.delay_trace) {
            (Some(_), _, Some(_)) => return both("delay_trace", "rtt_steps"),
            (Some(_), Some(_), None) => return both("rtt_drift", "rtt_steps"),
            (None, Some(_), Some(_)) => return both("rtt_drift", "delay_trace"),
            (None, None, None) => return Ok(()),
            (None, None, Some(file)) => {
                let delay = self.delay_trace(file)?;
                setting.forward = moved(&setting.forward, delay);
                return Ok(());
            }
            (Some(text), None, None) => {
                let steps = impairment::parse_delay_steps(text);
                steps.or_else(|e| wrong("path.rtt_steps", e))?
            }
            (None, Some(text), None) => drift(text, setting)?,
        };
        let rtt = setting.base_rtt();
        let way = |part: fn(Duration) -> Duration| {
            let steps: Vec<_> = steps.iter().map(|(at, rtt)| (*at, part(*rtt))).collect();
            let delay = MovingDelay::stepped(part(rtt), &steps);
            delay.map_or_else(|e| wrong("path.rtt_steps", e), |delay| Ok(Arc::new(delay)))
        };
        let (there, back) = (way(|rtt| rtt.div(2))?, way(|rtt| rtt - rtt.div(2))?);
        setting.forward = moved(&setting.forward, there);
        setting.back = moved(&setting.back, back);
        Ok(())
    }
}

pub(super) fn set_path(setting: &mut Setting, path: &PathSection) -> Result<(), Problem> {
    let (forward, back) = (&mut setting.forward, &mut setting.back);
    if let Some(treatment) = path.ecn {
        forward.ecn = treatment.0;
    }
    if path.loss.is_some() && path.burst_loss.is_some() {
        return wrong("path.burst_loss", "there is 'loss' already; leave one out");
    }
    if let Some(share) = path.loss {
        forward.loss = LossModel::Random(share.0);
    }
    if let Some(model) = path.burst_loss {
        forward.loss = model.0;
    }
    if let Some(share) = path.ack_loss {
        back.loss = LossModel::Random(share.0);
    }
    forward.jitter = path.jitter.map(|max| Jitter {
        max: max.0,
        reorder: path.reorder,
    });
    let from = Time::ZERO + path.ack_aggregation_from.map_or(Duration::ZERO, |t| t.0);
    if path.ack_aggregation_from.is_some() && path.ack_aggregation.is_none() {
        let problem = "goes with 'ack_aggregation' only";
        return wrong("path.ack_aggregation_from", problem);
    }
    if let Some(text) = &path.wifi_jitter {
        let wifi = impairment::parse_wifi_jitter(text).or_else(|e| wrong("path.wifi_jitter", e))?;
        let wifi = Some(Arc::new(wifi));
        (forward.wifi, back.wifi) = (wifi.clone(), wifi);
    }
    back.aggregation = path
        .ack_aggregation
        .map(|p| Aggregation { period: p.0, from });
    forward.script = script(
        ("path.scripted_loss", path.scripted_loss.as_deref()),
        ("path.held_back", path.held_back.as_deref()),
    )?;
    let ack_loss = path.ack_scripted_loss.as_deref();
    back.script = script(("path.ack_scripted_loss", ack_loss), ("", None))?;
    if let Some(size) = path.packet_size {
        setting.packet_size = size.0;
    }
    if setting.packet_size > MAX_PACKET {
        return wrong("path.packet_size", format!("the most is {MAX_PACKET}"));
    }
    Ok(())
}

/// A script from its keys and texts.
pub(super) fn script(
    losses: (&str, Option<&str>),
    held_back: (&str, Option<&str>),
) -> Result<Script, Problem> {
    let mut script = Script::default();
    if let (key, Some(text)) = losses {
        script.losses = impairment::parse_scripted_loss(text).or_else(|e| wrong(key, e))?;
    }
    if let (key, Some(text)) = held_back {
        script.held_back = impairment::parse_held_back(text).or_else(|e| wrong(key, e))?;
    }
    Ok(script)
}

/// The steps of a delay that becomes shorter again and again, for the whole run.
fn drift(text: &str, setting: &Setting) -> Result<Vec<(Time, Duration)>, Problem> {
    let at = "path.rtt_drift";
    let (every, by) = impairment::parse_drift(text).or_else(|e| wrong(at, e))?;
    let count = setting.duration.as_nanos() / every.as_nanos().max(1);
    if count > MAX_DRIFT_STEPS {
        return wrong(
            at,
            format!("makes {count} steps in the run; the most is {MAX_DRIFT_STEPS}"),
        );
    }
    let rtt = setting.base_rtt();
    if by * count >= rtt {
        let problem = Problem::new(at, "leaves nothing of the delay before the run is over");
        return Err(problem.see("path.rtt"));
    }
    let steps = (1..=count).map(|n| (Time::ZERO + every * n, rtt - by * n));
    Ok(steps.collect())
}
