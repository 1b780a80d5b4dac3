//! The flags that make a link.

use std::collections::HashSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use lowtide_cc::units::quantity;
use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_lab::setting::{
    self, BufferText, BurstText, BytesText, FlowSection, LinkSection, Problem, RateText, Resolver,
    Sections, Setting, ShareText, SpanText, TimeText,
};
use lowtide_sim::impairment::{self, LossModel};
use lowtide_sim::queue::{self, QueueLimit};
use lowtide_sim::trace;

use crate::failure::Failure;

#[derive(clap::Args)]
#[command(next_help_heading = "Link")]
pub(crate) struct LinkArgs {
    /// Built-in scenario to start from: 4g, media or video
    #[arg(long, value_name = "NAME", help_heading = "Scenario")]
    scenario: Option<String>,

    /// Trace of the bottleneck: mahimahi opportunities, or a rate series if named .csv.
    /// Repeat it to compare on several
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rate", "schedule", "scenario"])]
    trace: Vec<PathBuf>,

    /// All traces below a folder, one comparison each; other files in it are left out and named
    #[arg(long, value_name = "DIR", conflicts_with_all = ["trace", "rate", "schedule", "scenario"])]
    traces: Option<PathBuf>,

    /// Constant rate of the bottleneck, as in 100mbit
    #[arg(long, conflicts_with_all = ["schedule", "scenario"], value_parser = quantity::rate)]
    rate: Option<Rate>,

    /// Rates over time, as in 0s:10mbit,5s:2mbit
    #[arg(long, conflicts_with = "scenario")]
    schedule: Option<String>,

    /// Round-trip propagation delay [default: 40ms, or the scenario's]
    #[arg(long, value_parser = quantity::duration)]
    rtt: Option<Duration>,

    /// Queue before the bottleneck: 2bdp, 100p (packets), 64kB, 50ms or inf
    /// [default: inf on traces, 2bdp at --rate and --schedule, or the scenario's]
    #[arg(long, value_parser = queue::parse)]
    buffer: Option<QueueLimit>,

    /// Bytes of one opportunity of a mahimahi trace
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    opportunity: Option<Bytes>,

    /// Random loss behind the bottleneck, as in 0.1%
    #[arg(long, value_name = "SHARE", value_parser = quantity::probability)]
    loss: Option<f64>,

    /// Bursty loss behind the bottleneck: mean share and mean burst in packets, as in 1%:10
    #[arg(long, value_name = "SHARE:PACKETS", conflicts_with = "loss",
          value_parser = impairment::parse_burst_loss)]
    burst_loss: Option<LossModel>,

    /// Random loss of acknowledgments
    #[arg(long, value_name = "SHARE", value_parser = quantity::probability)]
    ack_loss: Option<f64>,

    /// Random extra delay behind the bottleneck, up to this
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    jitter: Option<Duration>,

    /// Let jitter reorder packets
    #[arg(long, requires = "jitter")]
    reorder: bool,

    /// Acknowledgments arrive in batches, this far apart
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    ack_aggregation: Option<Duration>,
}

