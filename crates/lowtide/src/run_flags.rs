//! The flags that say how runs are made.

use lowtide_lab::scenario_file::ScenarioFile;
use lowtide_lab::setting::{Host, MAX_SEEDS};

use crate::jobs::Jobs;

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum HostArg {
    Model,
    #[cfg(feature = "quic")]
    Quic,
    #[cfg(feature = "stacks")]
    Noq,
    #[cfg(feature = "stacks")]
    Quinn,
}

impl HostArg {
    pub(crate) fn host(self) -> Host {
        match self {
            Self::Model => Host::Model,
            #[cfg(feature = "quic")]
            Self::Quic => Host::Quic,
            #[cfg(feature = "stacks")]
            Self::Noq => Host::Noq,
            #[cfg(feature = "stacks")]
            Self::Quinn => Host::Quinn,
        }
    }
}

/// How the cells of scenario files are run, whatever the files say.
#[derive(clap::Args)]
pub(crate) struct RunFlags {
    /// Runs of each cell [default: the file's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_SEEDS))]
    pub(crate) seeds: Option<u64>,

    /// What carries the flows: the simulator's own transports, or s2n-quic (quic), noq or quinn in
    /// virtual time on the same links [default: the file's, or model]
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<HostArg>,

    #[command(flatten)]
    pub(crate) jobs: Jobs,
}

impl RunFlags {
    pub(crate) fn apply(&self, file: &mut ScenarioFile) {
        if let Some(seeds) = self.seeds {
            file.set_seeds(seeds);
        }
        if let Some(host) = self.host {
            file.set_host(host.host());
        }
    }

    /// Those that change what comes out, as they are written.
    pub(crate) fn shown(&self) -> String {
        let seeds = self.seeds.map(|n| format!(" --seeds {n}"));
        let host = self.host.map(|host| format!(" --host {}", host.host()));
        seeds.into_iter().chain(host).collect()
    }
}
