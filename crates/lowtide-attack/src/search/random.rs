//! Random search.

use super::{Arena, BATCH, Chance, SearchError};

pub(super) fn search(arena: &mut Arena<'_>, chance: &mut Chance) -> Result<(), SearchError> {
    while !arena.is_over() {
        arena.try_all((0..BATCH).map(|_| chance.genome()).collect())?;
    }
    Ok(())
}
