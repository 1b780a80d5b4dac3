//! Which of the network's flows a packet belongs to: queues that serve flows in turn tell packets apart
//! by it, and so do probes where ports say whose it is.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Number of flows that are told apart: as many as the Linux kernel's FQ-CoDel has queues. Two
/// flows of the same number share a queue.
pub(crate) const FLOWS: u32 = 1024;

/// The flow of all packets that have this in common.
pub(crate) fn number(common: &impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    common.hash(&mut hasher);
    (hasher.finish() % u64::from(FLOWS)) as u32
}

/// Ports that say which flow a packet is of: a flow for each, whatever goes to it or comes from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// The port of flow 0.
    pub first: u16,
    /// How many flows there are, each with the next port; at most [`Self::MOST`].
    pub count: u16,
}

impl Ports {
    /// The most flows.
    pub const MOST: u16 = FLOWS as u16 - 1;

    /// The flow of all packets without such a port, which is none of the others.
    pub(crate) const NONE: u32 = FLOWS - 1;

    /// The flow of a packet between these ports.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code))]
    pub(crate) fn flow(self, ports: [u16; 2]) -> u32 {
        let number = |port: u16| port.checked_sub(self.first).filter(|n| *n < self.count);
        let found = ports.into_iter().find_map(number);
        found.map_or(Self::NONE, u32::from)
    }
}
