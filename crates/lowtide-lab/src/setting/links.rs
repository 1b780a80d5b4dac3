//! Links that are given as values: sections call them by name where they would name a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lowtide_sim::link::Link;

use crate::key::Key;

/// Links by name.
#[derive(Clone, Debug, Default)]
pub struct Links(HashMap<PathBuf, (Arc<Link>, Key)>);

impl Links {
    /// With one more link, instead of a file of this name; `key`: of its content.
    pub fn insert(&mut self, name: &str, link: Arc<Link>, key: Key) {
        self.0.insert(PathBuf::from(name), (link, key));
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, name: &Path) -> Option<&Arc<Link>> {
        self.0.get(name).map(|(link, _)| link)
    }

    pub(super) fn key(&self, name: &Path) -> Option<&Key> {
        self.0.get(name).map(|(_, key)| key)
    }
}
