//! What can go wrong.

/// Why a controller was not loaded, shown or unloaded; with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The programs are not in this build, for this reason.
    #[error("the kernel's controllers are not part of this build: {0}")]
    NotBuilt(&'static str),
    /// No controller has this name.
    #[error("there is no controller '{name}' for the kernel; there are: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The controllers that there are.
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
    /// The kernel is too old or was built without what is needed: what it lacks, and the remedy.
    #[error("this kernel cannot run BPF congestion controllers: {0}")]
    Kernel(String),
    /// The process may not.
    #[error("only root may do this (CAP_BPF and CAP_NET_ADMIN): run it with sudo")]
    Privileges,
    /// The controller of this name is there already.
    #[error(
        "'{0}' is already loaded; see 'lowtide kernel status', or unload it first: \
         'lowtide kernel unload {0}'"
    )]
    Loaded(&'static str),
    /// The controller of this name is not there.
    #[error("'{0}' is not loaded")]
    NotLoaded(&'static str),
    /// Another process holds the controller of this name.
    #[error(
        "'{0}' was loaded without --pin and goes with the command that loaded it: end that one \
         (Ctrl-C)"
    )]
    Held(&'static str),
    /// New connections get the controller of this name in the kernel.
    #[error(
        "'{0}' is the default for new connections; choose another first: \
         'sysctl -w net.ipv4.tcp_congestion_control=cubic'"
    )]
    Default(&'static str),
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
    /// The kernel refused, and said this.
    #[error("the kernel refuses: {0}")]
    Refused(String),
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
                | Self::Loaded(_)
                | Self::NotLoaded(_)
                | Self::Held(_)
                | Self::Default(_)
        )
    }
}
