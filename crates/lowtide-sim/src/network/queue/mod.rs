//! Queues before a link.
//!
//! A discipline is one file with its parameters and its `Discipline`, and an entry in the list of
//! `managed!`: what users call it, and how it begins.

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
pub use self::kind::QueueEntry;
use self::l4s::L4sMarker;
pub use self::l4s::L4sMarkerConfig;
pub use self::limit::{Capacity, QueueLimit};
use self::pie::Pie;
pub use self::pie::PieConfig;
pub use self::policer::Policer;
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

/// Makes of one list the kinds that users choose among, their names and parameters, and the queues.
/// Drop-tail stands beside the list: it alone is inlined.
macro_rules! managed {
    ($(
        $(#[$doc:meta])*
        $kind:ident$(($config:ident: $of:ty))?, $name:literal, $source:literal, $parameters:expr,
        $summary:literal, |$setup:ident| $new:expr;
    )+) => {
        /// How a queue is managed. How much it holds at most is [`QueueLimit`]'s to say.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        pub enum QueueKind {
            /// First in, first out; what does not fit is dropped.
            #[default]
            DropTail,
            $($(#[$doc])* $kind$(($of))?,)+
        }

        /// All disciplines, in the order in which they should be shown.
        pub static QUEUES: &[QueueEntry] = &[
            QueueEntry {
                name: "droptail",
                summary: "first in, first out; what does not fit is dropped",
                source: "",
                parameters: &[],
                make: |_values| QueueKind::DropTail,
            },
            $(QueueEntry {
                name: $name,
                summary: $summary,
                source: $source,
                parameters: $parameters,
                make: |_values| QueueKind::$kind$((<$of>::of(_values)))?,
            },)+
        ];

        disciplines! {
            /// All others: behind a call, so that the many of them do not keep drop-tail from being inlined.
            pub(crate) enum Managed, inline(never): $($kind),+
        }

        impl Queue {
            /// An empty queue.
            pub(super) fn new(setup: &QueueSetup) -> Self {
                match setup.kind {
                    QueueKind::DropTail => Self::DropTail(DropTail::new(setup.capacity)),
                    $(QueueKind::$kind$(($config))? => {
                        let $setup = setup;
                        Self::Managed(Managed::$kind($new))
                    })+
                }
            }
        }
    };
}

managed! {
    /// First in, first out; the oldest make room for what does not fit.
    HeadDrop, "headdrop", "Lakshman et al. 1996", &[],
        "first in, first out; the oldest make room for what does not fit",
        |setup| HeadDrop::new(setup.capacity);
    /// CoDel (RFC 8289).
    CoDel(config: CoDelConfig), "codel", "RFC 8289", codel::PARAMETERS,
        "drops or marks at the head while the wait stays above a target",
        |setup| CoDel::new(config, setup.capacity);
    /// FQ-CoDel (RFC 8290).
    FqCoDel(config: FqCoDelConfig), "fq_codel", "RFC 8290", fq_codel::PARAMETERS,
        "a queue for each flow, served in turn, each under CoDel",
        |setup| FqCoDel::new(config, setup.capacity);
    /// PIE (RFC 8033).
    Pie(config: PieConfig), "pie", "RFC 8033", pie::PARAMETERS,
        "drops or marks arrivals by chance, the probability controlled by the wait",
        |setup| Pie::new(config, setup.capacity, setup.seed);
    /// RED (Floyd and Jacobson 1993).
    Red(config: RedConfig), "red", "Floyd and Jacobson 1993", red::PARAMETERS,
        "drops or marks arrivals by chance, more often the longer the average queue",
        |setup| Red::new(config, setup.capacity, setup.link.mean_rate(), setup.seed);
    /// Deficit round robin between flows.
    Drr(config: RoundRobin), "drr", "Shreedhar and Varghese 1995", flow_queues::PARAMETERS,
        "a queue for each flow, served in turn",
        |setup| Drr::new(config, setup.capacity);
    /// DualPI2 (RFC 9332).
    DualPi2(config: DualPi2Config), "dualpi2", "RFC 9332", dualpi2::PARAMETERS,
        "a queue for L4S and one for classic flows, marks coupled so that both get their share",
        |setup| DualPi2::new(config, setup.capacity);
    /// One queue that marks L4S packets by the time that they have waited.
    L4sMarker(config: L4sMarkerConfig), "l4s", "3GPP TS 23.501 §5.37.3", l4s::PARAMETERS,
        "one queue that marks L4S packets by the time they have waited, as mobile networks do",
        |setup| L4sMarker::new(config, setup.capacity);
    /// ABC's router (NSDI 2020).
    Abc(config: AbcConfig), "abc", "Goyal et al., NSDI 2020", AbcConfig::PARAMETERS,
        "marks so many packets that what comes back is what the link carries",
        |setup| Abc::new(config, setup.link.clone(), setup.capacity);
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
