//! The flags that make a link.

use std::path::PathBuf;

use clap::ArgGroup;
use lowtide_cc::units::quantity;
use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_lab::setting::{
    self, BufferText, BuiltIn, BytesText, LinkSection, PolicerText, Problem, QueueText, RateText,
    Resolver, Sections, Setting, SpanText,
};
use lowtide_sim::queue::{self, Policer, QueueKind, QueueLimit};

use crate::failure::Failure;
use crate::path_args::PathArgs;
use crate::trace_args::{TraceArgs, on_link};

#[derive(clap::Args)]
#[command(
    next_help_heading = "Link",
    group = ArgGroup::new("way_back").args(["reverse_trace", "reverse_rate"])
)]
pub(crate) struct LinkArgs {
    /// Built-in scenario to start from: 4g, media or video
    #[arg(long, value_name = "NAME", help_heading = "Scenario", conflicts_with_all = ["trace", "traces"])]
    scenario: Option<String>,

    #[command(flatten)]
    traces: TraceArgs,

    /// Constant rate of the bottleneck, as in 100mbit
    #[arg(long, conflicts_with_all = ["trace", "traces", "schedule", "scenario"],
          value_parser = quantity::rate)]
    rate: Option<Rate>,

    /// What may pass at once after a pause, as in 100kB: makes --rate a token-bucket shaper
    #[arg(long, requires = "rate", value_parser = quantity::bytes)]
    burst: Option<Bytes>,

    /// Rates over time, as in 0s:10mbit,5s:2mbit
    #[arg(long, conflicts_with_all = ["trace", "traces", "scenario"])]
    schedule: Option<String>,

    /// Round-trip propagation delay [default: 40ms, or the scenario's]
    #[arg(long, value_parser = quantity::duration)]
    rtt: Option<Duration>,

    /// How the queue before the bottleneck is managed, as in codel or codel:target=5ms;
    /// 'lowtide list queues' names what there is [default: droptail]
    #[arg(long, value_name = "QUEUE", value_parser = QueueKind::parse)]
    queue: Option<QueueKind>,

    /// Queue before the bottleneck: 2bdp, 100p (packets), 64kB, 50ms or inf
    /// [default: 2bdp, at least 1200kB on traces and models, or the scenario's]
    #[arg(long, value_parser = queue::parse)]
    buffer: Option<QueueLimit>,

    /// Policer before that queue, as in 10mbit:100kB: drops what exceeds this rate and burst
    #[arg(long, value_name = "RATE:BURST", value_parser = queue::parse_policer)]
    policer: Option<Policer>,

    /// Traffic of others over the bottleneck: cbr:5mbit, onoff:10mbit:1s:500ms (rate, on, off), video:2mbit,
    /// web:30% (short CUBIC flows of that load), file:PATH (CSV with time_ms and bytes). Repeat it for
    /// several
    #[arg(long, value_name = "TRAFFIC")]
    cross: Vec<String>,

    /// The same over the way back
    #[arg(long, value_name = "TRAFFIC", requires = "way_back")]
    reverse_cross: Vec<String>,

    /// Trace of the way back, of the same kinds, which limits acknowledgments and uploads
    #[arg(long, value_name = "FILE")]
    reverse_trace: Option<PathBuf>,

    /// Constant rate of the way back [default: no limit]
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    reverse_rate: Option<Rate>,

    /// How the queue before the way back's limit is managed [default: droptail]
    #[arg(long, value_name = "QUEUE", requires = "way_back", value_parser = QueueKind::parse)]
    reverse_queue: Option<QueueKind>,

    /// How much that queue holds [default: 2bdp, at least 1200kB on a trace]
    #[arg(long, value_name = "BUFFER", requires = "way_back", value_parser = queue::parse)]
    reverse_buffer: Option<QueueLimit>,

    #[command(flatten)]
    path: PathArgs,
}

impl LinkArgs {
    /// The links that the flags describe, with one flow on each: one, or one for each trace.
    pub(crate) fn settings(&self, resolver: &mut Resolver) -> Result<Vec<Setting>, Failure> {
        let sections = self.sections(resolver)?;
        let resolved = sections.iter().map(|s| resolver.setting(s));
        resolved.map(|r| r.map_err(|p| self.failure(&p))).collect()
    }

    /// What the flags say: once, or once for each trace.
    pub(crate) fn sections(&self, resolver: &mut Resolver) -> Result<Vec<Sections>, Failure> {
        let mut all = self.links(resolver)?;
        for sections in &mut all {
            self.apply(sections);
        }
        Ok(all)
    }

    /// What is wrong, by its flag.
    pub(crate) fn failure(&self, problem: &Problem) -> Failure {
        self.traces.failure(problem)
    }

    /// The links before all other flags.
    fn links(&self, resolver: &mut Resolver) -> Result<Vec<Sections>, Failure> {
        if let Some(on_traces) = self.traces.links(resolver)? {
            return Ok(on_traces);
        }
        if self.rate.is_some() || self.schedule.is_some() {
            return Ok(vec![on_link(LinkSection {
                rate: self.rate.map(RateText),
                burst: self.burst.map(BytesText),
                schedule: self.schedule.clone(),
                ..LinkSection::default()
            })]);
        }
        let chosen = match &self.scenario {
            None => Ok(&setting::built_in()[0]),
            Some(name) => BuiltIn::of_name(name),
        };
        let sections = chosen.map(|built_in| vec![built_in.sections()]);
        sections.map_err(|problem| self.failure(&problem))
    }

    /// All flags but those that choose the link.
    fn apply(&self, sections: &mut Sections) {
        let link = &mut sections.link;
        link.queue = self.queue.map(QueueText).or(link.queue);
        link.buffer = self.buffer.map(BufferText).or(link.buffer);
        link.policer = self.policer.map(PolicerText).or(link.policer);
        link.cross.extend(self.cross.iter().cloned());
        let reverse = &mut sections.reverse;
        reverse.cross.extend(self.reverse_cross.iter().cloned());
        reverse.trace = self.reverse_trace.clone().or(reverse.trace.take());
        reverse.rate = self.reverse_rate.map(RateText).or(reverse.rate);
        reverse.queue = self.reverse_queue.map(QueueText).or(reverse.queue);
        reverse.buffer = self.reverse_buffer.map(BufferText).or(reverse.buffer);
        if reverse.trace.is_some() {
            reverse.opportunity = sections.link.opportunity;
        }
        let path = &mut sections.path;
        path.rtt = self.rtt.map(SpanText).or(path.rtt);
        self.path.apply(path);
    }
}