/// The longest default duration on a trace.
const MAX_DEFAULT_DURATION: Duration = Duration::from_secs(120);

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
        let flag = match problem.at.as_str() {
            "link.trace" if self.traces.is_some() => "--traces".to_string(),
            key => flag(key),
        };
        Failure::input(format!("{flag}: {}", problem.sentence(self::flag)))
    }

    /// The links before all other flags.
    fn links(&self, resolver: &mut Resolver) -> Result<Vec<Sections>, Failure> {
        if let Some(dir) = &self.traces {
            let mut files = Vec::new();
            collect_traces(dir, &mut HashSet::new(), &mut files)?;
            if files.is_empty() {
                return Err(Failure::input(format!(
                    "{}: there is no trace in it",
                    dir.display()
                )));
            }
            return self.on_traces(&files, dir, resolver);
        }
        if !self.trace.is_empty() {
            let files = self.trace.iter();
            let on = files.map(|file| self.on_trace(file, Path::new(""), resolver));
            return on.collect();
        }
        if self.rate.is_some() || self.schedule.is_some() {
            return Ok(vec![on_link(LinkSection {
                rate: self.rate.map(RateText),
                schedule: self.schedule.clone(),
                ..LinkSection::default()
            })]);
        }
        let built_in = setting::built_in();
        match &self.scenario {
            None => Ok(vec![built_in[0].sections()]),
            Some(name) => match built_in.iter().find(|b| b.name == name) {
                Some(found) => Ok(vec![found.sections()]),
                None => {
                    let known: Vec<String> = built_in
                        .iter()
                        .map(|b| format!("{} ({})", b.name, b.summary))
                        .collect();
                    Err(Failure::input(format!(
                        "--scenario: there is no '{}'; known are {}",
                        name.escape_debug(),
                        known.join("; ")
                    )))
                }
            },
        }
    }

    /// What lies beside traces, as a table of delays, is left out and named.
    fn on_traces(
        &self,
        files: &[PathBuf],
        below: &Path,
        resolver: &mut Resolver,
    ) -> Result<Vec<Sections>, Failure> {
        let mut on = Vec::with_capacity(files.len());
        let mut left_out = None;
        for file in files {
            match self.on_trace(file, below, resolver) {
                Ok(sections) => on.push(sections),
                Err(failure) => {
                    // A closed standard error is no reason to stop.
                    let _ = writeln!(io::stderr(), "left out: {failure}");
                    left_out = Some(failure);
                }
            }
        }
        match left_out {
            Some(last) if on.is_empty() => Err(Failure::input(format!(
                "{}: no file in it is a trace; the last: {last}",
                below.display()
            ))),
            _ => Ok(on),
        }
    }

    /// A run once through a trace, unless that takes too long.
    fn on_trace(
        &self,
        file: &Path,
        below: &Path,
        resolver: &mut Resolver,
    ) -> Result<Sections, Failure> {
        let link = resolver.trace(file, self.opportunity);
        let link = link.map_err(|problem| self.failure(&problem))?;
        let length = trace::info::natural_length(&link).unwrap_or(MAX_DEFAULT_DURATION);
        let name = file.strip_prefix(below).unwrap_or(file);
        let mut sections = on_link(LinkSection {
            name: Some(name.display().to_string()),
            trace: Some(file.to_path_buf()),
            opportunity: self.opportunity.map(BytesText),
            ..LinkSection::default()
        });
        sections.run.duration = Some(TimeText(length.min(MAX_DEFAULT_DURATION)));
        Ok(sections)
    }

    /// All flags but those that choose the link.
    fn apply(&self, sections: &mut Sections) {
        let link = &mut sections.link;
        link.buffer = self.buffer.map(BufferText).or(link.buffer);
        let path = &mut sections.path;
        path.rtt = self.rtt.map(SpanText).or(path.rtt);
        path.loss = self.loss.map(ShareText).or(path.loss);
        path.burst_loss = self.burst_loss.map(BurstText).or(path.burst_loss);
        path.ack_loss = self.ack_loss.map(ShareText).or(path.ack_loss);
        path.jitter = self.jitter.map(TimeText).or(path.jitter);
        path.reorder |= self.reorder;
        path.ack_aggregation = self.ack_aggregation.map(TimeText).or(path.ack_aggregation);
    }
}

/// A link with one flow on it.
fn on_link(link: LinkSection) -> Sections {
    Sections {
        link,
        flows: vec![FlowSection::default()],
        ..Sections::default()
    }
}

/// The flag that fills a key of the sections.
fn flag(key: &str) -> String {
    let name = match key.rsplit('.').next().unwrap_or(key) {
        "every" => "stagger",
        "count" => "flows",
        "first_seed" => "seed",
        "sender_rate" => "access-rate",
        "controller" | "parameters" => "cc",
        other => other,
    };
    format!("--{}", name.replace('_', "-"))
}

/// All files below a folder in the order of their names, texts that describe them left out. No folder
/// is entered twice, whatever links lead to it.
fn collect_traces(
    dir: &Path,
    entered: &mut HashSet<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> Result<(), Failure> {
    let unreadable = |e: std::io::Error| Failure::input(format!("{}: {e}", dir.display()));
    if !entered.insert(dir.canonicalize().map_err(unreadable)?) {
        return Ok(());
    }
    let entries: Result<Vec<_>, _> = std::fs::read_dir(dir).map_err(unreadable)?.collect();
    let mut paths: Vec<PathBuf> = entries
        .map_err(unreadable)?
        .iter()
        .map(|e| e.path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect_traces(&path, entered, files)?;
        } else if path.extension().is_none_or(|e| e != "md") {
            files.push(path);
        }
    }
    Ok(())
}
