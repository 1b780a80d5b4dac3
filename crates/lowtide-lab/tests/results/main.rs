//! What runs leave behind: stored cells, and verdicts on goals.

mod experiment;
mod goals;
