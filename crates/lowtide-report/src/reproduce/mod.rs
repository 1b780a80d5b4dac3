//! The papers run again, for people: a page and its figures.

mod document;
mod figures;
mod over_time;

pub use self::document::{document, notes, title, write_document};
pub use self::figures::{Drawn, figures};
