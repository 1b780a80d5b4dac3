//! What can go wrong.

/// Why a controller was not loaded, shown or unloaded; with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The programs are not in this build.
    #[error("the kernel's controllers are not part of this build: {reason}")]
    NotBuilt {
        /// What was missing.
        reason: &'static str,
    },
    /// No controller has this name.
    #[error("there is no controller '{name}' for the kernel; there are: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// Its parameters do not fit.
    #[error(transparent)]
    Parameter(#[from] lowtide_cc::registry::Error),
    /// The cgroup is none.
    #[error(
        "{path} is no cgroup: {problem}; name its folder in the cgroup2 file system, as in \
         /sys/fs/cgroup/system.slice/nginx.service"
    )]
    Cgroup {
        /// Its path.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// The kernel is too old or was built without what is needed.
    #[error("this kernel cannot run BPF congestion controllers: {lacks}")]
    Kernel {
        /// What it lacks, and the remedy.
        lacks: String,
    },
    /// The process may not.
    #[error("only root may do this (CAP_BPF and CAP_NET_ADMIN): run it with sudo")]
    Privileges,
    /// The controller is there already.
    #[error(
        "'{name}' is already loaded; see 'lowtide kernel status', or unload it first: \
         'lowtide kernel unload {name}'"
    )]
    Loaded {
        /// Its name.
        name: &'static str,
    },
    /// The controller is not there.
    #[error("'{name}' is not loaded")]
    NotLoaded {
        /// Its name.
        name: &'static str,
    },
    /// Another process holds the controller.
    #[error(
        "'{name}' was loaded without --pin and goes with the command that loaded it: end that one \
         (Ctrl-C)"
    )]
    Held {
        /// Its name.
        name: &'static str,
    },
    /// New connections get it.
    #[error(
        "'{name}' is the default for new connections; choose another first: \
         'sysctl -w net.ipv4.tcp_congestion_control=cubic'"
    )]
    Default {
        /// Its name in the kernel.
        name: &'static str,
    },
    /// The pin cannot be made.
    #[error(
        "cannot keep it in {path}: {problem}; is the BPF file system there? \
         'mount -t bpf bpf /sys/fs/bpf'"
    )]
    Pin {
        /// Where.
        path: String,
        /// Why not.
        problem: String,
    },
    /// The kernel refused.
    #[error("the kernel refuses: {problem}")]
    Refused {
        /// What it said.
        problem: String,
    },
}

impl Error {
    /// Whether what the user asked for is wrong, rather than the machine.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Unknown { .. }
                | Self::Parameter(_)
                | Self::Cgroup { .. }
                | Self::Loaded { .. }
                | Self::NotLoaded { .. }
                | Self::Held { .. }
                | Self::Default { .. }
        )
    }
}
