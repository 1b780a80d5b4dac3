//! Searches: how networks are chosen that have not been tried.
//!
//! Each is given an [`Arena`], which tries networks on all cores until its budget is spent, and keeps the worst of each
//! kind of trouble. The same seed gives the same networks in the same order.

mod cma;
mod elites;
mod journal;
mod random;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lowtide_cc::registry::unknown;
use lowtide_lab::run::Stop;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

pub use self::journal::{Journal, JournalError};
use crate::budget::Budget;
use crate::genome::Genome;
use crate::network::Network;
use crate::trial::{Badness, Subject, TrialError};
use crate::world::World;

/// Trials between two looks at the budget.
const BATCH: usize = 32;

/// How networks are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The worst of each kind of trouble, changed a little (MAP-Elites; Mouret and Clune, 2015).
    Elites,
    /// Covariance matrix adaptation (Hansen, 2016), begun anew where it has converged.
    Cma,
    /// The first half of the budget as [`Self::Elites`], the second as [`Self::Cma`] from the worst of what that found.
    #[default]
    Both,
    /// At random: what the others must beat.
    Random,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Elites, Self::Cma, Self::Both, Self::Random];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elites => "elites",
            Self::Cma => "cma",
            Self::Both => "both",
            Self::Random => "random",
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    /// When there is none; the text has the names that there are.
    pub fn find(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|method| method.name() == name);
        found.ok_or_else(|| unknown("method ", name, &Self::ALL.map(Self::name)))
    }

    /// Searches until the arena's budget is spent, or its work is ended.
    ///
    /// # Errors
    /// When the subject cannot be tried, or the journal cannot be written.
    pub fn search(self, arena: &mut Arena<'_>, seed: u64) -> Result<(), SearchError> {
        let mut chance = Chance::new(seed);
        match self {
            Self::Elites => elites::search(arena, &mut chance, Arena::is_over),
            Self::Cma => cma::search(arena, &mut chance, &[]),
            Self::Both => {
                elites::search(arena, &mut chance, Arena::is_half_over)?;
                let found = arena.found().into_iter().map(|found| found.genome);
                cma::search(arena, &mut chance, &found.collect::<Vec<_>>())
            }
            Self::Random => random::search(arena, &mut chance),
        }
    }
}

