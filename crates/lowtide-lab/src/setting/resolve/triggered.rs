//! What a phase sets off.

use lowtide_cc::units::Time;
use lowtide_sim::link::Link;
use lowtide_sim::{source, trace};

use super::path::script;
use super::{Problem, wrong};
use crate::setting::sections::TriggerSection;
use crate::setting::trigger::followed_by;
use crate::setting::{LinkSource, Setting, Trigger};

/// What happens once a flow has entered a phase.
pub(super) fn trigger(section: &TriggerSection, setting: &Setting) -> Result<Trigger, Problem> {
    let flow = usize::try_from(section.flow).unwrap_or(usize::MAX);
    let groups = setting.group_of_flows();
    let Some(group) = groups.get(flow).map(|group| &setting.groups[*group]) else {
        let problem = format!("there are {} flows, counted from 0", groups.len());
        return wrong("trigger.flow", problem);
    };
    let visit = section.visit.unwrap_or(1);
    if !(1..=1_000_000).contains(&visit) {
        return wrong("trigger.visit", "must lie between 1 and 1000000");
    }
    let rates = match &section.schedule {
        None => None,
        Some(text) => {
            let at = "trigger.schedule";
            let LinkSource::Fixed(link) = &setting.forward.link else {
                return wrong(at, "needs a link with a 'rate' or a 'schedule' before it");
            };
            let Link::Rates(before) = &**link else {
                return wrong(at, "needs a link with a 'rate' or a 'schedule' before it");
            };
            let rates = trace::schedule::parse(text).or_else(|e| wrong(at, e))?;
            let both = before.followed_by(Time::ZERO + setting.duration, &rates);
            both.or_else(|e| wrong(at, e))?;
            Some(rates)
        }
    };
    let source = match &section.source {
        None => None,
        Some(text) => {
            let at = "trigger.source";
            let steps = source::parse_steps(text).or_else(|e| wrong(at, e))?;
            let follows = followed_by(&group.source, setting.duration, &steps);
            follows.or_else(|e| wrong(at, e))?;
            Some(steps)
        }
    };
    let by = section.by.map(|by| Time::ZERO + by.0);
    if by.is_some_and(|by| by >= Time::ZERO + setting.duration) {
        let problem = Problem::new("trigger.by", "the run is over by then");
        return Err(problem.see("run.duration"));
    }
    Ok(Trigger {
        flow,
        phase: section.phase.clone(),
        visit,
        by,
        rates,
        source,
        script: script(
            ("trigger.scripted_loss", section.scripted_loss.as_deref()),
            ("trigger.held_back", section.held_back.as_deref()),
        )?,
        aggregation: section.ack_aggregation.map(|period| period.0),
    })
}
