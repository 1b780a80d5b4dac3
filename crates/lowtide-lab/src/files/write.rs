//! Writing: a file is made beside its place and takes it when it is whole, so that a full disk or a
//! kill leaves what was there before.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// Writes a file and the folders above it, as a [`Draft`].
///
/// # Errors
/// When it cannot be written; what was there before is there still.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::of(path)?;
    draft.write_all(bytes)?;
    draft.keep()
}

/// Checks that a file can be begun at a path, and makes the folders above it. What nothing can take the place of, as a
/// pipe, is left alone: whoever reads it would take this for its end.
///
/// # Errors
/// When nothing can be written there.
pub fn check_writable(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    make_folders(path)?;
    match Target::of(path)? {
        Target::File { .. } => Draft::of(path).map(drop),
        Target::Stream(_) => Ok(()),
    }
}

fn make_folders(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// A file that is being made; dropped before [`Self::keep`] it leaves no trace.
///
/// Symbolic links stay and their target is written; devices, pipes and open descriptors such as
/// `/dev/stdout` are written to as they are.
#[derive(Debug)]
pub struct Draft(Out);

#[derive(Debug)]
enum Out {
    Stream(BufWriter<File>),
    Beside {
        out: BufWriter<NamedTempFile>,
        path: PathBuf,
        permissions: Option<Permissions>,
    },
}

impl Draft {
    /// Begins a file, and makes the folders above it.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub fn of(path: &Path) -> io::Result<Self> {
        make_folders(path)?;
        let (path, permissions) = match Target::of(path)? {
            Target::File { path, permissions } => (path, permissions),
            // At its end, as the shell's `>>` may have opened it.
            Target::Stream(path) => {
                let file = OpenOptions::new().append(true).open(path)?;
                return Ok(Self(Out::Stream(BufWriter::new(file))));
            }
        };
        if permissions.is_some() {
            // What must not be written must not be replaced either.
            OpenOptions::new().write(true).open(&path)?;
        }
        let mut beside = Builder::new();
        beside.prefix(".lowtide-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Of this the user's mask leaves what any new file has.
            beside.permissions(Permissions::from_mode(0o666));
        }
        let file = beside.tempfile_in(folder_of(&path))?;
        Ok(Self(Out::Beside {
            out: BufWriter::new(file),
            path,
            permissions,
        }))
    }

    /// Puts the file, which is whole, in its place.
    ///
    /// # Errors
    /// When that fails; what was there before is there still.
    pub fn keep(self) -> io::Result<()> {
        match self.0 {
            Out::Stream(mut out) => out.flush(),
            Out::Beside {
                out,
                path,
                permissions,
            } => {
                let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                if let Some(permissions) = permissions {
                    file.as_file().set_permissions(permissions)?;
                }
                // Some file systems only now find out that there is no room.
                file.as_file().sync_all()?;
                file.persist(path).map_err(|e| e.error).map(drop)
            }
        }
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Out::Stream(out) => out.write(bytes),
            Out::Beside { out, .. } => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Out::Stream(out) => out.flush(),
            Out::Beside { out, .. } => out.flush(),
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// What stands at a path.
enum Target {
    /// A file, or nothing yet, and what is allowed on it.
    File {
        path: PathBuf,
        permissions: Option<Permissions>,
    },
    /// What nothing can take the place of.
    Stream(PathBuf),
}

impl Target {
    /// Symbolic links in a row that are followed; Linux follows as many.
    const MAX_LINKS: usize = 40;

    fn of(path: &Path) -> io::Result<Self> {
        let mut path = path.to_path_buf();
        for _ in 0..Self::MAX_LINKS {
            let folder = folder_of(&path).canonicalize()?;
            // Links there stand for what the process has open.
            if folder.starts_with("/proc") {
                return Ok(Self::Stream(path));
            }
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_symlink() => path = folder.join(fs::read_link(&path)?),
                Ok(found) if found.is_file() => {
                    let permissions = Some(found.permissions());
                    return Ok(Self::File { path, permissions });
                }
                Ok(_) => return Ok(Self::Stream(path)),
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    return Ok(Self::File {
                        path,
                        permissions: None,
                    });
                }
                Err(e) => return Err(e),
            }
        }
        Err(io::Error::other("too many symbolic links"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finished_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/report.html");
        write(&path, b"old").unwrap();
        let mut draft = Draft::of(&path).unwrap();
        draft.write_all(b"half of the n").unwrap();
        drop(draft);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        // A link to nothing yet.
        let dangling = folder.path().join("dangling");
        symlink("target", &dangling).unwrap();
        write(&dangling, b"new").unwrap();
        assert_eq!(fs::read(folder.path().join("target")).unwrap(), b"new");
        // Neither device nor open descriptor gives way.
        write(Path::new("/dev/null"), b"new").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
