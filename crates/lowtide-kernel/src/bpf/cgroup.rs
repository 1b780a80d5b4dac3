//! Controllers for whole cgroups.

use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use libbpf_rs::{Link, Object};

use crate::Error;

/// A cgroup's folder.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    file: File,
}

/// Opens the folder of a cgroup.
pub(super) fn open(path: &Path) -> Result<Folder, Error> {
    let failed = |problem: &str| Error::Cgroup {
        path: path.display().to_string(),
        problem: problem.to_owned(),
    };
    let is_folder = fs::metadata(path).map(|metadata| metadata.is_dir());
    if !is_folder.map_err(|error| failed(&error.to_string()))? {
        return Err(failed("it is a file"));
    }
    // In the older hierarchies, too; those do not have programs.
    if !path.join("cgroup.controllers").exists() {
        return Err(failed("it is not part of the cgroup2 hierarchy"));
    }
    Ok(Folder {
        path: path.to_owned(),
        file: File::open(path).map_err(|error| failed(&error.to_string()))?,
    })
}

/// Runs the program at what the cgroup's sockets do.
pub(super) fn attach(program: &mut Object, folder: &Folder) -> Result<Link, Error> {
    let missing = || Error::Refused("the cgroup's program is not there".to_owned());
    program
        .progs_mut()
        .next()
        .ok_or_else(missing)?
        .attach_cgroup(folder.file.as_raw_fd())
        .map_err(|error| Error::Refused(format!("{}: {error:#}", folder.path.display())))
}
