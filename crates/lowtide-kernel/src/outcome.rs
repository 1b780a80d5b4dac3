//! What commands have to tell.

use crate::{Choice, Flow};

/// A controller in the kernel.
#[derive(Clone, Debug)]
pub struct Status {
    /// Which, with its parameters; those of the newest load.
    pub choice: Choice,
    /// New sockets can choose it. If not, it has been unloaded, and connections keep it that had it.
    pub registered: bool,
    /// The controller was loaded with `--pin`.
    pub pinned: bool,
    /// Cgroups whose sockets get it.
    pub cgroups: usize,
    /// The sockets that use it.
    pub flows: Vec<Flow>,
}

/// A controller has been unloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unloaded {
    /// Connections that keep it until they end.
    pub flows: usize,
    /// The flows among them that no process has any more.
    pub orphans: usize,
}
