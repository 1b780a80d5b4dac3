//! What a queue is.

use std::fmt::Debug;

use lowtide_cc::units::{Bytes, Time};

use crate::network::packet::{DropCause, Packet};

/// A packet that waits, or is on the link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting<P> {
    pub(crate) packet: Packet<P>,
    /// When it came to the queue.
    pub(crate) since: Time,
}

/// Where a queue puts the packets that it drops.
pub(crate) type Drops<'a, P> = &'a mut dyn FnMut(Packet<P>, DropCause);

/// A queueing discipline: what waits before a link, which packet is next, and which are dropped.
///
/// It may drop the packet that arrives, or others when one arrives or when the link asks for the
/// next. `now` never decreases from call to call.
pub(crate) trait Queue<P>: Debug + Send {
    /// A packet arrives at the idle link, with nothing waiting: may it go on to the link at once, or
    /// why is it dropped? A discipline that judges every arrival (by tokens, by an average) sees
    /// here those that never wait.
    fn bypass(&mut self, _now: Time, _packet: &Packet<P>) -> Result<(), DropCause> {
        Ok(())
    }

    /// A packet arrives while the link is busy.
    fn enqueue(&mut self, now: Time, packet: Packet<P>, drops: Drops<'_, P>);

    /// The link is free: the next packet for it.
    fn dequeue(&mut self, now: Time, drops: Drops<'_, P>) -> Option<Waiting<P>>;

    /// Bytes that wait.
    fn bytes(&self) -> Bytes;
}
