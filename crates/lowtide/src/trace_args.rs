//! The flags that name traces.

use std::collections::HashSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use lowtide_cc::units::quantity;
use lowtide_cc::units::{Bytes, Duration};
use lowtide_lab::setting::{
    BytesText, FlowSection, LinkSection, Problem, Resolver, Sections, TimeText,
};
use lowtide_sim::trace;

use crate::failure::Failure;

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

/// The longest default duration on a trace.
const MAX_DEFAULT_DURATION: Duration = Duration::from_secs(120);

impl TraceArgs {
    /// The link of each trace, with one flow on it; `None` where no trace is named.
    pub(crate) fn links(&self, resolver: &mut Resolver) -> Result<Option<Vec<Sections>>, Failure> {
        if let Some(dir) = &self.traces {
            let mut files = Vec::new();
            collect_traces(dir, &mut HashSet::new(), &mut files)?;
            if files.is_empty() {
                return Err(Failure::input(format!(
                    "{}: there is no trace in it",
                    dir.display()
                )));
            }
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
    if let Some(key) = key.strip_prefix("reverse.") {
        return format!("--reverse-{key}");
    }
    let name = match key.rsplit('.').next().unwrap_or(key) {
        "reverse" => "reverse-trace or --reverse-rate",
        "direction" => "reverse-cc",
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
