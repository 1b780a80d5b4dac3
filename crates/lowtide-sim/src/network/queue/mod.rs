//! Queues before a link.
//!
//! A discipline is one file with its parameters and its `Discipline`, its name in the list of
//! `Managed`, and what users call it in [`QUEUES`]; `Queue::new` chooses.

mod abc;
mod codel;
mod discipline;
mod drop_tail;
mod drr;
mod dualpi2;
mod fifo;
mod flow_queues;
mod fq_codel;
mod head_drop;
mod kind;
mod l4s;
mod limit;
mod pi;
mod pie;
mod policer;
mod recurrence;
mod red;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Time};

use self::abc::Abc;
pub use self::abc::AbcConfig;
use self::codel::CoDel;
pub use self::codel::CoDelConfig;
pub(super) use self::discipline::{Discipline, Waiting};
use self::drop_tail::DropTail;
use self::drr::Drr;
use self::dualpi2::DualPi2;
pub use self::dualpi2::{DualPi2Config, Scheduler};
pub use self::flow_queues::RoundRobin;
use self::fq_codel::FqCoDel;
pub use self::fq_codel::FqCoDelConfig;
use self::head_drop::HeadDrop;
pub use self::kind::{QUEUES, QueueEntry, QueueKind};
use self::l4s::L4sMarker;
pub use self::l4s::L4sMarkerConfig;
pub use self::limit::{Capacity, QueueLimit};
use self::pie::Pie;
pub use self::pie::PieConfig;
pub use self::policer::Policer;
pub(super) use self::policer::TokenBucket;
use self::red::Red;
pub use self::red::RedConfig;
pub use self::text::{parse, parse_policer};
use super::link::Link;
use super::packet::{DropCause, Handle};

/// A queue of any of these disciplines. An enum and not a trait object: queues are in the path of
/// every packet, and calls that cannot be inlined cost several percent of a simulation's time.
macro_rules! disciplines {
    ($(#[$doc:meta])* $visibility:vis enum $name:ident, $inline:meta: $($discipline:ident),+ $(,)?) => {
        $(#[$doc])*
        #[derive(Debug)]
        $visibility enum $name {
            $($discipline($discipline),)+
        }

        impl Discipline for $name {
            #[inline]
            fn decides_late(&self) -> bool {
                match self {
                    $(Self::$discipline(queue) => queue.decides_late(),)+
                }
            }

            #[$inline]
            fn bypass(&mut self, now: Time, packet: Handle) -> Result<Handle, DropCause> {
                match self {
                    $(Self::$discipline(queue) => queue.bypass(now, packet),)+
                }
            }

            #[$inline]
            fn enqueue(&mut self, now: Time, packet: Handle, drops: impl FnMut(Handle, DropCause)) {
                match self {
                    $(Self::$discipline(queue) => queue.enqueue(now, packet, drops),)+
                }
            }

            #[$inline]
            fn dequeue(
                &mut self,
                now: Time,
                drops: impl FnMut(Handle, DropCause),
            ) -> Option<Waiting> {
                match self {
                    $(Self::$discipline(queue) => queue.dequeue(now, drops),)+
                }
            }

            #[$inline]
            fn dequeue_to(
                &mut self,
                next: &mut Option<Waiting>,
                now: Time,
                drops: impl FnMut(Handle, DropCause),
            ) {
                match self {
                    $(Self::$discipline(queue) => queue.dequeue_to(next, now, drops),)+
                }
            }

            #[$inline]
            fn bytes(&self) -> Bytes {
                match self {
                    $(Self::$discipline(queue) => queue.bytes(),)+
                }
            }
        }
    };
}

disciplines! {
    /// A queue.
    pub(crate) enum Queue, inline:
    DropTail,
    Managed,
}

disciplines! {
    /// All others: behind a call, so that the many of them do not keep drop-tail from being inlined.
    pub(crate) enum Managed, inline(never):
    HeadDrop,
    CoDel,
    FqCoDel,
    Pie,
    Red,
    Drr,
    DualPi2,
    L4sMarker,
    Abc,
}

/// What a queue is made from.
#[derive(Clone, Debug)]
pub(super) struct QueueSetup {
    pub(super) kind: QueueKind,
    /// How much waits at most, where this is limited.
    pub(super) capacity: Capacity,
    /// The link behind it.
    pub(super) link: Arc<Link>,
    /// Feeds what it decides by chance.
    pub(super) seed: u64,
}

impl Queue {
    /// An empty queue.
    pub(super) fn new(setup: &QueueSetup) -> Self {
        let (capacity, seed) = (setup.capacity, setup.seed);
        Self::Managed(match setup.kind {
            QueueKind::DropTail => return Self::DropTail(DropTail::new(capacity)),
            QueueKind::HeadDrop => Managed::HeadDrop(HeadDrop::new(capacity)),
            QueueKind::CoDel(config) => Managed::CoDel(CoDel::new(config, capacity)),
            QueueKind::FqCoDel(config) => Managed::FqCoDel(FqCoDel::new(config, capacity)),
            QueueKind::Pie(config) => Managed::Pie(Pie::new(config, capacity, seed)),
            QueueKind::Red(config) => {
                Managed::Red(Red::new(config, capacity, setup.link.mean_rate(), seed))
            }
            QueueKind::Drr(config) => Managed::Drr(Drr::new(config, capacity)),
            QueueKind::DualPi2(config) => Managed::DualPi2(DualPi2::new(config, capacity)),
            QueueKind::L4sMarker(config) => Managed::L4sMarker(L4sMarker::new(config, capacity)),
            QueueKind::Abc(config) => Managed::Abc(Abc::new(config, setup.link.clone(), capacity)),
        })
    }
}
