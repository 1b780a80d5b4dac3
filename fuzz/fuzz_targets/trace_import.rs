//! Any file of any format is a link, a delay or an error. The first byte chooses the format.
#![no_main]

use lowtide_cc::units::Bytes;
use lowtide_sim::trace::import::{self, Choice, Format};

const FORMATS: [Format; 10] = [
    Format::Mahimahi,
    Format::Series,
    Format::MahimahiLog,
    Format::LeoReplayerDelay,
    Format::CellReplayDelay,
    Format::Pairs,
    Format::GNetTrack,
    Format::Lumos5g,
    Format::Iperf3,
    Format::Pcap,
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((first, bytes)) = data.split_first() else {
        return;
    };
    let format = FORMATS[usize::from(*first) % FORMATS.len()];
    let uplink = first & 0x80 != 0;
    for run in [None, Some(1)] {
        let choice = Choice {
            uplink,
            run,
            receiver: None,
        };
        let _ = import::read(format, bytes, choice, Bytes::new(1504));
    }
});
