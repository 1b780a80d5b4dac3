//! How a command fails.

use std::fmt;

/// Why a command failed; decides the exit code.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What the user gave is wrong: exit code 2, as for unknown flags.
    Input(String),
    /// Something else went wrong: exit code 1.
    Run(String),
    /// A signal ended the work, after what was done had been shown: the exit code that shells have for it.
    Interrupted {
        /// The signal's number.
        signal: i32,
        /// What became of the work.
        problem: String,
    },
}

impl Failure {
    pub(crate) fn input(problem: impl fmt::Display) -> Self {
        Self::Input(problem.to_string())
    }

    pub(crate) fn run(problem: impl fmt::Display) -> Self {
        Self::Run(problem.to_string())
    }

    /// The failure of something that is named.
    pub(crate) fn of(self, name: &dyn fmt::Display) -> Self {
        match self {
            Self::Input(problem) => Self::Input(format!("{name}: {problem}")),
            Self::Run(problem) => Self::Run(format!("{name}: {problem}")),
            Self::Interrupted { .. } => self,
        }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Run(_) => 1,
            Self::Interrupted { signal, .. } => u8::try_from(128 + signal).unwrap_or(1),
        }
    }
}

impl From<lowtide_link::Error> for Failure {
    fn from(error: lowtide_link::Error) -> Self {
        match error {
            lowtide_link::Error::Input(problem) => Self::Input(problem),
            error => Self::run(error),
        }
    }
}

#[cfg(feature = "stacks")]
impl From<lowtide_transfer::Error> for Failure {
    fn from(error: lowtide_transfer::Error) -> Self {
        match error {
            lowtide_transfer::Error::Input(problem) => Self::Input(problem),
            lowtide_transfer::Error::Failed(problem) => Self::Run(problem),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(problem) | Self::Run(problem) | Self::Interrupted { problem, .. } => {
                f.write_str(problem)
            }
        }
    }
}
