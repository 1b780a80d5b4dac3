//! Results as people and CI see them: figures, logs, pages, the papers' curves.

mod figures;
mod papers;
mod qlog;
mod scorecards;
