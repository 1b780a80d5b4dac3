//! Cross traffic: packets of others that come to a link at times of their own, whatever becomes of
//! those before them.

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Time};

use crate::source::{SourceConfig, Writes};

/// When packets come to a link and how large they are; times never decrease.
pub type Arrivals = Arc<[(Time, Bytes)]>;

/// Traffic that crosses a link beside the flows of hosts. It takes its part of queue and link, is
/// dropped as other packets are, and is gone behind the link.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Cross {
    /// What this application writes, in packets of at most `packet` bytes each.
    Source {
        /// The application; what never writes at a time of its own (bulk, a volume) sends nothing.
        source: SourceConfig,
        /// The largest packet.
        packet: Bytes,
    },
    /// Packets as they were recorded, once.
    Recorded(Arrivals),
}

#[derive(Debug)]
enum Coming {
    Written {
        writes: Option<Writes>,
        packet: Bytes,
        /// The write that is being sent, and what is left of it.
        at: Time,
        left: Bytes,
    },
    Recorded {
        arrivals: Arrivals,
        next: usize,
    },
}

/// Cross traffic at work.
#[derive(Debug)]
pub(super) struct CrossFlow {
    coming: Coming,
    next: Option<(Time, Bytes)>,
}

impl CrossFlow {
    pub(super) fn new(config: &Cross, seed: u64) -> Self {
        let coming = match config {
            Cross::Source { source, packet } => Coming::Written {
                writes: Writes::new(*source, Time::ZERO, *packet, seed),
                packet: *packet,
                at: Time::ZERO,
                left: Bytes::ZERO,
            },
            Cross::Recorded(arrivals) => Coming::Recorded {
                arrivals: arrivals.clone(),
                next: 0,
            },
        };
        let mut flow = Self { coming, next: None };
        flow.take();
        flow
    }

    /// When the next packet comes; [`Time::MAX`]: never.
    pub(super) fn next_at(&self) -> Time {
        self.next.map_or(Time::MAX, |(at, _)| at)
    }

    /// Takes the next packet.
    pub(super) fn take(&mut self) -> Option<Bytes> {
        let next = match &mut self.coming {
            Coming::Written {
                writes,
                packet,
                at,
                left,
            } => {
                if left.is_zero()
                    && let Some(write) = writes.as_mut().and_then(Writes::next)
                {
                    (*at, *left) = write;
                }
                let bytes = (*left).min(*packet);
                *left -= bytes;
                (!bytes.is_zero()).then_some((*at, bytes))
            }
            Coming::Recorded { arrivals, next } => {
                let arrival = arrivals.get(*next).copied();
                *next += 1;
                arrival
            }
        };
        std::mem::replace(&mut self.next, next).map(|(_, bytes)| bytes)
    }
}
