//! What there is, by name.

use lowtide_cc::registry::Parameter;
use lowtide_sim::queue::{QUEUES, QueueEntry};
use serde::Serialize;

use crate::contender::{BOUNDS, Contenders, stock};

/// Something that a name stands for.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// The name.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What may be set.
    pub parameters: Vec<ListedParameter>,
}

/// A parameter of it.
#[derive(Clone, Debug, Serialize)]
pub struct ListedParameter {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Its default.
    pub default: String,
    /// What it may be.
    pub values: String,
}

fn parameters(all: &[Parameter]) -> Vec<ListedParameter> {
    let listed = |p: &Parameter| ListedParameter {
        name: p.name,
        summary: p.summary,
        default: p.default.to_string(),
        values: p.domain.to_string(),
    };
    all.iter().map(listed).collect()
}

/// Queue disciplines.
#[must_use]
pub fn queues() -> Vec<Listed> {
    let listed = |queue: &QueueEntry| Listed {
        name: queue.name,
        summary: queue.summary,
        source: queue.source,
        parameters: parameters(queue.parameters),
    };
    QUEUES.iter().map(listed).collect()
}

/// Controllers, bounds and what QUIC stacks bring along.
#[must_use]
pub fn controllers(contenders: &Contenders) -> Vec<Listed> {
    let entries = contenders.registry().entries().iter();
    let mut listed: Vec<Listed> = entries
        .map(|entry| Listed {
            name: entry.name,
            summary: entry.summary,
            source: entry.source,
            parameters: parameters(entry.parameters),
        })
        .collect();
    listed.extend(BOUNDS.iter().map(|bound| Listed {
        name: bound.name,
        summary: bound.summary,
        source: "Lowtide; only in the simulator",
        parameters: parameters(bound.parameters),
    }));
    listed.extend(stock().map(|stock| Listed {
        name: stock.name,
        summary: stock.summary,
        source: stock.source,
        parameters: Vec::new(),
    }));
    listed
}
