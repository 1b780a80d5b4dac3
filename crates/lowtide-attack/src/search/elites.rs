//! MAP-Elites (Mouret and Clune, arXiv 1504.04909): the worst network of each kind of trouble is kept, and new ones are
//! made of those. There is no maintained crate for it; it is what follows.

use super::{Arena, BATCH, Chance, Found, SearchError};
use crate::genome::Genome;

/// Batches at random before the first change.
const FIRST: usize = 2;
/// Share of each batch that stays random.
const FRESH: f64 = 0.1;
/// Parents that each child's are the worst of: the more, the less of the rest is tried.
const DRAWN: usize = 5;
/// Share of genes that a change moves.
const MOVED: f64 = 0.1;
/// How far, as a standard deviation: it is drawn for each child between these, even in its logarithm, so that some look
/// around where they are and some go away.
const FAR: (f64, f64) = (0.02, 0.5);
/// Share of children that have two parents.
const CROSSED: f64 = 0.4;

pub(super) fn search<'a>(
    arena: &mut Arena<'a>,
    chance: &mut Chance,
    is_over: impl Fn(&Arena<'a>) -> bool,
) -> Result<(), SearchError> {
    let mut batches = 0;
    while !is_over(arena) {
        let parents = arena.found();
        let child = |_| {
            if batches < FIRST || parents.is_empty() || chance.unit() < FRESH {
                chance.genome()
            } else {
                child(&parents, chance)
            }
        };
        let genomes = (0..BATCH).map(child).collect();
        arena.try_all(genomes)?;
        batches += 1;
    }
    Ok(())
}

/// One of the parents, the worse the likelier, changed a little.
fn child(parents: &[Found], chance: &mut Chance) -> Genome {
    let mut pick = || {
        let drawn = (0..DRAWN).map(|_| chance.below(parents.len()));
        drawn.min().unwrap_or(0)
    };
    let (first, second) = (&parents[pick()].genome, &parents[pick()].genome);
    let crossed = chance.unit() < CROSSED;
    let far = FAR.0 * libm::pow(FAR.1 / FAR.0, chance.unit());
    // Genes that stand together mean things that belong together.
    let (from, to) = (chance.below(Genome::LEN), chance.below(Genome::LEN));
    let genes = first.0.iter().zip(&second.0).enumerate();
    let genes = genes.map(|(n, (one, other))| {
        let gene = if crossed && (from.min(to)..from.max(to)).contains(&n) {
            *other
        } else {
            *one
        };
        if chance.unit() < MOVED {
            (gene + far * chance.normal()).clamp(0.0, 1.0)
        } else {
            gene
        }
    });
    Genome(genes.collect())
}
