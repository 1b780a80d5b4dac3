//! Where a controller stays that outlives its command: a file for its registration, and one for each cgroup.

use std::path::{Path, PathBuf};

use crate::Known;

const FOLDER: &str = "/sys/fs/bpf/lowtide";

/// The file that keeps its registration.
pub(super) fn path(known: &Known) -> PathBuf {
    Path::new(FOLDER).join(known.kernel_name)
}

/// The file that keeps it in its `n`-th cgroup.
pub(super) fn path_of_cgroup(known: &Known, n: usize) -> PathBuf {
    Path::new(FOLDER).join(format!("{}@{n}", known.kernel_name))
}

/// Whether it is there.
pub(super) fn is_there(known: &Known) -> bool {
    path(known).exists()
}

/// The files that keep it in cgroups.
pub(super) fn of_cgroups(known: &Known) -> Vec<PathBuf> {
    (0..)
        .map(|n| path_of_cgroup(known, n))
        .take_while(|path| path.exists())
        .collect()
}

/// Its files: those of its cgroups, then that of its registration.
pub(super) fn files(known: &Known) -> Vec<PathBuf> {
    let mut files = of_cgroups(known);
    files.extend(is_there(known).then(|| path(known)));
    files
}

/// Takes its files away, those that there are, and the folder with the last ones.
pub(super) fn remove(known: &Known) -> std::io::Result<()> {
    for path in files(known) {
        std::fs::remove_file(path)?;
    }
    // Others may be in it.
    let _ = std::fs::remove_dir(FOLDER);
    Ok(())
}

/// Makes the folder.
pub(super) fn prepare() -> std::io::Result<()> {
    std::fs::create_dir_all(FOLDER)
}
