//! The controllers: a room for each, with its registry entry (`entry.rs`) beside it.

pub mod bbr;
pub mod bbr3;
pub mod bbr_acd;
pub mod bbr_s;
pub mod bbrx;
pub mod c4;
pub mod compound;
pub mod copa;
pub mod cubic;
pub mod ebb;
pub mod ebcc;
pub mod leocc;
pub mod newreno;
pub mod prague;
pub mod rbbr;
pub mod rtt_gain;
pub mod sprout;
pub mod vegas;
pub mod window;

/// Calls the macro `$then` with a line for each controller of the registry: its entry, a type name for
/// hosts that give each controller a type, and its name in a spec. In the order in which they should
/// be shown: our own, the BBR family, then its rivals.
#[macro_export]
macro_rules! for_each_controller {
    ($then:path) => {
        $then! {
            ebb::EBB as Ebb = "ebb";
            bbr::BBR as Bbr = "bbr";
            bbr::BBR_NOAGG as BbrNoagg = "bbr-noagg";
            rbbr::RBBR as Rbbr = "rbbr";
            rtt_gain::RTT_GAIN as RttGain = "rtt-gain";
            bbr_acd::BBR_ACD as BbrAcd = "bbr-acd";
            bbr_s::BBR_S as BbrS = "bbr-s";
            ebcc::EBCC as Ebcc = "ebcc";
            bbrx::BBRX as Bbrx = "bbrx";
            bbr3::BBR3 as Bbr3 = "bbr3";
            leocc::LEOCC as Leocc = "leocc";
            sprout::SPROUT as Sprout = "sprout";
            c4::C4 as C4 = "c4";
            copa::COPA as Copa = "copa";
            cubic::CUBIC as Cubic = "cubic";
            newreno::NEWRENO as NewReno = "newreno";
            prague::PRAGUE as Prague = "prague";
            vegas::VEGAS as Vegas = "vegas";
            compound::COMPOUND as Compound = "compound";
            window::WINDOW as Window = "window";
        }
    };
}

macro_rules! entries {
    ($($room:ident::$entry:ident as $type:ident = $name:literal;)*) => {
        /// The entries of all of them.
        pub(crate) static ENTRIES: &[&crate::registry::Entry] = &[$(&$room::entry::$entry),*];
    };
}
for_each_controller!(entries);
