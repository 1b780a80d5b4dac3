//! Into the kernel.

use libbpf_rs::{Link, MapCore as _, MapType, Object};

use super::{object, pin, refused, registered, requirements};
use crate::{Error, Known};

/// A controller in the kernel. Unless it was pinned, it goes when this is dropped: new sockets can no
/// longer choose it, connections that use it keep it until they end.
#[derive(Debug)]
pub struct Loaded {
    _object: Object,
    _link: Link,
}

/// Loads a controller and registers it with TCP, under [`Known::kernel_name`]; with `pin` it stays until
/// [`unload`](crate::unload).
///
/// # Errors
/// When it is there already, or kernel, privileges or the BPF file system do not allow it.
pub fn load(known: &'static Known, pin: bool) -> Result<Loaded, Error> {
    requirements::check()?;
    if registered::is_available(known) {
        return Err(Error::Loaded { name: known.name });
    }
    let mut loaded = object::controller(known)
        .and_then(object::load)
        .map_err(requirements::explain)?;
    let mut operations = loaded
        .maps_mut()
        .find(|map| map.map_type() == MapType::StructOps)
        .ok_or_else(|| Error::Refused {
            problem: "the program has no congestion control".to_owned(),
        })?;
    let mut link = operations.attach_struct_ops().map_err(refused)?;
    if pin {
        keep(&mut link, known)?;
    }
    Ok(Loaded {
        _object: loaded,
        _link: link,
    })
}

fn keep(link: &mut Link, known: &Known) -> Result<(), Error> {
    let path = pin::path(known);
    let failed = |problem: String| Error::Pin {
        path: path.display().to_string(),
        problem,
    };
    pin::prepare().map_err(|error| failed(error.to_string()))?;
    link.pin(&path)
        .map_err(|error| failed(format!("{error:#}")))
}
