//! Which of the network's flows a packet belongs to: queues that serve flows in turn tell packets apart
//! by it.

use std::hash::{DefaultHasher, Hash, Hasher};

/// As many as the Linux kernel's FQ-CoDel has queues. Two flows of the same number share a queue.
pub(crate) const FLOWS: u32 = 1024;

/// The flow of all packets that have this in common.
pub(crate) fn number(common: &impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    common.hash(&mut hasher);
    (hasher.finish() % u64::from(FLOWS)) as u32
}
