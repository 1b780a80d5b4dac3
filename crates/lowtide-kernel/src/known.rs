//! The controllers that can be loaded.

use lowtide_cc::registry::Parameter;

use crate::Error;

/// A controller that the kernel can run.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its name in Lowtide: `rtt-gain`.
    pub name: &'static str,
    /// Its name in the kernel, which allows no hyphens: `rtt_gain`.
    pub kernel_name: &'static str,
    /// What it is, in half a line.
    pub summary: &'static str,
    /// The names of its phases, in the order of its numbers for them.
    pub phases: &'static [&'static str],
    /// What can be set when it is loaded, as in `ebb:idle=0.02`.
    pub parameters: &'static [Parameter],
    /// The compiled program's place among the embedded ones.
    #[cfg_attr(not(has_programs), allow(dead_code))]
    pub(crate) index: usize,
}

/// The parameters of the core's that the programs have.
const EBB_PARAMETERS: &[Parameter] = &[Parameter::share("idle", 0.05, 0.001..=0.5)
    .about("share of the link's capacity that may stay unused; less means more delay")];

const EBB_PHASES: &[&str] = &["Startup", "Drain", "Steady", "Compete"];
const BBR_PHASES: &[&str] = &["Startup", "Drain", "ProbeBW", "ProbeRTT"];

/// All of them, by name.
pub const KNOWN: &[Known] = &[
    Known {
        name: "bbr-acd",
        kernel_name: "bbr_acd",
        summary: "BBR that halves its window at losses of congestion and ignores those of the link",
        phases: BBR_PHASES,
        parameters: &[],
        index: 0,
    },
    Known {
        name: "ebb",
        kernel_name: "ebb",
        summary: "lets a set share of the link idle, and queues no more than that takes",
        phases: EBB_PHASES,
        parameters: EBB_PARAMETERS,
        index: 1,
    },
    Known {
        name: "ebcc",
        kernel_name: "ebcc",
        summary: "BBR whose window follows loss and queue together",
        phases: BBR_PHASES,
        parameters: &[],
        index: 2,
    },
    Known {
        name: "rtt-gain",
        kernel_name: "rtt_gain",
        summary: "BBR whose steady pacing gain follows min_rtt/rtt",
        phases: BBR_PHASES,
        parameters: &[],
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_those_of_the_core() {
        for known in KNOWN {
            let mut entries = lowtide_cc::registry::all().iter();
            let core = entries.find(|entry| entry.name == known.name);
            let core = core.expect("a controller of the core").parameters;
            for parameter in known.parameters {
                assert!(core.contains(parameter), "{}: {parameter:?}", known.name);
            }
        }
    }
}
