//! Suites: those that are built in, and users' own.

use std::path::Path;

use crate::files;
use crate::scenario_file::{FileError, JudgedCase, Need, ScenarioFile};

/// Cases that are judged together.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The suite's name.
    pub name: String,
    /// What the suite is, in a sentence.
    pub about: String,
    /// The suite's cases, in the order of their ids.
    pub cases: Vec<ScenarioFile>,
}

/// Why a suite cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SuiteError {
    /// One of its files is wrong.
    #[error("{0}")]
    File(#[from] FileError),
    /// The suite is wrong as a whole.
    #[error("{0}")]
    Whole(String),
}

macro_rules! suites {
    ($($suite:literal, $about:literal: $($case:literal)+;)*) => {
        &[$(($suite, $about, &[$((
            concat!("suites/", $suite, "/", $case, ".toml"),
            include_str!(concat!("../../suites/", $suite, "/", $case, ".toml")),
        )),+])),*]
    };
}

/// A case's path and text.
type File = (&'static str, &'static str);

/// A suite's name, what it is, and its cases.
type BuiltIn = (&'static str, &'static str, &'static [File]);

static SUITES: &[BuiltIn] = suites![
    "rfc9743", "What RFC 9743 asks of a new congestion control, each row as cases; it names topics and no numbers, so that links and limits are ours":
        "D" "R01" "R02" "R03" "R04" "R05a" "R05b" "R06" "R07" "R08" "R09a" "R09b" "R09c" "R09d"
        "R09e" "R10" "R11" "R12a" "R12b" "R13a" "R13b" "R14" "R15" "R16a" "R16b" "R16c" "R17a"
        "R17b" "R18" "R19" "R20" "R21" "R22a" "R22b" "R23" "R24" "R25a" "R25b" "R25c" "R26" "R27";
    "bbr-draft", "The example test cases of BBR's draft (draft-ietf-ccwg-bbr): states and variables of controllers that have its phases, and what can be seen of any from outside":
        "01" "02" "03" "04" "05" "06" "07" "08" "09" "10" "11" "12" "13" "14" "15" "16" "17" "18" "19"
        "20" "21" "22";
    "cellular", "Links that were recorded or are like them: limits relative to what can be done on them":
        "throughput" "delay" "power" "frames" "outage" "fade" "handover" "shared" "upload";
    "app-limited", "Applications that send less than the path carries, or more, or now and then":
        "moq-2432" "moq-keepalive" "moq-video" "moq-video-beside-bulk" "moq-probe" "noq-800" "steady" "on-off"
        "ramp" "idle";
    "users", "What users of QUIC stacks report and test, as far as it is about a controller under a transport (not freenet's replay of RTT series, for which a controller of another kind is needed)":
        "freenet-fresh" "freenet-paths" "freenet-timeout" "moq-shaper" "noq-819" "openipc-2344";
    "c4", "The C4 project's specifications with its limits; its satellite, which needs a window seeded from an earlier connection, is not among them":
        "after_c4" "alone" "alone_200" "before_c4" "blackhole" "drop_and_back" "low_and_up" "media" "media10"
        "media_600fr" "media_short_long" "media_wb" "media_wf" "media_ws" "short_long" "vs_bbr" "vs_bbr_lg"
        "vs_bbr_lg2" "vs_c4" "vs_c4_lg" "vs_c4_lg2" "vs_cubic" "vs_cubic_lg" "vs_cubic_lg2" "wifi_bad"
        "wifi_bad_vs_bbr" "wifi_bad_vs_c4" "wifi_bad_vs_cubic" "wifi_fade" "wifi_fade_tenth" "wifi_fader"
        "wifi_suspension";
    "rfc8867", "Media over a controller: RFC 8867, and RFC 8869 as far as links stand in for its models (NADA and SCReAM are not among the controllers)":
        "5.1" "5.2" "5.3" "5.4" "5.5" "5.6" "5.7" "5.8" "8869-3" "8869-4.1" "8869-4.1-both-ways" "vparam";
    "nsperf", "The tests that BBR's authors run for TCP, with limits":
        "bufferbloat" "coexist" "ecn-bulk" "random-loss" "shallow";
    "interop", "The measurements of the QUIC interop runner, and its cases about loss and outages, with limits":
        "blackhole" "crosstraffic" "goodput" "longrtt" "transferloss";
    "aqm", "A controller behind queues that are managed: the cases of RFC 7928":
        "5.1.1" "5.3.2" "6" "8.2" "8.2.6";
    "link", "What can be seen of any program at a link, short enough for real time (--link)":
        "use" "queue" "slower" "faster" "loss" "outage" "fairness" "harm" "recorded";
];

/// A part of a built-in suite: the same cases and limits, fewer of them and of their seeds.
struct Part {
    of: &'static str,
    name: &'static str,
    about: &'static str,
    /// Seeds of each case at most.
    seeds: i64,
    cases: &'static [&'static str],
}

