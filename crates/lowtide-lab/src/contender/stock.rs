//! Controllers that QUIC stacks bring along, by name.

use lowtide_cc::registry::{self, nearest};
use lowtide_host::Stock;

/// What stands between a stack's name and its controller's, and in no other controller's name.
const SEPARATOR: char = '/';

/// Controllers of the stacks that are part of this build.
pub fn stock() -> impl Iterator<Item = &'static Stock> {
    const STACKS: &[&[Stock]] = &[
        #[cfg(feature = "stacks")]
        lowtide_stacks::noq::STOCK,
        #[cfg(feature = "stacks")]
        lowtide_stacks::quinn::STOCK,
        #[cfg(feature = "quic")]
        lowtide_quic::virtual_time::STOCK,
    ];
    STACKS.iter().copied().flatten()
}

/// The one that a spec names; `None`: it is about no stack's.
pub(super) fn parse_stock(spec: &str) -> Option<Result<&'static Stock, registry::Error>> {
    let (name, parameters) = match spec.split_once(':') {
        Some((name, parameters)) => (name, Some(parameters)),
        None => (spec, None),
    };
    if !name.contains(SEPARATOR) {
        return None;
    }
    let Some(stock) = stock().find(|stock| stock.name == name) else {
        let known: Vec<&str> = stock().map(|stock| stock.name).collect();
        return Some(Err(registry::Error::UnknownController {
            name: name.to_string(),
            nearest: nearest(name, known.iter().copied()).map(str::to_string),
            known: if known.is_empty() {
                "none of stacks in this build, which need the feature 'stacks'".to_string()
            } else {
                known.join(", ")
            },
        }));
    };
    let checked = registry::parse_parameters(stock.name, &[], parameters);
    Some(checked.map(|_| stock))
}
