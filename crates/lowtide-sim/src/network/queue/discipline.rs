//! What a queue discipline is.

use lowtide_cc::units::{Bytes, Time};

use crate::network::packet::{DropCause, Handle};

/// A packet that waits, or is on the link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) packet: Handle,
    /// When it came to the queue.
    pub(crate) since: Time,
}

/// What waits before a link, which packet is next, and which are marked or dropped.
///
/// It may drop the packet that arrives, or others when one arrives or when the link asks for the
/// next; each goes to `drops`. It may mark those that it keeps ([`Handle::set_ecn`]). `now` never
/// decreases from call to call.
pub(crate) trait Discipline {
    /// Whether it decides when the link asks for the next packet, by how long packets have waited or
    /// by whose turn it is. A link that sends at moments of its own then asks at these moments;
    /// otherwise it asks as soon as the packet before has left.
    #[inline]
    fn decides_late(&self) -> bool {
        false
    }

    /// A packet arrives at the idle link, with nothing waiting: it as it goes on to the link at once, or
    /// why it is dropped. A discipline that judges every arrival (by tokens, by an average) sees
    /// here those that never wait.
    #[inline]
    fn bypass(&mut self, _now: Time, packet: Handle) -> Result<Handle, DropCause> {
        Ok(packet)
    }

    /// A packet arrives while the link is busy.
    fn enqueue(&mut self, now: Time, packet: Handle, drops: impl FnMut(Handle, DropCause));

    /// The link is free: the next packet for it.
    fn dequeue(&mut self, now: Time, drops: impl FnMut(Handle, DropCause)) -> Option<Waiting>;

    /// Puts the next packet for the link where it belongs. What is returned through a branch that is a
    /// call is written to memory first and read back in other pieces, for which the processor waits.
    #[inline]
    fn dequeue_to(
        &mut self,
        next: &mut Option<Waiting>,
        now: Time,
        drops: impl FnMut(Handle, DropCause),
    ) {
        *next = self.dequeue(now, drops);
    }

    /// Bytes that wait.
    fn bytes(&self) -> Bytes;
}
