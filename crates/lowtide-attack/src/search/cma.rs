//! CMA-ES, begun anew at another place where it has converged.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use cmaes::{CMAESOptions, DVector, Mode, ParallelObjectiveFunction};

use super::{Arena, Chance, SearchError, Trier};
use crate::genome::Genome;
use crate::trial::{Badness, TrialError};

/// How far it looks at first, as a standard deviation.
const STEP: f64 = 0.25;
/// How far it looks at first around a network that is known to be bad.
const STEP_FROM_FOUND: f64 = 0.1;
/// What a step out of the unit cube costs, so that it comes back.
const OUTSIDE: f64 = 0.01;

/// What the library calls, and what a generation has tried.
struct Objective<'a> {
    trier: Arc<Trier<'a>>,
    tried: Mutex<Vec<(Genome, Result<Badness, TrialError>)>>,
}

impl ParallelObjectiveFunction for &Objective<'_> {
    fn evaluate_parallel(&self, x: &DVector<f64>) -> f64 {
        let genome = Genome(x.iter().map(|gene| gene.clamp(0.0, 1.0)).collect());
        let badness = self.trier.try_one(&genome, f64::NEG_INFINITY);
        let outside: f64 = x.iter().zip(&genome.0).map(|(a, b)| (a - b).abs()).sum();
        let score = badness.as_ref().map_or(0.0, |badness| badness.score);
        let value = score - OUTSIDE * outside;
        let tried = self.tried.lock();
        let mut tried = tried.unwrap_or_else(PoisonError::into_inner);
        tried.push((genome, badness));
        value
    }
}

/// Begins at each of `first` before it begins anywhere.
pub(super) fn search(
    arena: &mut Arena<'_>,
    chance: &mut Chance,
    first: &[Genome],
) -> Result<(), SearchError> {
    let mut first = first.iter();
    while !arena.is_over() {
        let (begin, step) = match first.next() {
            Some(found) => (found.clone(), STEP_FROM_FOUND),
            None => (chance.genome(), STEP),
        };
        let objective = Objective {
            trier: Arc::clone(&arena.trier),
            tried: Mutex::default(),
        };
        let options = CMAESOptions::new(begin.0, step).mode(Mode::Maximize);
        let state = options.seed(chance.seed()).build(&objective);
        // Dimension and step size are ours, and valid.
        let Ok(mut state) = state else { break };
        let mut has_converged = false;
        while !has_converged && !arena.is_over() {
            has_converged = state.next_parallel().is_some();
            let tried = objective.tried.lock();
            let mut tried = std::mem::take(&mut *tried.unwrap_or_else(PoisonError::into_inner));
            // Threads come to their ends in any order.
            tried.sort_by(|(a, _), (b, _)| in_order(a, b));
            arena.learn(tried)?;
        }
    }
    Ok(())
}

fn in_order(a: &Genome, b: &Genome) -> Ordering {
    let genes = a.0.iter().zip(&b.0);
    let orders = genes.map(|(a, b)| a.total_cmp(b));
    orders.fold(Ordering::Equal, Ordering::then)
}
