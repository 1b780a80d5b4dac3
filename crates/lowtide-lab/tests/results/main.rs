//! What runs leave behind: stored cells, figures, logs, verdicts on papers.

mod experiment;
mod figures;
mod goals;
mod papers;
mod qlog;
