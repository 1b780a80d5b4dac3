//! Scorecards for people and for CI: a page, a report, JUnit.

mod document;
mod junit;
mod report;

pub use self::document::document;
pub use self::junit::junit;
pub use self::report::{MAX_OVER_TIME, write_report};
