//! The controllers that can be loaded.

use crate::Error;

/// A controller that the kernel can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its name in Lowtide: `rtt-gain`.
    pub name: &'static str,
    /// Its name in the kernel, which allows no hyphens: `rtt_gain`.
    pub kernel_name: &'static str,
    /// What it is, in half a line.
    pub summary: &'static str,
    /// The names of its phases, in the order of its numbers for them.
    pub phases: &'static [&'static str],
    /// The compiled program's place among the embedded ones.
    #[cfg_attr(not(has_programs), allow(dead_code))]
    pub(crate) index: usize,
}

const EBB_PHASES: &[&str] = &["Startup", "Drain", "Steady", "Compete"];
const BBR_PHASES: &[&str] = &["Startup", "Drain", "ProbeBW", "ProbeRTT"];

/// All of them, by name.
pub const KNOWN: &[Known] = &[
    Known {
        name: "bbr-acd",
        kernel_name: "bbr_acd",
        summary: "BBR that halves its window at losses of congestion and ignores those of the link",
        phases: BBR_PHASES,
        index: 0,
    },
    Known {
        name: "ebb",
        kernel_name: "ebb",
        summary: "lets a set share of the link idle, and queues no more than that takes",
        phases: EBB_PHASES,
        index: 1,
    },
    Known {
        name: "ebcc",
        kernel_name: "ebcc",
        summary: "BBR whose window follows loss and queue together",
        phases: BBR_PHASES,
        index: 2,
    },
    Known {
        name: "rtt-gain",
        kernel_name: "rtt_gain",
        summary: "BBR whose steady pacing gain follows min_rtt/rtt",
        phases: BBR_PHASES,
        index: 3,
    },
];

/// The controller of this name, Lowtide's or the kernel's.
///
/// # Errors
/// [`Error::Unknown`].
pub fn find(name: &str) -> Result<&'static Known, Error> {
    let is_it = |known: &&Known| known.name == name || known.kernel_name == name;
    KNOWN.iter().find(is_it).ok_or_else(|| Error::Unknown {
        name: name.to_owned(),
        known: KNOWN
            .iter()
            .map(|known| known.name)
            .collect::<Vec<_>>()
            .join(", "),
    })
}
