//! Controllers that check their host.

use std::sync::Arc;

use lowtide_cc::registry;
use lowtide_host::contract;
pub(crate) use lowtide_host::contract::Shared;
use lowtide_quic::Factory;

/// The named controller, recorded.
pub(crate) fn recorded(spec: &str) -> (Factory, Shared) {
    let spec = registry::parse(spec).unwrap();
    let (make, notes) = contract::recorded(Arc::new(move |config| spec.build(config)));
    (
        Factory::with_controller("recorded", make).with_seed(1),
        notes,
    )
}