/// A search that did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The subject cannot be tried.
    #[error("{0}")]
    Trial(#[from] TrialError),
    /// What was tried cannot be kept.
    #[error("{0}")]
    Journal(#[from] io::Error),
}

/// What chance decides, from a seed.
struct Chance(Pcg64Mcg);

impl Chance {
    fn new(seed: u64) -> Self {
        use rand_core::SeedableRng as _;
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// A number between 0 and 1.
    #[allow(clippy::cast_precision_loss)]
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of so many; of none 0.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    fn below(&mut self, count: usize) -> usize {
        ((self.unit() * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// About normal, of mean 0 and variance 1: the sum of twelve.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// A genome.
    fn genome(&mut self) -> Genome {
        Genome((0..Genome::LEN).map(|_| self.unit()).collect())
    }

    fn seed(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// A network that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The network as the search knows it.
    pub genome: Genome,
    /// The network.
    pub network: Network,
    /// How bad the controller is on it.
    pub score: f64,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Networks tried.
    pub tried: u64,
    /// What is spent of the budget, by [`Budget::unit`]; of a hunt with what searches before it had.
    pub spent: u64,
    /// The worst so far.
    pub worst: f64,
    /// Kinds of trouble in which the goal's limit is broken.
    pub findings: usize,
}

/// What tries networks, from many threads at once.
struct Trier<'a> {
    subject: &'a Subject,
    world: &'a World,
    stop: Stop,
    known: Mutex<HashMap<Network, Badness>>,
}

impl Trier<'_> {
    fn network(&self, genome: &Genome) -> Network {
        let network = genome.network(self.world, self.subject.goal.run_ms());
        self.subject.for_host(network)
    }

    /// Tries a network, as far as it may be as bad as `floor`.
    fn try_one(&self, genome: &Genome, floor: f64) -> Result<Badness, TrialError> {
        let network = self.network(genome);
        let known = self.known.lock().ok();
        let known = known.and_then(|known| known.get(&network).copied());
        match known {
            Some(badness) if !badness.at_most || badness.score < floor => Ok(badness),
            _ => self.subject.try_above(&network, floor, &self.stop),
        }
    }
}

/// Where networks are tried.
pub struct Arena<'a> {
    trier: Arc<Trier<'a>>,
    budget: Budget,
    begun: Instant,
    tried: u64,
    journal: Option<Journal>,
    elites: BTreeMap<u8, Found>,
    watch: &'a (dyn Fn(Progress) + Sync),
}

impl<'a> Arena<'a> {
    /// One for so many networks, or so long from now on; `watch` is told how far it is. What the journal of an earlier search has is not tried
    /// again, and what is tried is noted there.
    #[must_use]
    pub fn new(
        subject: &'a Subject,
        world: &'a World,
        budget: Budget,
        mut journal: Option<Journal>,
        stop: Stop,
        watch: &'a (dyn Fn(Progress) + Sync),
    ) -> Self {
        let known = journal.as_mut().map(Journal::take_known);
        Self {
            trier: Arc::new(Trier {
                subject,
                world,
                stop,
                known: Mutex::new(known.unwrap_or_default()),
            }),
            budget,
            begun: Instant::now(),
            tried: 0,
            journal,
            elites: BTreeMap::new(),
            watch,
        }
    }

    /// The worst of each kind of trouble, the worst first.
    #[must_use]
    pub fn found(&self) -> Vec<Found> {
        let mut found: Vec<Found> = self.elites.values().cloned().collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found
    }

    /// Networks that were tried.
    #[must_use]
    pub const fn tried(&self) -> u64 {
        self.tried
    }

    fn is_over(&self) -> bool {
        self.is_spent(1, self.begun.elapsed()) || self.trier.stop.is_uttered()
    }

    fn is_half_over(&self) -> bool {
        self.is_spent(2, self.begun.elapsed()) || self.trier.stop.is_uttered()
    }

    /// Whether one of so many parts of the budget is spent.
    fn is_spent(&self, parts: u32, elapsed: Duration) -> bool {
        match self.budget {
            Budget::Networks(networks) => self.tried >= networks.div_ceil(parts.into()),
            Budget::Time(time) => elapsed >= time / parts,
        }
    }

    /// Notes what came of trials, in their order; what was ended is not counted.
    fn learn(
        &mut self,
        tried: Vec<(Genome, Result<Badness, TrialError>)>,
    ) -> Result<(), SearchError> {
        for (genome, badness) in tried {
            let badness = match badness {
                Ok(badness) => badness,
                Err(TrialError::Ended) => continue,
                Err(e) => return Err(e.into()),
            };
            // A batch may be larger than what is left; time ends none.
            if self.is_spent(1, Duration::ZERO) {
                break;
            }
            self.tried += 1;
            let network = self.trier.network(&genome);
            let mut known = self.trier.known.lock().ok();
            let before = known.as_mut().map(|k| k.insert(network.clone(), badness));
            drop(known);
            if let (Some(before), Some(journal)) = (before, &mut self.journal)
                && before != Some(badness)
            {
                journal.note(&network, badness)?;
            }
            let (kind, score) = (network.troubles(), badness.score);
            if !badness.at_most && self.elites.get(&kind).is_none_or(|f| f.score < score) {
                let found = Found {
                    genome,
                    network,
                    score,
                };
                self.elites.insert(kind, found);
            }
        }
        let limit = self.trier.subject.goal.limit();
        let scores = self.elites.values().map(|found| found.score);
        let spent = match self.budget {
            Budget::Networks(_) => self.tried,
            Budget::Time(_) => self.begun.elapsed().as_secs(),
        };
        (self.watch)(Progress {
            tried: self.tried,
            spent: spent.min(self.budget.size()),
            worst: scores.clone().fold(0.0, f64::max),
            findings: scores.filter(|score| *score > limit).count(),
        });
        Ok(())
    }

    /// Tries all of these at once, as far as they may be the worst of their kind of trouble.
    fn try_all(&mut self, genomes: Vec<Genome>) -> Result<(), SearchError> {
        let (trier, elites) = (&self.trier, &self.elites);
        let tried = genomes.into_par_iter().map(|genome| {
            let worst = elites.get(&trier.network(&genome).troubles());
            let floor = worst.map_or(f64::NEG_INFINITY, |worst| worst.score);
            let badness = trier.try_one(&genome, floor);
            (genome, badness)
        });
        let tried = tried.collect();
        self.learn(tried)
    }
}