static PARTS: &[Part] = &[Part {
    of: "rfc9743",
    name: "rfc9743:quick",
    about: "The cases of rfc9743 that tell the most in a minute, with one seed: for each push, the whole for each release",
    // Two or three would leave most of what varies undecided.
    seeds: 1,
    cases: &[
        "R01", "R02", "R03", "R04", "R16a", "R16b", "R18", "R20", "R23", "R24", "R25c",
    ],
}];

/// Suites that are built in, and their parts.
///
/// # Errors
/// When one is wrong, which the tests rule out.
pub fn built_in() -> Result<Vec<Suite>, SuiteError> {
    let whole = SUITES.iter().map(Suite::built_in);
    whole.chain(PARTS.iter().map(Suite::part)).collect()
}

impl Suite {
    /// The built-in suite of a name; or else the cases of a folder, or of one file.
    ///
    /// # Errors
    /// When there is none, or a file is wrong.
    pub fn find(name: &str) -> Result<Self, SuiteError> {
        let path = Path::new(name);
        if let Some(suite) = SUITES.iter().find(|(known, ..)| *known == name) {
            return Self::built_in(suite);
        }
        if let Some(part) = PARTS.iter().find(|part| part.name == name) {
            return Self::part(part);
        }
        let unreadable = |e: std::io::Error| SuiteError::Whole(format!("{}: {e}", path.display()));
        let paths = if path.is_dir() {
            files::of_folder(path, "toml").map_err(unreadable)?
        } else if path.is_file() {
            vec![path.to_path_buf()]
        } else {
            let whole = SUITES.iter().map(|(name, ..)| *name);
            let known: Vec<&str> = whole.chain(PARTS.iter().map(|part| part.name)).collect();
            return Err(SuiteError::Whole(format!(
                "there is no suite, file or folder '{}'; known suites are {}",
                name.escape_debug(),
                known.join(", ")
            )));
        };
        let cases: Result<Vec<_>, _> = paths.iter().map(|path| ScenarioFile::load(path)).collect();
        let shown = path.file_stem().unwrap_or(path.as_os_str());
        Self::new(&shown.to_string_lossy(), "", cases?)
    }

    fn built_in((name, about, files): &BuiltIn) -> Result<Self, SuiteError> {
        let cases: Result<Vec<_>, _> = files
            .iter()
            .map(|(path, text)| ScenarioFile::parse(Path::new(path), (*text).to_string()))
            .collect();
        Self::new(name, about, cases?)
    }

    fn part(part: &Part) -> Result<Self, SuiteError> {
        let mut suite = Self::find(part.of)?;
        let cases: Vec<String> = part.cases.iter().map(|id| (*id).to_string()).collect();
        suite.keep(&cases)?;
        for case in &mut suite.cases {
            case.limit_seeds(part.seeds);
        }
        Ok(Self {
            name: part.name.to_string(),
            about: part.about.to_string(),
            ..suite
        })
    }

    fn new(name: &str, about: &str, cases: Vec<ScenarioFile>) -> Result<Self, SuiteError> {
        if cases.is_empty() {
            let problem =
                format!("suite '{name}' has no case: a case is a .toml file in its folder");
            return Err(SuiteError::Whole(problem));
        }
        for case in &cases {
            if case.content.case.is_none() {
                let problem = "a case of a suite says what it is in a section [case]".to_string();
                return Err(case.error_at(&["case"], problem).into());
            }
            let read = |c: &JudgedCase| c.needs.contains(&Need::Person);
            if case.content.limits.is_empty() && !case.content.case.as_ref().is_some_and(read) {
                let problem = "a case has at least one [[limits]]".to_string();
                return Err(case.error_at(&["limits"], problem).into());
            }
        }
        let mut suite = Self {
            name: name.to_string(),
            about: about.to_string(),
            cases,
        };
        suite.cases.sort_by_key(ScenarioFile::id);
        for pair in suite.cases.windows(2) {
            if pair[0].id() == pair[1].id() {
                let problem = format!("{} has the same id", pair[0].path().display());
                return Err(pair[1].error_at(&["case", "id"], problem).into());
            }
        }
        Ok(suite)
    }

    /// Keeps the cases of these ids only.
    ///
    /// # Errors
    /// When there is no case of one of them.
    pub fn keep(&mut self, ids: &[String]) -> Result<(), SuiteError> {
        for wanted in ids {
            if !self.cases.iter().any(|case| case.id() == *wanted) {
                let known: Vec<String> = self.cases.iter().map(ScenarioFile::id).collect();
                return Err(SuiteError::Whole(format!(
                    "suite '{}' has no case '{}'; its cases are {}",
                    self.name,
                    wanted.escape_debug(),
                    known.join(", ")
                )));
            }
        }
        self.cases
            .retain(|case| ids.is_empty() || ids.contains(&case.id()));
        Ok(())
    }
}
