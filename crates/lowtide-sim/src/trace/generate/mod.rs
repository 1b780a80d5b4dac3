//! Links that cannot be had: seeded models, the same bytes on every machine.

mod cellular;

pub use cellular::Cellular;
