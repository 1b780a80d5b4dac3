//! Queues before a link.
//!
//! A discipline is one file with its `Discipline` and its name in the list of `disciplines!`;
//! `Queue::new` chooses.

mod discipline;
mod drop_tail;
mod limit;
mod policer;
mod text;

use lowtide_cc::units::{Bytes, Time};

pub(super) use self::discipline::{Discipline, Waiting};
use self::drop_tail::DropTail;
pub use self::limit::{Capacity, QueueLimit};
use self::policer::Policed;
pub use self::policer::Policer;
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
            fn bypass(&mut self, now: Time, packet: Handle) -> Result<(), DropCause> {
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
    Policed,
}

impl Queue {
    /// An empty queue of this capacity, behind a policer where there is one.
    pub(super) fn new(capacity: Capacity, policer: Option<Policer>) -> Self {
        let queue = DropTail::new(capacity);
        match policer {
            None => Self::DropTail(queue),
            Some(policer) => Self::Policed(Policed::new(policer, queue)),
        }
    }
}
