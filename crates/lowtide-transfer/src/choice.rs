//! Which controllers clients may ask for.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lowtide_cc::registry::{Registry, Spec};
use lowtide_quic::Choice;

use crate::Error;
use crate::peer::printable;

/// All of the registry's.
const ANY: &str = "any";

/// Longest spec that a client may send.
pub(crate) const MAX_SPEC: usize = 256;

/// What a client has asked for, as it wrote it.
#[derive(Clone, Debug)]
struct Asked {
    spec: Spec,
    text: String,
}

#[derive(Debug)]
pub(crate) struct Choices {
    registry: Registry,
    /// Names; empty: none.
    allowed: Vec<String>,
    /// By the client's address and port: a connection's controller is made with its first packet,
    /// when no more is known of it.
    asked: Mutex<HashMap<SocketAddr, Asked>>,
}

fn canonical(peer: SocketAddr) -> SocketAddr {
    SocketAddr::new(peer.ip().to_canonical(), peer.port())
}

impl Choices {
    /// Allows controllers by name, or `any`.
    pub(crate) fn new(registry: &Registry, allowed: &[String]) -> Result<Arc<Self>, Error> {
        for name in allowed.iter().filter(|name| *name != ANY) {
            let spec = registry.parse(name);
            let spec = spec.map_err(|e| Error::Input(format!("--allow-cc: {e}")))?;
            if spec.entry().name != name {
                return Err(Error::Input(format!(
                    "--allow-cc: '{name}': names only, as in {}; a client may choose the parameters",
                    spec.entry().name
                )));
            }
        }
        Ok(Arc::new(Self {
            registry: registry.clone(),
            allowed: allowed.to_vec(),
            asked: Mutex::default(),
        }))
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<SocketAddr, Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on connections from this address and port get this controller, as long as the ticket
    /// is kept.
    pub(crate) fn ask(self: &Arc<Self>, peer: SocketAddr, text: &str) -> Result<Ticket, String> {
        let allowed = self.allowed.join(", ");
        if allowed.is_empty() {
            return Err("it lets nobody choose; 'serve --allow-cc' does".to_string());
        }
        let spec = self.registry.parse(text).map_err(|e| e.to_string())?;
        let is_allowed = |name: &String| name == ANY || name == spec.entry().name;
        if !self.allowed.iter().any(is_allowed) {
            return Err(format!("it allows {allowed}"));
        }
        let peer = canonical(peer);
        let text = printable(text);
        self.asked().insert(peer, Asked { spec, text });
        Ok(Ticket {
            choices: self.clone(),
            peer,
        })
    }

    /// The controller of this client's connections, if it asked for one.
    pub(crate) fn of(&self, peer: SocketAddr) -> Option<String> {
        let asked = self.asked();
        asked.get(&canonical(peer)).map(|asked| asked.text.clone())
    }

    /// For the endpoint.
    pub(crate) fn choice(self: &Arc<Self>) -> Choice {
        let choices = self.clone();
        Arc::new(move |peer| {
            let asked = choices.asked();
            asked.get(&canonical(peer)).map(|asked| asked.spec.clone())
        })
    }
}

/// A client's right to its controller.
#[derive(Debug)]
pub(crate) struct Ticket {
    choices: Arc<Choices>,
    peer: SocketAddr,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.choices.asked().remove(&self.peer);
    }
}
