//! Groups of flows: who sends, what, over which transport.

use lowtide_cc::registry;
use lowtide_cc::units::{Duration, Time};
use lowtide_sim::AccessConfig;
use lowtide_sim::source::SourceConfig;
use lowtide_sim::transport::{EcnFeedback, Lie, TransportConfig};

use super::{MAX_FLOWS, Problem, Resolver, wrong};
use crate::contender::Contender;
use crate::setting::Group;
use crate::setting::sections::{AccessSection, FlowSection, LinkSection, Sections, Transport};

/// The most packets that are acknowledged at once.
const MAX_ACK_EVERY: u32 = 1_000;

impl Resolver {
    pub(super) fn groups(
        &self,
        sections: &Sections,
        duration: Duration,
    ) -> Result<Vec<Group>, Problem> {
        if sections.flows.is_empty() {
            return wrong(
                "flows",
                "there is nobody to send: write a [[flows]] with a controller",
            );
        }
        let mut flows = 0;
        let groups = sections.flows.iter().enumerate();
        groups
            .map(|(n, section)| {
                let count = section.count.unwrap_or(1);
                flows += count;
                if count == 0 || flows > MAX_FLOWS {
                    let problem = format!("all together must be 1 to {MAX_FLOWS}");
                    return wrong(&format!("flows.{n}.count"), problem);
                }
                let named = |problem: Problem| Problem {
                    at: format!("flows.{n}.{}", problem.at),
                    ..problem
                };
                let mut group = self.group(section, duration).map_err(named)?;
                group.poisson = section.poisson.then_some(n as u64);
                if group.is_reverse() && sections.reverse == LinkSection::default() {
                    let problem = "there is no limit on the way back, which these flows would fill \
                                   without end: give it a rate or a trace";
                    let problem = Problem::new(format!("flows.{n}.direction"), problem);
                    return Err(problem.see("reverse"));
                }
                Ok(group)
            })
            .collect()
    }

    /// A group of flows; problems are at the section's keys.
    fn group(&self, section: &FlowSection, duration: Duration) -> Result<Group, Problem> {
        let zero = Duration::ZERO;
        let group = Group {
            count: section.count.unwrap_or(1) as usize,
            start: section.start.map_or(zero, |t| t.0),
            every: section.every.map_or(zero, |t| t.0),
            stop: section.stop.map(|t| Time::ZERO + t.0),
            transport: transport(section)?,
            ecn: ecn(section)?,
            lie: lie(section)?,
            pacing: section.pacing.unwrap_or_default(),
            source: section.source.map_or(SourceConfig::Bulk, |s| s.0),
            access: access(section),
            ..Group::of(self.contender(section)?)
        };
        let gaps = group.count as u64 - u64::from(!section.poisson);
        let last_start = group.start + group.every * gaps;
        if last_start >= duration {
            let key = if group.start >= duration {
                "start"
            } else {
                "every"
            };
            let (last_start, duration) = (last_start.as_secs_f64(), duration.as_secs_f64());
            let problem = format!(
                "the last flow would start at {last_start} s, when the run of {duration} s is over"
            );
            return Err(Problem::new(key, problem).see("run.duration"));
        }
        Ok(group)
    }

    fn contender(&self, section: &FlowSection) -> Result<Contender, Problem> {
        let mut spec = section
            .controller
            .clone()
            .unwrap_or_else(|| "bbr".to_string());
        for (key, value) in &section.parameters {
            let join = if spec.contains(':') { ',' } else { ':' };
            spec = format!("{spec}{join}{key}={value}");
        }
        self.contenders.parse(&spec).or_else(|e| {
            let key = if section.parameters.is_empty() {
                "controller"
            } else {
                "parameters"
            };
            match e {
                registry::Error::UnknownController { name, .. } if name.contains(',') => {
                    let problem = format!(
                        "'{}' is no controller: to try several, repeat --vary with one each, or \
                         write a list under [sweep]",
                        name.escape_debug()
                    );
                    wrong(key, problem)
                }
                e => wrong(key, e),
            }
        })
    }
}

fn ecn(section: &FlowSection) -> Result<EcnFeedback, Problem> {
    let is_quic = !matches!(section.transport, Some(Transport::Tcp));
    match section.ecn.unwrap_or_default() {
        EcnFeedback::Classic if is_quic => {
            let problem = "'classic' is for tcp only: QUIC reports counts ('accurate')";
            Err(Problem::new("ecn", problem).see("flows.0.transport"))
        }
        ecn => Ok(ecn),
    }
}

fn lie(section: &FlowSection) -> Result<Option<Lie>, Problem> {
    let needs = |problem: &str, see| Err(Problem::new("lie", problem).see(see));
    if section.lie.is_some() && matches!(section.transport, Some(Transport::Tcp)) {
        return needs("is for quic only", "flows.0.transport");
    }
    if section.lie == Some(Lie::Timestamps) && section.timestamps != Some(true) {
        return needs("its receiver reports no timestamps", "flows.0.timestamps");
    }
    Ok(section.lie)
}

fn transport(section: &FlowSection) -> Result<TransportConfig, Problem> {
    let only = |key: &str, what: &str| {
        let problem = Problem::new(key, format!("is for {what} only"));
        Err(problem.see("flows.0.transport"))
    };
    match section.transport.unwrap_or(Transport::Quic) {
        Transport::Quic => {
            if section.min_rto.is_some() {
                return only("min_rto", "tcp");
            }
            if section.sack.is_some() {
                return only("sack", "tcp");
            }
            let mut config = TransportConfig::quic();
            if let TransportConfig::Quic {
                ack_every,
                timestamps,
                ..
            } = &mut config
            {
                *ack_every = section.ack_every.unwrap_or(*ack_every);
                if !(1..=MAX_ACK_EVERY).contains(ack_every) {
                    let problem = format!("must lie between 1 and {MAX_ACK_EVERY}");
                    return wrong("ack_every", problem);
                }
                *timestamps = section.timestamps.unwrap_or(*timestamps);
            }
            Ok(config)
        }
        Transport::Tcp => {
            if section.ack_every.is_some() {
                return only("ack_every", "quic");
            }
            if section.timestamps.is_some() {
                return only("timestamps", "quic");
            }
            let mut config = TransportConfig::tcp();
            if let TransportConfig::Tcp { min_rto, sack, .. } = &mut config {
                *min_rto = section.min_rto.map_or(*min_rto, |least| least.0);
                *sack = section.sack.unwrap_or(*sack);
            }
            Ok(config)
        }
    }
}

fn access(flow: &FlowSection) -> AccessConfig {
    let section: &AccessSection = &flow.access;
    let zero = Duration::ZERO;
    AccessConfig {
        direction: flow.direction.unwrap_or_default(),
        sender_rate: section.sender_rate.map(|r| r.0),
        sender_delay: section.sender_delay.map_or(zero, |t| t.0),
        receiver_rate: section.receiver_rate.map(|r| r.0),
        receiver_delay: section.receiver_delay.map_or(zero, |t| t.0),
    }
}
