//! A hunt: for each controller and goal a search, and small findings of what it found.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use lowtide_lab::contender::Contender;
use lowtide_lab::key::Key;
use lowtide_lab::run::{NoThreads, Stop};
use lowtide_lab::scenario_file::FileError;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::budget::Budget;
use crate::found::Finding;
use crate::minimise::minimised;
use crate::network::Network;
use crate::search::{Arena, Found, Journal, JournalError, Method, Progress, SearchError};
use crate::trial::{Subject, TrialError};
use crate::world::World;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// Controllers and the goals that they are tried by.
    pub subjects: Vec<Subject>,
    /// What networks may be like.
    pub world: &'static World,
    /// How much is tried.
    pub budget: Budget,
    /// How they are chosen.
    pub method: Method,
    /// What chance begins with.
    pub seed: u64,
    /// Findings of each subject at most.
    pub most: usize,
    /// Threads; 0: one for each core.
    pub jobs: usize,
    /// The folder that keeps trials, so that the same hunt goes on where it was ended; and the key of what simulates them.
    pub kept: Option<(PathBuf, Key)>,
}

impl Question {
    /// How many there are of what progress counts, by [`Budget::unit`].
    #[must_use]
    pub fn size(&self) -> u64 {
        self.of_each()
            .size()
            .saturating_mul(self.subjects.len() as u64)
    }

    fn of_each(&self) -> Budget {
        self.budget.of_each(self.subjects.len())
    }

    /// The controllers of the subjects, each once.
    #[must_use]
    pub fn controllers(&self) -> Vec<&Contender> {
        let mut controllers: Vec<&Contender> = Vec::new();
        for Subject { candidate, .. } in &self.subjects {
            if !controllers.iter().any(|c| c.name() == candidate.name()) {
                controllers.push(candidate);
            }
        }
        controllers
    }

    /// A pool of as many threads as are asked for.
    pub(crate) fn pool(&self) -> Result<ThreadPool, ThreadPoolBuildError> {
        ThreadPoolBuilder::new().num_threads(self.jobs).build()
    }
}

/// What came of a subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Networks tried.
    pub tried: u64,
    /// How bad the worst of them was, before it was made small.
    pub worst: f64,
    /// Its findings, the worst first.
    pub findings: Vec<Finding>,
}

/// A hunt that did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum HuntError {
    /// A search failed.
    #[error("{0}")]
    Search(#[from] SearchError),
    /// What was tried cannot be kept.
    #[error("{0}")]
    Journal(#[from] JournalError),
    /// There are no threads.
    #[error("{0}")]
    Threads(#[from] ThreadPoolBuildError),
    /// There are none for trials of findings.
    #[error("{0}")]
    NoThreads(#[from] NoThreads),
    /// A finding is no case for one of the controllers.
    #[error("{0}")]
    Case(#[from] FileError),
}

/// Searches for each subject and makes small what it found. What `stop` ends is shown as far as it came; `watch` is told
/// how far it is.
///
/// # Errors
/// When a subject cannot be tried, or its trials cannot be kept.
pub fn hunt(
    question: &Question,
    stop: &Stop,
    watch: &(dyn Fn(&Subject, Progress) + Sync),
) -> Result<Vec<Outcome>, HuntError> {
    let pool = question.pool()?;
    let budget = question.of_each();
    if let Some((folder, _)) = &question.kept {
        fs::create_dir_all(folder).map_err(|problem| JournalError::Io {
            path: folder.display().to_string(),
            problem,
        })?;
    }
    let of_subject = |(n, subject): (usize, &Subject)| {
        let journal = match &question.kept {
            None => None,
            Some((folder, key)) => {
                let name = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
                let (candidate, goal) = (subject.candidate.name(), subject.goal.name());
                let file = format!("{}-{}.jsonl", name(candidate), name(&goal));
                let about = format!(
                    "{candidate}, {goal}, against {}, over {}, simulator {key}",
                    subject.reference,
                    subject.host.map_or_else(String::new, |h| h.to_string()),
                );
                Some(Journal::open(&folder.join(file), &about)?)
            }
        };
        let before = budget.size().saturating_mul(n as u64);
        let watch = |progress: Progress| {
            let spent = before.saturating_add(progress.spent);
            watch(subject, Progress { spent, ..progress });
        };
        let mut arena = Arena::new(
            subject,
            question.world,
            budget,
            journal,
            stop.clone(),
            &watch,
        );
        question.method.search(&mut arena, question.seed)?;
        let found = arena.found();
        let findings = pool.install(|| findings(subject, &found, question.most, stop))?;
        Ok(Outcome {
            tried: arena.tried(),
            worst: found.first().map_or(0.0, |found| found.score),
            findings,
        })
    };
    let subjects = question.subjects.iter().enumerate();
    subjects
        .map(|one| pool.install(|| of_subject(one)))
        .collect()
}

/// Networks that are made small for each finding that is asked for: many become alike, and each takes hundreds of trials.
const MADE_SMALL: usize = 5;

/// The worst networks beyond the goal's limit, made small; those that become alike count once.
fn findings(
    subject: &Subject,
    found: &[Found],
    most: usize,
    stop: &Stop,
) -> Result<Vec<Finding>, SearchError> {
    let limit = subject.goal.limit();
    let mut kinds = BTreeSet::new();
    let mut findings = Vec::new();
    let bad = found.iter().filter(|found| found.score > limit);
    for found in bad.take(most.saturating_mul(MADE_SMALL)) {
        if findings.len() == most || stop.is_uttered() {
            break;
        }
        let score = |network: &Network, wanted: f64| {
            let badness = subject.try_above(network, wanted, stop)?;
            Ok(badness.score)
        };
        let small = minimised(&found.network, score).and_then(|(network, _)| {
            let tried = subject.confirm_on(&network, stop)?;
            Ok((network, tried))
        });
        match small {
            // What no longer breaks the limit when it is small was on its edge, or one seed's.
            Ok(small) if small.1.score <= limit => {}
            Ok(small) if !kinds.insert(small.0.troubles()) => {}
            Ok(small) => findings.push(Finding::new(subject, found, small)),
            Err(TrialError::Ended) => break,
            Err(e) => return Err(e.into()),
        }
    }
    findings.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(findings)
}
