//! Out of the kernel.

use libbpf_rs::Link;

use super::{pin, refused, registered, requirements, status};
use crate::{Error, Known, Unloaded};

/// Takes a pinned controller out of the kernel: new sockets can no longer choose it, connections that
/// use it keep it until they end.
///
/// # Errors
/// When it is not there, another process holds it, or new connections get it by default.
pub fn unload(known: &'static Known) -> Result<Unloaded, Error> {
    if !pin::is_there(known) {
        return Err(if registered::is_available(known) {
            Error::Held(known.name)
        } else {
            Error::NotLoaded(known.name)
        });
    }
    // Its file would be gone, but each new connection would bring it back.
    if registered::is_default(known) {
        return Err(Error::Default(known.kernel_name));
    }
    for file in pin::files(known) {
        let link = Link::open(file)
            .map_err(refused)
            .map_err(requirements::explain)?;
        link.detach().map_err(refused)?;
    }
    let failed = |error| Error::Refused(format!("{}: {error}", pin::path(known).display()));
    pin::remove(known).map_err(failed)?;
    let flows = status::flows(known)?;
    Ok(Unloaded {
        flows: flows.len(),
        orphans: flows.iter().filter(|flow| flow.is_orphan).count(),
    })
}
