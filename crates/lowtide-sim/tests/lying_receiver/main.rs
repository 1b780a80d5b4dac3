//! What senders let their receivers' reports and acknowledgments do.

mod deceived;
mod ebb;
mod rbbr;
mod two_flows;
mod withheld;
