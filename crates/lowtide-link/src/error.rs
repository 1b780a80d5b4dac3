//! Why a link cannot be made.

use std::fmt;
use std::io;

/// Why a link cannot be made, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No namespaces.
    #[error(
        "this needs a network namespace, and the kernel refuses one ({0}); run as root, or allow \
         user namespaces (sysctl user.max_user_namespaces above 0; where there is one, \
         kernel.apparmor_restrict_unprivileged_userns=0), or use --udp, which needs neither"
    )]
    NoNamespace(io::Error),
    /// No `/dev/net/tun`, or not for this user.
    #[error(
        "cannot open /dev/net/tun ({0}); load the module (modprobe tun), in a container pass the \
         device on (--device /dev/net/tun), or use --udp, which needs none"
    )]
    NoTunDevice(io::Error),
    /// A TUN device that cannot be created or set up.
    #[error("cannot set up the TUN device {name}: {problem}{}", tun_remedy(.problem))]
    Tunnel {
        /// The device's name.
        name: String,
        /// What the kernel says.
        problem: io::Error,
    },
    /// Every block of addresses is in use.
    #[error(
        "all {0} blocks of {1} are in use by other links here; end one of them (or nest less deep)"
    )]
    NoFreeBlock(u32, String),
    /// A namespace or an address of the relay that cannot be set up.
    #[error("cannot {doing}: {problem}")]
    Setup {
        /// What was tried.
        doing: String,
        /// What the kernel says.
        problem: io::Error,
    },
    /// The link failed while it ran.
    #[error("the link failed while it ran: {0}")]
    Broken(io::Error),
    /// What is to run behind the link is wrong: the user can mend that.
    #[error("{0}")]
    Input(String),
    /// What ran behind the link failed, or could not be started.
    #[error("{0}")]
    Failed(String),
    /// The system failed.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl Error {
    /// An [`Input`](Self::Input) of this problem.
    pub fn input(problem: impl fmt::Display) -> Self {
        Self::Input(problem.to_string())
    }

    /// A [`Setup`](Self::Setup) in which this was tried.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code))]
    pub(crate) fn setup<E: Into<io::Error>>(doing: impl fmt::Display) -> impl FnOnce(E) -> Self {
        let doing = doing.to_string();
        |problem| Self::Setup {
            doing,
            problem: problem.into(),
        }
    }

    /// A [`Failed`](Self::Failed) of this problem.
    pub fn failed(problem: impl fmt::Display) -> Self {
        Self::Failed(problem.to_string())
    }
}

fn tun_remedy(problem: &io::Error) -> &'static str {
    match problem.kind() {
        io::ErrorKind::PermissionDenied => "; this needs the capability CAP_NET_ADMIN",
        _ => "",
    }
}
