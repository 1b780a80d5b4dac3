//! Whole QUIC stacks in virtual time, over the simulator's links: [`noq`] and [`quinn`], which leave
//! clock and sockets to their callers.
//!
//! The same configuration that [`lowtide_sim::Simulation`] runs with its own transport runs here with a
//! stack: handshake, streams, loss detection, acknowledgments, pacing and timers are the stack's, with
//! its defaults; only clock and network are not. A flow's controller is one of the stack's own
//! ([`SenderKind::Stock`](lowtide_sim::SenderKind::Stock)) or one of Lowtide's. What is different from
//! the model:
//! - packets have headers and sizes of their own; links and queues carry them with 28 bytes of IPv4
//!   and UDP; packets of the handshake count as full ones, because the stacks put a parameter of random
//!   length into them, which no seed decides;
//! - a sender's packets are marked ECN-capable if the stack does so (both: ECT(0)), a receiver's never;
//! - which bytes are sent again is not visible: the next bytes sent after a loss are taken for them.

mod driver;
mod end;
pub mod noq;
pub mod quinn;
