//! What packets of a simulation carry.

use crate::transport::receiver::{Ack, Data};

#[derive(Clone, Copy, Debug)]
pub(super) enum Payload {
    Data(Data),
    /// An acknowledgment; its body is in the [pool](AckPool).
    Ack(u32),
}

/// The bodies of acknowledgments on their way. They are reused, so that acknowledging allocates
/// nothing.
#[derive(Debug, Default)]
pub(super) struct AckPool {
    bodies: Vec<Ack>,
    free: Vec<u32>,
}

impl AckPool {
    /// A body to write to.
    #[inline]
    pub(super) fn take(&mut self) -> (u32, &mut Ack) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.bodies.push(Ack::default());
            (self.bodies.len() - 1) as u32
        });
        (index, &mut self.bodies[index as usize])
    }

    #[inline]
    pub(super) fn get(&self, body: u32) -> &Ack {
        &self.bodies[body as usize]
    }

    /// Nobody reads this body any more.
    #[inline]
    pub(super) fn release(&mut self, body: u32) {
        self.free.push(body);
    }
}
