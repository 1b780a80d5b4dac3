//! What can be asked for by name, for people and forms.

use lowtide_cc::registry::{Domain, Parameter};
use lowtide_sim::queue::QUEUES;
use lowtide_sim::trace::generate;
use serde::Serialize;

use crate::contender::{BOUNDS, Contenders, stock};
use crate::setting::built_in;

/// A controller, a bound or a queue discipline.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// The controller's name in a spec.
    pub name: &'static str,
    /// What the controller is, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// Parameters that a spec can set, as `NAME:key=value,key=value`.
    pub parameters: Vec<ListedParameter>,
}

/// A parameter that a spec can set.
#[derive(Clone, Debug, Serialize)]
pub struct ListedParameter {
    /// The parameter's key.
    pub name: &'static str,
    /// What the parameter does.
    pub summary: &'static str,
    /// The default value.
    pub default: String,
    /// Which values it may have, for people.
    pub values: String,
    /// The words it may have, where it may have no others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<&'static str>,
}

impl Listed {
    fn new([name, summary, source]: [&'static str; 3], parameters: &'static [Parameter]) -> Self {
        let listed = |p: &Parameter| ListedParameter {
            name: p.name,
            summary: p.summary,
            default: p.default.to_string(),
            values: p.domain.to_string(),
            words: match p.domain {
                Domain::Flag => vec!["true", "false"],
                Domain::Choice(words) => words.to_vec(),
                _ => Vec::new(),
            },
        };
        Self {
            name,
            summary,
            source,
            parameters: parameters.iter().map(listed).collect(),
        }
    }
}

/// All who can send: controllers, bounds, what QUIC stacks bring along.
#[must_use]
pub fn controllers(contenders: &Contenders) -> Vec<Listed> {
    let own = contenders.registry().entries().iter();
    let own = own.map(|e| Listed::new([e.name, e.summary, e.source], e.parameters));
    let bounds = BOUNDS.iter().map(|bound| {
        let source = "Lowtide; only in the simulator";
        Listed::new([bound.name, bound.summary, source], bound.parameters)
    });
    let stock = stock().map(|stock| Listed::new([stock.name, stock.summary, stock.source], &[]));
    own.chain(bounds).chain(stock).collect()
}

/// The queue disciplines.
#[must_use]
pub fn queues() -> Vec<Listed> {
    let queues = QUEUES.iter();
    let listed = queues.map(|q| Listed::new([q.name, q.summary, q.source], q.parameters));
    listed.collect()
}

/// A model of generated links.
#[derive(Clone, Debug, Serialize)]
pub struct ListedModel {
    /// The model's name.
    pub name: &'static str,
    /// What the model is like.
    pub summary: &'static str,
    /// The mean rate when no other is given.
    pub mean_mbps: f64,
}

/// The models of generated links.
#[must_use]
pub fn models() -> Vec<ListedModel> {
    let listed = |named: &generate::Named| ListedModel {
        name: named.name,
        summary: named.summary,
        mean_mbps: named.model().mean().as_mbps(),
    };
    generate::named().iter().map(listed).collect()
}

/// A setting that needs no input.
#[derive(Clone, Debug, Serialize)]
pub struct ListedScenario {
    /// The scenario's name.
    pub name: &'static str,
    /// What the scenario shows.
    pub summary: &'static str,
    /// The scenario's sections, as a scenario file has them.
    pub sections: toml::Table,
}

/// The built-in settings.
#[must_use]
pub fn scenarios() -> Vec<ListedScenario> {
    let listed = |built_in: &crate::setting::BuiltIn| ListedScenario {
        name: built_in.name,
        summary: built_in.summary,
        sections: built_in.table(),
    };
    built_in().iter().map(listed).collect()
}
