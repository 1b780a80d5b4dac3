//! Folders of recorded links.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// All files below a folder that may be traces, in the order of their names; texts that describe them are
/// left out. No folder is entered twice, whatever links lead to it.
///
/// # Errors
/// When a folder cannot be read, or there is none.
pub(super) fn traces_below(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    collect_traces(folder, &mut HashSet::new(), &mut files)?;
    if files.is_empty() {
        return Err(format!("{}: there is no trace in it", folder.display()));
    }
    Ok(files)
}

fn collect_traces(
    folder: &Path,
    entered: &mut HashSet<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> Result<(), String> {
    let unreadable = |e: std::io::Error| format!("{}: {e}", folder.display());
    if !entered.insert(folder.canonicalize().map_err(unreadable)?) {
        return Ok(());
    }
    let entries: Result<Vec<_>, _> = fs::read_dir(folder).map_err(unreadable)?.collect();
    let entries = entries.map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries.iter().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect_traces(&path, entered, files)?;
        } else if path.extension().is_none_or(|e| e != "md") {
            files.push(path);
        }
    }
    Ok(())
}
