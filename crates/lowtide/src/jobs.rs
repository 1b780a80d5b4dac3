//! `--jobs`.

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
