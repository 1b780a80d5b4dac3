//! What each controller does, step by step: driven part by part with events made by hand, and whole
//! over an ideal link.

mod bbr;
mod bbr3;
mod bbr_acd;
mod bbr_s;
mod bbrx;
mod c4;
mod copa;
mod ebb;
mod ebcc;
mod events;
mod host;
mod leocc;
mod marks;
mod newreno;
mod rbbr;
mod rtt_gain;
mod sprout;
mod spurious;
mod vegas;
