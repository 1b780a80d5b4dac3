//! The flags that name traces.

use std::path::{Path, PathBuf};

use lowtide_cc::units::Bytes;
use lowtide_cc::units::quantity;
use lowtide_lab::setting::{
    BytesText, FlowSection, LinkSection, Problem, Resolver, Sections, short_name, traces_below,
};

use crate::failure::Failure;
use crate::output;

#[derive(clap::Args)]
#[command(next_help_heading = "Link")]
pub(crate) struct TraceArgs {
    /// Trace of the bottleneck: mahimahi opportunities, or a rate series if named .csv.
    /// Repeat it for several
    #[arg(long, value_name = "FILE")]
    trace: Vec<PathBuf>,

    /// All traces below a folder; other files in it are left out and named
    #[arg(long, value_name = "DIR", conflicts_with = "trace")]
    traces: Option<PathBuf>,

    /// Bytes of one opportunity of a mahimahi trace
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    opportunity: Option<Bytes>,
}

impl TraceArgs {
    /// The link of each trace, with one flow on it; `None` where no trace is named.
    pub(crate) fn links(&self, resolver: &mut Resolver) -> Result<Option<Vec<Sections>>, Failure> {
        if let Some(dir) = &self.traces {
            let files = traces_below(dir).map_err(Failure::input)?;
            return self.on_traces(&files, dir, resolver).map(Some);
        }
        if self.trace.is_empty() {
            return Ok(None);
        }
        let files = self.trace.iter();
        let on = files.map(|file| self.on_trace(file, Path::new(""), resolver));
        on.collect::<Result<_, _>>().map(Some)
    }

    /// What is wrong, by its flag.
    pub(crate) fn failure(&self, problem: &Problem) -> Failure {
        let flag = match problem.at.as_str() {
            "link.trace" if self.traces.is_some() => "--traces".to_string(),
            key => flag(key),
        };
        Failure::input(format!("{flag}: {}", problem.sentence(self::flag)))
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
                    output::say(format_args!("left out: {failure}"));
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
        let name = file.strip_prefix(below).unwrap_or(file);
        let sections = on_link(LinkSection {
            name: Some(name.display().to_string()),
            trace: Some(file.to_path_buf()),
            opportunity: self.opportunity.map(BytesText),
            ..LinkSection::default()
        });
        let sections = sections.as_long_as_trace(resolver);
        sections.map_err(|problem| self.failure(&problem))
    }
}

/// A link with one flow on it.
pub(crate) fn on_link(link: LinkSection) -> Sections {
    Sections {
        link,
        flows: vec![FlowSection::default()],
        ..Sections::default()
    }
}

/// The flag that fills a key of the sections.
fn flag(key: &str) -> String {
    let name = match key {
        "reverse" => "reverse-trace or --reverse-rate",
        _ => match (short_name(key), key.strip_prefix("reverse.")) {
            (Some(short), _) => short,
            (None, Some(key)) => return flag(&format!("reverse_{key}")),
            (None, None) => match key.rsplit('.').next().unwrap_or(key) {
                "direction" => "reverse-cc",
                "controller" | "parameters" => "cc",
                other => other,
            },
        },
    };
    format!("--{}", name.replace('_', "-"))
}
