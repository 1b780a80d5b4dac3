//! Who sends: controllers by name, and the oracle.

use std::sync::Arc;

use lowtide_cc::registry::{self, Entry, Registry, Spec};
use lowtide_sim::SenderKind;

/// Who sends a group's flows, or takes part in a comparison.
#[derive(Clone, Debug)]
pub enum Contender {
    /// The physical limit.
    Oracle,
    /// A controller: one of the registry's, or your own.
    Controller {
        /// How it is shown; the spec as the user wrote it.
        name: String,
        /// What makes one for each flow.
        sender: SenderKind,
    },
}

/// Name of the oracle.
pub const ORACLE: &str = "oracle";

impl Contender {
    /// A constant window of so many packets.
    pub(crate) fn window(packets: u64) -> Option<Self> {
        Contenders::default()
            .parse(&format!("window:packets={}", packets.max(1)))
            .ok()
    }

    /// How it is shown.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Oracle => ORACLE,
            Self::Controller { name, .. } => name,
        }
    }

    /// What makes its senders.
    #[must_use]
    pub fn sender(&self) -> SenderKind {
        match self {
            Self::Oracle => SenderKind::Oracle,
            Self::Controller { sender, .. } => sender.clone(),
        }
    }
}

/// Two are the same when they are called the same.
impl PartialEq for Contender {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

/// A controller spec as a sender, with the estimator that it needs at the receiver.
#[must_use]
pub fn sender(spec: &Spec) -> SenderKind {
    let spec = spec.clone();
    SenderKind::Controlled {
        estimator: spec.receiver(),
        controller: Arc::new(move |config| spec.build(config)),
    }
}

/// Whom the lab knows by name: the controllers of a registry, and the oracle. Whatever resolves names
/// is given one of these.
#[derive(Clone, Debug, Default)]
pub struct Contenders {
    registry: Registry,
}

impl Contenders {
    /// With one more controller.
    ///
    /// # Errors
    /// When another has its name.
    pub fn with(self, entry: &'static Entry) -> Result<Self, registry::Error> {
        let registry = self.registry.with(entry)?;
        Ok(Self { registry })
    }

    /// The controllers.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Those that are compared when nobody names any: all controllers but the constant window, which
    /// is part of every comparison.
    #[must_use]
    pub fn usual(&self) -> Vec<Contender> {
        let names = self.registry.entries().iter().map(|entry| entry.name);
        names
            .filter(|name| *name != "window")
            .filter_map(|name| self.parse(name).ok())
            .collect()
    }

    /// The one that a spec names.
    ///
    /// # Errors
    /// When there is none, or its parameters do not fit.
    pub fn parse(&self, spec: &str) -> Result<Contender, registry::Error> {
        if spec == ORACLE {
            return Ok(Contender::Oracle);
        }
        Ok(Contender::Controller {
            name: spec.to_string(),
            sender: sender(&self.registry.parse(spec)?),
        })
    }
}
