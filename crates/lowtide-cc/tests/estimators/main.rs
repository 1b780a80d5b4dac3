//! The estimators: edges, values computed independently, a link that censors.

mod censored_link;
mod censoring;
mod invariants;
mod reference;
