//! What senders let their receivers' reports and acknowledgments do.

mod deceived;
mod ebb;
mod grid;
mod rbbr;
mod two_flows;
mod withheld;
