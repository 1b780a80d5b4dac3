//! The flags that say how runs are made.

use std::str::FromStr;

use lowtide_lab::scenario_file::ScenarioFile;
use lowtide_lab::setting::{Host, MAX_SEEDS};

use crate::jobs::Jobs;

/// How the cells of scenario files are run, whatever the files say.
#[derive(clap::Args)]
pub(crate) struct RunFlags {
    /// Runs of each cell [default: the file's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_SEEDS))]
    pub(crate) seeds: Option<u64>,

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

    /// Those that change what comes out, as they are written.
    pub(crate) fn shown(&self) -> String {
        let seeds = self.seeds.map(|n| format!(" --seeds {n}"));
        let host = self.host.map(|host| format!(" --host {host}"));
        seeds.into_iter().chain(host).collect()
    }
}
