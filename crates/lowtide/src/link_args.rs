//! The flags that make a link.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lowtide_cc::units::quantity;
use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_lab::scenario::{self, LinkSource, Scenario};
use lowtide_sim::impairment::{self, Aggregation, Jitter, LossModel};
use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY};
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

    /// All traces below a folder, one comparison each
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
    #[arg(long, value_name = "SHARE:PACKETS", conflicts_with = "loss")]
    burst_loss: Option<String>,

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
    /// Scenarios with the links that the flags describe: one, or one for each trace.
    pub(crate) fn scenarios(&self) -> Result<Vec<Scenario>, Failure> {
        let links = self.links()?;
        links.into_iter().map(|s| self.apply(s)).collect()
    }

    /// The links before all other flags.
    fn links(&self) -> Result<Vec<Scenario>, Failure> {
        if let Some(dir) = &self.traces {
            let mut files = Vec::new();
            collect_traces(dir, &mut files)?;
            if files.is_empty() {
                return Err(Failure::input(format!(
                    "{}: there is no trace in it",
                    dir.display()
                )));
            }
            return files
                .iter()
                .map(|file| self.trace_scenario(file, dir))
                .collect();
        }
        if !self.trace.is_empty() {
            return self
                .trace
                .iter()
                .map(|f| self.trace_scenario(f, Path::new("")))
                .collect();
        }
        if let Some(rate) = self.rate {
            let link = Link::constant(rate).map_err(Failure::input)?;
            let name = format!("constant {} Mbit/s", rate.as_mbps());
            return Ok(vec![constant_scenario(&name, link)]);
        }
        if let Some(text) = &self.schedule {
            let schedule = trace::schedule::parse(text)
                .map_err(|e| Failure::input(format!("--schedule: {e}")))?;
            return Ok(vec![constant_scenario(text, Link::Rates(schedule))]);
        }
        let built_in = scenario::built_in();
        match &self.scenario {
            None => Ok(vec![built_in[0].scenario()]),
            Some(name) => match built_in.iter().find(|b| b.name == name) {
                Some(found) => Ok(vec![found.scenario()]),
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

    fn trace_scenario(&self, file: &Path, below: &Path) -> Result<Scenario, Failure> {
        let link = load_trace(file, self.opportunity)?;
        let length = trace::info::natural_length(&link).unwrap_or(MAX_DEFAULT_DURATION);
        let name = file
            .strip_prefix(below)
            .unwrap_or(file)
            .display()
            .to_string();
        Ok(Scenario {
            duration: length.min(MAX_DEFAULT_DURATION),
            ..Scenario::on_link(&name, LinkSource::Fixed(Arc::new(link)))
        })
    }

    fn apply(&self, mut s: Scenario) -> Result<Scenario, Failure> {
        s.rtt = self.rtt.unwrap_or(s.rtt);
        s.buffer = self.buffer.unwrap_or(s.buffer);
        if let Some(share) = self.loss {
            s.loss = LossModel::Random(share);
        }
        if let Some(text) = &self.burst_loss {
            s.loss = impairment::parse_burst_loss(text)
                .map_err(|e| Failure::input(format!("--burst-loss: {e}")))?;
        }
        if let Some(share) = self.ack_loss {
            s.ack_loss = LossModel::Random(share);
        }
        if let Some(max) = self.jitter {
            s.jitter = Some(Jitter {
                max,
                reorder: self.reorder,
            });
        }
        if let Some(period) = self.ack_aggregation {
            s.aggregation = Some(Aggregation { period });
        }
        Ok(s)
    }
}

fn constant_scenario(name: &str, link: Link) -> Scenario {
    Scenario {
        buffer: QueueLimit::Bdp(2.0),
        ..Scenario::on_link(name, LinkSource::Fixed(Arc::new(link)))
    }
}

/// Reads a trace; the error names the file.
pub(crate) fn load_trace(file: &Path, opportunity: Option<Bytes>) -> Result<Link, Failure> {
    trace::load(file, opportunity.unwrap_or(MAHIMAHI_OPPORTUNITY))
        .map_err(|e| Failure::input(format!("{}: {e}", file.display())))
}

/// All files below a folder in the order of their names, texts that describe them left out.
fn collect_traces(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unreadable = |e: std::io::Error| Failure::input(format!("{}: {e}", dir.display()));
    let entries: Result<Vec<_>, _> = std::fs::read_dir(dir).map_err(unreadable)?.collect();
    let mut paths: Vec<PathBuf> = entries
        .map_err(unreadable)?
        .iter()
        .map(|e| e.path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect_traces(&path, files)?;
        } else if path.extension().is_none_or(|e| e != "md") {
            files.push(path);
        }
    }
    Ok(())
}
