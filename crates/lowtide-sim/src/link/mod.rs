//! Links: service processes that say when a packet leaves.

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Rate, Time};

/// A link's capacity over all time. Immutable; shared by the runs of a comparison.
#[derive(Debug)]
pub struct Link {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Unlimited,
    Constant(Rate),
}

impl Link {
    /// A link that takes no time.
    #[must_use]
    pub fn unlimited() -> Self {
        Self { kind: Kind::Unlimited }
    }

    /// A link of one rate.
    #[must_use]
    pub fn constant(rate: Rate) -> Self {
        Self { kind: Kind::Constant(rate) }
    }

    /// Capacity offered in `from..to`.
    #[must_use]
    pub fn volume_between(&self, from: Time, to: Time) -> Bytes {
        match self.kind {
            Kind::Unlimited => Bytes::MAX,
            Kind::Constant(rate) => rate.volume_in(to.since(from)),
        }
    }

    /// Long-term mean rate; [`Rate::MAX`] for an unlimited link.
    #[must_use]
    pub fn mean_rate(&self) -> Rate {
        match self.kind {
            Kind::Unlimited => Rate::MAX,
            Kind::Constant(rate) => rate,
        }
    }

    /// The latest moment at which a packet of `bytes` could have reached the idle link and have
    /// left it by `now`: what an omniscient sender's freshest delivered packet shows.
    #[must_use]
    pub fn freshest_arrival(&self, now: Time, bytes: Bytes) -> Time {
        match self.kind {
            Kind::Unlimited => now,
            Kind::Constant(rate) => now - rate.time_for(bytes),
        }
    }
}

/// Where a link's service stands.
#[derive(Clone, Debug)]
pub struct Server {
    link: Arc<Link>,
}

/// One transmission of a link that is kept busy without a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The latest moment at which the packet may reach the link and still leave at `departure`.
    pub arrive_by: Time,
    /// When it leaves.
    pub departure: Time,
}

impl Server {
    /// The service of `link`, from time zero.
    #[must_use]
    pub fn new(link: Arc<Link>) -> Self {
        Self { link }
    }

    /// Starts to serve a packet of `bytes` at `now` and returns when it leaves. Calls come in the
    /// order of service, `now` never before the previous departure. `backlogged`: the packet was
    /// already waiting when the previous one left, so that it may use what is left of that one's
    /// delivery opportunity.
    pub fn serve(&mut self, now: Time, bytes: Bytes, _backlogged: bool) -> Time {
        match self.link.kind {
            Kind::Unlimited => now,
            Kind::Constant(rate) => now + rate.time_for(bytes),
        }
    }

    /// The next transmission of a packet of `bytes` on a link that is always busy, from `not_before`
    /// on.
    pub fn next_slot(&mut self, not_before: Time, bytes: Bytes) -> Slot {
        let departure = self.serve(not_before, bytes, true);
        Slot { arrive_by: not_before, departure }
    }
}
