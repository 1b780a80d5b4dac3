//! Where a controller stays that outlives its command.

use std::path::{Path, PathBuf};

use crate::Known;

const FOLDER: &str = "/sys/fs/bpf/lowtide";

/// The file that keeps it.
pub(super) fn path(known: &Known) -> PathBuf {
    Path::new(FOLDER).join(known.kernel_name)
}

/// Whether it is there.
pub(super) fn is_there(known: &Known) -> bool {
    path(known).exists()
}

/// Takes the file away, and the folder with the last one.
pub(super) fn remove(known: &Known) -> std::io::Result<()> {
    std::fs::remove_file(path(known))?;
    // Others may be in it.
    let _ = std::fs::remove_dir(FOLDER);
    Ok(())
}

/// Makes the folder.
pub(super) fn prepare() -> std::io::Result<()> {
    std::fs::create_dir_all(FOLDER)
}
