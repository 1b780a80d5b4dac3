//! Queues before a link.
//!
//! To add a discipline: one file with its `Queue`, and its line in `build`.

mod discipline;
mod drop_tail;
mod limit;

use std::fmt::Debug;

pub(super) use self::discipline::{Drops, Queue, Waiting};
use self::drop_tail::DropTail;
pub use self::limit::{Capacity, QueueLimit};

/// The queue of this capacity.
pub(super) fn build<P: Debug + Send + 'static>(capacity: Capacity) -> Box<dyn Queue<P>> {
    Box::new(DropTail::new(capacity))
}
