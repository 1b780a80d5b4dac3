//! Links: what they carry, their queues, and who else is on them.

use std::sync::Arc;

use lowtide_cc::registry;
use lowtide_cc::units::{Duration, Rate};
use lowtide_sim::link::Link;
use lowtide_sim::network::Cross;
use lowtide_sim::trace::generate::{self, Model};
use lowtide_sim::transport::TransportConfig;
use lowtide_sim::{AccessConfig, Direction, PipeConfig};

use super::{MAX_FLOWS, Problem, Resolver, wrong};
use crate::setting::buffer::buffer;
use crate::setting::cross::{self, Traffic, Web};
use crate::setting::sections::{LinkSection, Sections};
use crate::setting::{Group, LinkSource, Setting};

/// The most kinds of cross traffic of a run.
const MAX_CROSS: usize = 100;

impl Resolver {
    /// A link, and what it is for people.
    pub(super) fn link(&mut self, section: &LinkSection) -> Result<(LinkSource, String), Problem> {
        let given = [
            section.rate.is_some(),
            section.schedule.is_some(),
            section.trace.is_some(),
            section.model.is_some(),
        ];
        if given.iter().filter(|g| **g).count() != 1 {
            return wrong(
                "link",
                "needs exactly one of 'rate', 'schedule', 'trace' and 'model'",
            );
        }
        if section.burst.is_some() && section.rate.is_none() {
            return wrong("link.burst", "goes with a constant 'rate' only");
        }
        let fixed = |link: Link| LinkSource::Fixed(Arc::new(link));
        if let Some(rate) = section.rate {
            let mbps = rate.0.as_mbps();
            let (link, name) = match section.burst {
                None => (Link::constant(rate.0), format!("constant {mbps} Mbit/s")),
                Some(burst) => (
                    Link::shaper(rate.0, burst.0),
                    format!("shaped to {mbps} Mbit/s, bursts of {}", burst.0),
                ),
            };
            return Ok((fixed(link.or_else(|e| wrong("link.rate", e))?), name));
        }
        if let Some(text) = &section.schedule {
            return Ok((LinkSource::Fixed(self.schedule(text)?), text.clone()));
        }
        if let Some(path) = &section.trace {
            let link = self.trace(path, section.opportunity.map(|bytes| bytes.0))?;
            let label = self.links.label(path).map(str::to_string);
            let label = label.unwrap_or_else(|| path.display().to_string());
            return Ok((LinkSource::Fixed(link), label));
        }
        generated(section)
    }

    /// What shares the links with the flows.
    pub(super) fn cross(
        &mut self,
        setting: &mut Setting,
        sections: &Sections,
    ) -> Result<(), Problem> {
        let forward = sections.link.cross.iter();
        let forward = forward.map(|text| (text, "link.cross", Direction::Forward));
        let reverse = sections.reverse.cross.iter();
        let reverse = reverse.map(|text| (text, "reverse.cross", Direction::Reverse));
        let all: Vec<_> = forward.chain(reverse).collect();
        if all.len() > MAX_CROSS {
            return wrong("link.cross", format!("at most {MAX_CROSS} of them"));
        }
        for (n, (text, key, direction)) in all.into_iter().enumerate() {
            let packet = setting.packet_size;
            let cross = match cross::parse(text).or_else(|e| wrong(key, e))? {
                Traffic::Source(source) => Cross::Source { source, packet },
                Traffic::File(path) => Cross::Recorded(self.arrivals(&path, key)?),
                Traffic::Web(load) => {
                    let web = self.web(setting, load, (n, key, direction))?;
                    setting.groups.push(web);
                    continue;
                }
            };
            match direction {
                Direction::Forward => setting.forward.cross.push(cross),
                Direction::Reverse => setting.back.cross.push(cross),
            }
        }
        Ok(())
    }

    /// Short flows that offer a share of a link; `place`: their number, key and direction.
    fn web(
        &self,
        setting: &Setting,
        load: f64,
        place: (usize, &str, Direction),
    ) -> Result<Group, Problem> {
        let (number, key, direction) = place;
        let link = match direction {
            Direction::Forward => &setting.forward.link,
            Direction::Reverse => &setting.back.link,
        };
        let count = Web::count(setting.duration, load, link.mean_rate());
        if count + setting.flow_count() as u64 > MAX_FLOWS {
            let problem = format!(
                "in {} s these would be {count} short flows; a run has at most {MAX_FLOWS} flows: take \
                 a lower load or a shorter run",
                setting.duration.as_secs_f64()
            );
            return wrong(key, problem);
        }
        let cubic = self.contenders.parse("cubic").or_else(|e| wrong(key, e))?;
        let like = setting.groups.first();
        Ok(Group {
            count: count as usize,
            transport: like.map_or(TransportConfig::quic(), |group| group.transport),
            web: Some(Web::new(setting.duration, number)),
            access: AccessConfig {
                direction,
                ..AccessConfig::default()
            },
            ..Group::of(cubic)
        })
    }
}

/// The queue before a link, what drops packets before that, and how much it holds.
pub(super) fn set_link(pipe: &mut PipeConfig<LinkSource>, section: &LinkSection, rtt: Duration) {
    if let Some(queue) = section.queue {
        pipe.queue = queue.0;
    }
    pipe.policer = section.policer.map(|policer| policer.0);
    pipe.buffer = buffer(section, &pipe.link, rtt);
}

/// What is wrong with a link of the way back.
pub(super) fn of_reverse(problem: Problem) -> Problem {
    Problem {
        at: problem.at.replacen("link", "reverse", 1),
        ..problem
    }
}

/// The model of a name, with this mean rate instead of its own.
pub(crate) fn model(name: &str, mean: Option<Rate>) -> Result<Model, String> {
    let named = generate::named();
    let found = named.iter().find(|n| n.name == name).ok_or_else(|| {
        let known: Vec<&str> = named.iter().map(|n| n.name).collect();
        registry::unknown("", name, &known)
    })?;
    let model = found.model();
    Ok(mean.map_or(model, |mean| model.with_mean(mean)))
}

fn generated(section: &LinkSection) -> Result<(LinkSource, String), Problem> {
    let name = section.model.as_deref().unwrap_or_default();
    let model = model(name, section.mean.map(|mean| mean.0));
    let model = model.or_else(|e| wrong("link.model", e))?;
    let about = format!("{name} of {} Mbit/s", model.mean().as_mbps());
    let seed = section.seed;
    Ok((LinkSource::Generated { model, seed }, about))
}
