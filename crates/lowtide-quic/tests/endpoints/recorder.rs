//! Providers whose controllers check their host.

use std::sync::Arc;

use lowtide_cc::registry;
use lowtide_host::contract;
pub(crate) use lowtide_host::contract::Shared;
use lowtide_quic::Controllers;

/// The named controller, recorded.
pub(crate) fn recorded(spec: &str) -> (Controllers, Shared) {
    let spec = registry::parse(spec).unwrap();
    let (make, notes) = contract::recorded(Arc::new(move |config| spec.build(config)));
    let controllers = Controllers::with_controller("recorded", make).with_seed(1);
    (controllers, notes)
}
