//! Queues before a link.
//!
//! A discipline is one file with its parameters and its `Discipline`, its name in the list of
//! `disciplines!`, and what users call it in [`QUEUES`]; `Queue::new` chooses.

mod codel;
mod discipline;
mod drop_tail;
mod fifo;
mod kind;
mod limit;
mod policer;
mod text;

use lowtide_cc::units::{Bytes, Time};

use self::codel::CoDel;
pub use self::codel::CoDelConfig;
pub(super) use self::discipline::{Discipline, Waiting};
use self::drop_tail::DropTail;
pub use self::kind::{QUEUES, QueueEntry, QueueKind};
pub use self::limit::{Capacity, QueueLimit};
pub use self::policer::Policer;
pub(super) use self::policer::TokenBucket;
pub use self::text::{parse, parse_policer};
use super::packet::{DropCause, Handle};

/// A queue of any of these disciplines. An enum and not a trait object: queues are in the path of
/// every packet, and calls that cannot be inlined cost several percent of a simulation's time.
macro_rules! disciplines {
    ($($discipline:ident),+ $(,)?) => {
        #[derive(Debug)]
        pub(crate) enum Queue {
            $($discipline($discipline),)+
        }

        impl Discipline for Queue {
            #[inline]
            fn decides_late(&self) -> bool {
                match self {
                    $(Self::$discipline(queue) => queue.decides_late(),)+
                }
            }

            #[inline]
            fn bypass(&mut self, now: Time, packet: &mut Handle) -> Result<(), DropCause> {
                match self {
                    $(Self::$discipline(queue) => queue.bypass(now, packet),)+
                }
            }

            #[inline]
            fn enqueue(&mut self, now: Time, packet: Handle, drops: impl FnMut(Handle, DropCause)) {
                match self {
                    $(Self::$discipline(queue) => queue.enqueue(now, packet, drops),)+
                }
            }

            #[inline]
            fn dequeue(
                &mut self,
                now: Time,
                drops: impl FnMut(Handle, DropCause),
            ) -> Option<Waiting> {
                match self {
                    $(Self::$discipline(queue) => queue.dequeue(now, drops),)+
                }
            }

            #[inline]
            fn bytes(&self) -> Bytes {
                match self {
                    $(Self::$discipline(queue) => queue.bytes(),)+
                }
            }
        }
    };
}

disciplines! {
    DropTail,
    CoDel,
}

/// What a queue is made from.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueSetup {
    pub(super) kind: QueueKind,
    /// How much waits at most, where this is limited.
    pub(super) capacity: Capacity,
}

impl Queue {
    /// An empty queue.
    pub(super) fn new(setup: &QueueSetup) -> Self {
        let capacity = setup.capacity;
        match setup.kind {
            QueueKind::DropTail => Self::DropTail(DropTail::new(capacity)),
            QueueKind::CoDel(config) => Self::CoDel(CoDel::new(config, capacity)),
        }
    }
}
