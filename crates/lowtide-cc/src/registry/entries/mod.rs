//! The list of controllers: a file for each, with its parameters.

use super::Entry;

mod bbr;
mod bbr3;
mod bbr_acd;
mod bbr_s;
mod bbrx;
mod compound;
mod copa;
mod cubic;
mod ebcc;
mod newreno;
mod rbbr;
mod rtt_gain;
mod vegas;
mod window;

/// In the order in which they should be shown: the BBR family, then its rivals.
pub(super) static ENTRIES: &[&Entry] = &[
    &bbr::BBR,
    &bbr::BBR_NOAGG,
    &rbbr::RBBR,
    &rtt_gain::RTT_GAIN,
    &bbr_acd::BBR_ACD,
    &bbr_s::BBR_S,
    &ebcc::EBCC,
    &bbrx::BBRX,
    &bbr3::BBR3,
    &copa::COPA,
    &cubic::CUBIC,
    &newreno::NEWRENO,
    &vegas::VEGAS,
    &compound::COMPOUND,
    &window::WINDOW,
];
