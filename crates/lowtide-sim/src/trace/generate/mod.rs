//! Links that cannot be had: seeded models, the same bytes on every machine.

mod blockage;
mod cellular;
mod lte;
mod model;
mod random;

pub use blockage::Blockage;
pub use cellular::Cellular;
pub use lte::Lte;
pub use model::{Model, Named, named};
