//! Links that are given as values: sections call them by name where they would name a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lowtide_sim::link::Link;

use crate::key::Key;

/// Links by name.
#[derive(Clone, Debug, Default)]
pub struct Links(HashMap<PathBuf, Given>);

#[derive(Clone, Debug)]
struct Given {
    link: Arc<Link>,
    key: Key,
    /// What results call it.
    label: String,
}

impl Links {
    /// With one more link, instead of a file of this name; `key`: of its content. Results call it by its label; where
    /// another link has that one, by a number, too.
    pub fn insert(&mut self, name: &str, label: &str, link: Arc<Link>, key: Key) {
        let is_taken = |label: &str| self.0.values().any(|g| g.label == label && g.key != key);
        let numbered = (2..).map(|n| format!("{label} ({n})"));
        let mut labels = std::iter::once(label.to_string()).chain(numbered);
        let label = labels.find(|label| !is_taken(label)).unwrap_or_default();
        self.0
            .insert(PathBuf::from(name), Given { link, key, label });
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, name: &Path) -> Option<&Arc<Link>> {
        self.0.get(name).map(|given| &given.link)
    }

    pub(super) fn label(&self, name: &Path) -> Option<&str> {
        self.0.get(name).map(|given| given.label.as_str())
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::units::Rate;

    use super::*;

    #[test]
    fn different_links_of_one_label_are_told_apart() {
        let mut links = Links::default();
        for content in [b"a", b"b", b"a"] {
            let link = Link::constant(Rate::from_mbps(1)).unwrap();
            let name = format!("arrays <{}>", content[0]);
            links.insert(&name, "arrays", Arc::new(link), Key::of(&[content]));
        }
        let label = |name| links.label(Path::new(name));
        assert_eq!(label("arrays <97>"), Some("arrays"));
        assert_eq!(label("arrays <98>"), Some("arrays (2)"));
        assert_eq!(label("arrays"), None);
    }
}
