//! The files of `papers/`, in the program.

use std::path::Path;

use crate::scenario_file::{FileError, ScenarioFile};

macro_rules! papers {
    ($($name:literal),+ $(,)?) => {
        &[$((
            concat!("papers/", $name, ".toml"),
            include_str!(concat!("../../papers/", $name, ".toml")),
        )),+]
    };
}

pub(super) static PAPERS: &[(&str, &str)] = papers![
    "rbbr-fig3",
    "rbbr-table2",
    "rbbr-table3",
    "rbbr-fig10",
    "rbbr-fig11",
    "rbbr-fig12a",
    "rbbr-fig12b",
    "rbbr-fig15",
    "xiong-rtt",
    "xiong-thr",
    "xiong-retx",
    "xiong-segment",
    "xiong-time",
    "acd-testbed",
    "acd-rtt",
    "acd-sim",
    "acd-alpha",
    "acd-segment",
    "bbrs-lte",
    "bbrs-wigig",
    "bbrs-fair",
    "bbrs-cubic",
    "ebcc-bw",
    "ebcc-delay",
    "ebcc-multi",
    "ebcc-segment",
];

/// All of them.
///
/// # Errors
/// When one is no scenario file, which the tests rule out.
pub fn built_in() -> Result<Vec<ScenarioFile>, FileError> {
    PAPERS
        .iter()
        .map(|(path, text)| ScenarioFile::parse(Path::new(path), (*text).to_string()))
        .collect()
}
