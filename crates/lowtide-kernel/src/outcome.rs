//! What commands have to tell.

use crate::{Flow, Known};

/// A controller in the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Which.
    pub known: &'static Known,
    /// New sockets can choose it. If not, it has been unloaded, and connections keep it that had it.
    pub registered: bool,
    /// It was loaded with `--pin`.
    pub pinned: bool,
    /// The sockets that use it.
    pub flows: Vec<Flow>,
}

/// A controller has been unloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unloaded {
    /// Connections that keep it until they end.
    pub flows: usize,
}
