//! The repository's documents name files that exist.

use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

/// Markdown files of a folder and those below it.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            documents(&path, found);
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
}

/// A document without its blocks of code.
fn prose(text: &str) -> String {
    let outside = text.split("```").step_by(2);
    outside.collect()
}

/// Targets of links to files, without the part behind `#`.
fn links(prose: &str) -> impl Iterator<Item = &str> {
    let targets = prose
        .split("](")
        .skip(1)
        .filter_map(|t| t.split(')').next());
    let files = targets.filter(|t| !t.contains("://") && !t.starts_with('#'));
    files.filter_map(|t| t.split('#').next())
}

/// Paths in backticks that begin in a folder at the top of the repository, but for what is built.
fn paths(prose: &str) -> impl Iterator<Item = &str> {
    let code = prose.split('`').skip(1).step_by(2);
    code.filter(|c| {
        let is_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
        let top = c.split_once('/').map(|(top, _)| top);
        c.chars().all(is_path)
            && top
                .is_some_and(|t| !["", ".", "..", "target"].contains(&t) && root().join(t).is_dir())
    })
}

#[test]
fn links_and_paths_in_documents_lead_somewhere() {
    let mut found: Vec<PathBuf> = [
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
    ]
    .into_iter()
    .map(|name| root().join(name))
    .collect();
    documents(&root().join("docs"), &mut found);
    for member in fs::read_dir(root().join("crates")).unwrap() {
        let readme = member.unwrap().path().join("README.md");
        found.extend(readme.exists().then_some(readme));
    }
    let mut gone = Vec::new();
    for document in &found {
        let text = prose(&fs::read_to_string(document).unwrap());
        let folder = document.parent().unwrap();
        let linked = links(&text).map(|t| (t, folder.join(t)));
        let named = paths(&text).map(|t| (t, root().join(t)));
        let missing = linked.chain(named).filter(|(_, path)| !path.exists());
        gone.extend(missing.map(|(t, _)| format!("{}: {t}", document.display())));
    }
    assert!(gone.is_empty(), "{}", gone.join("\n"));
}

#[test]
fn the_book_has_every_document() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let listed: Vec<PathBuf> = links(&summary).map(|t| docs.join(t)).collect();
    let mut found = Vec::new();
    documents(&docs, &mut found);
    found.retain(|d| !listed.contains(d) && !d.ends_with("SUMMARY.md"));
    assert!(found.is_empty(), "not in docs/SUMMARY.md: {found:#?}");
}
