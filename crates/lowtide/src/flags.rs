//! Flags that several commands have.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lowtide_lab::scenario_file::ScenarioFile;
use lowtide_lab::setting::{Host, MAX_SEEDS};
use lowtide_report::figures::{Format, Style};
use lowtide_report::qlog::Version;
use serde::Serialize;

use crate::failure::Failure;
use crate::output;

/// How many runs are made at a time.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Jobs {
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    jobs: Option<u64>,
}

impl Jobs {
    /// Threads; 0: one for each core.
    pub(crate) fn threads(self) -> usize {
        self.jobs.unwrap_or(0) as usize
    }
}

/// How the cells of scenario files are run, whatever the files say.
#[derive(clap::Args)]
pub(crate) struct RunFlags {
    /// Runs of each cell [default: the file's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_SEEDS))]
    seeds: Option<u64>,

    /// What carries the flows: the simulator's own transports, or s2n-quic (quic), noq or quinn in
    /// virtual time on the same links [default: the file's, or model]
    #[arg(long, value_name = "HOST", value_parser = Host::from_str)]
    pub(crate) host: Option<Host>,

    #[command(flatten)]
    pub(crate) jobs: Jobs,
}

impl RunFlags {
    pub(crate) fn apply(&self, file: &mut ScenarioFile) {
        if let Some(seeds) = self.seeds {
            file.set_seeds(seeds);
        }
        if let Some(host) = self.host {
            file.set_host(host);
        }
    }

    /// The flags that change what comes out, as they are written.
    pub(crate) fn shown(&self) -> String {
        let seeds = self.seeds.map(|n| format!(" --seeds {n}"));
        let host = self.host.map(|host| format!(" --host {host}"));
        seeds.into_iter().chain(host).collect()
    }
}

/// `--json[=FILE]`: where JSON goes.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct JsonFlag {
    /// Print JSON instead; with =FILE write it there besides
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-", help_heading = "Output")]
    json: Option<PathBuf>,
}

impl JsonFlag {
    /// Whether standard output is JSON, and so has room for nothing else.
    pub(crate) fn is_printed(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }

    /// The file that it is written to.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.json.as_deref().filter(|_| !self.is_printed())
    }

    /// Prints or writes the value, if that is wanted.
    pub(crate) fn put(&self, value: &impl Serialize) -> Result<(), Failure> {
        match &self.json {
            None => Ok(()),
            Some(_) if self.is_printed() => output::print_json(value),
            Some(file) => output::write_json(value, file),
        }
    }

    /// Puts a list, whose only element stands for itself.
    pub(crate) fn put_all(&self, values: &[impl Serialize]) -> Result<(), Failure> {
        match values {
            [one] => self.put(one),
            several => self.put(&several),
        }
    }
}

/// How results are printed.
#[derive(clap::Args)]
pub(crate) struct Printed {
    #[command(flatten)]
    pub(crate) json: JsonFlag,

    /// Print Markdown tables
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub(crate) markdown: bool,

    /// Leave out how long it took, so that the same runs give the same bytes
    #[arg(long, help_heading = "Output")]
    pub(crate) no_timing: bool,
}

/// How figures look.
#[derive(clap::Args)]
pub(crate) struct FigureFlags {
    /// Width and height of figures in pixels, at 96 to an inch [default: 960x400]
    #[arg(long, value_name = "WxH", requires = "figures")]
    figure_size: Option<String>,

    /// Formats of figures: svg, png, pdf
    #[arg(
        long,
        value_name = "FORMAT",
        value_delimiter = ',',
        requires = "figures"
    )]
    figure_format: Vec<Format>,

    /// Font size of figures in pixels [default: 13]
    #[arg(long, value_name = "PIXELS", requires = "figures")]
    figure_font: Option<u32>,
}

impl FigureFlags {
    pub(crate) fn style(&self) -> Result<Style, Failure> {
        let mut style = Style::default();
        if let Some(size) = &self.figure_size {
            let sized = style.with_size(size);
            style = sized.map_err(|e| Failure::input(format!("--figure-size: {e}")))?;
        }
        if let Some(font) = self.figure_font {
            let with = style.with_font(font);
            style = with.map_err(|e| Failure::input(format!("--figure-font: {e}")))?;
        }
        if !self.figure_format.is_empty() {
            style = style.with_formats(self.figure_format.clone());
        }
        Ok(style)
    }
}

/// Which qlog is written.
#[derive(clap::Args)]
pub(crate) struct QlogFlag {
    /// Which qlog: that of main-schema-14 and quic-events-13, or 0.3, which qvis opens
    #[arg(
        long = "qlog-version",
        value_name = "VERSION",
        value_enum,
        default_value = "draft-14",
        requires = "qlog",
        help_heading = "Output"
    )]
    version: QlogVersion,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum QlogVersion {
    #[value(name = "draft-14")]
    Draft14,
    #[value(name = "0.3")]
    V03,
}

impl QlogFlag {
    pub(crate) fn version(&self) -> Version {
        match self.version {
            QlogVersion::Draft14 => Version::Draft14,
            QlogVersion::V03 => Version::V03,
        }
    }
}
