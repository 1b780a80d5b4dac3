//! Into the kernel.

use std::iter;
use std::path::{Path, PathBuf};

use libbpf_rs::{Link, MapCore as _, MapType, Object};

use super::{cgroup, object, pin, refused, registered, requirements};
use crate::{Choice, Error, Known};

/// A controller in the kernel. Unless it was pinned, it goes when this is dropped: new sockets can no
/// longer choose it, connections that use it keep it until they end.
#[derive(Debug)]
pub struct Loaded {
    _objects: Vec<Object>,
    _links: Vec<Link>,
}

/// Loads a controller and registers it with TCP, under [`Known::kernel_name`], and gives it to all new TCP
/// connections of these cgroups (folders of the cgroup2 file system). With `pin` it stays until
/// [`unload`](crate::unload).
///
/// # Errors
/// When it is there already, a cgroup is none, or kernel, privileges or the BPF file system do not allow it.
/// Nothing is left behind then.
pub fn load(choice: &Choice, pin: bool, cgroups: &[PathBuf]) -> Result<Loaded, Error> {
    let known = choice.known;
    requirements::check()?;
    if registered::is_available(known) {
        return Err(Error::Loaded(known.name));
    }
    let cgroups = cgroups
        .iter()
        .map(|path| cgroup::open(path))
        .collect::<Result<Vec<_>, _>>()?;
    let mut controller = object::controller(choice)
        .and_then(object::load)
        .map_err(requirements::explain)?;
    let mut links = vec![register(&mut controller)?];
    let mut objects = vec![controller];
    if !cgroups.is_empty() {
        let mut program = object::cgroup(known).map_err(requirements::explain)?;
        for folder in &cgroups {
            links.push(cgroup::attach(&mut program, folder)?);
        }
        objects.push(program);
    }
    if pin && let Err(error) = keep(&mut links, known) {
        let _ = pin::remove(known);
        return Err(error);
    }
    Ok(Loaded {
        _objects: objects,
        _links: links,
    })
}

fn register(controller: &mut Object) -> Result<Link, Error> {
    let missing = || Error::Refused("the program has no congestion control".to_owned());
    controller
        .maps_mut()
        .find(|map| map.map_type() == MapType::StructOps)
        .ok_or_else(missing)?
        .attach_struct_ops()
        .map_err(refused)
}

/// The first link is the controller's, the others are of cgroups.
fn keep(links: &mut [Link], known: &Known) -> Result<(), Error> {
    let failed = |path: &Path, problem: String| Error::Pin {
        path: path.display().to_string(),
        problem,
    };
    let own = pin::path(known);
    // It was not registered: files of it keep what others have taken out of the kernel.
    pin::remove(known)
        .and_then(|()| pin::prepare())
        .map_err(|error| failed(&own, error.to_string()))?;
    let of_cgroups = (0..).map(|n| pin::path_of_cgroup(known, n));
    for (link, path) in links.iter_mut().zip(iter::once(own).chain(of_cgroups)) {
        link.pin(&path)
            .map_err(|error| failed(&path, format!("{error:#}")))?;
    }
    Ok(())
}
