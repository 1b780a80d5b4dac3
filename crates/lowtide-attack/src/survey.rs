//! Surveys: what was found for one controller, tried on the others.

use lowtide_lab::contender::Contender;
use lowtide_lab::run::Stop;
use rayon::prelude::*;

use crate::found::Finding;
use crate::trial::{Subject, TrialError};

/// How bad each controller is on each finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// The controllers.
    pub controllers: Vec<String>,
    /// A row for each finding, in their order: how bad each controller is there; `None` where it cannot be tried.
    pub scores: Vec<Vec<Option<f64>>>,
}

/// Tries every finding on every controller. `subjects` are those of the findings, in their order.
///
/// # Errors
/// When the work was ended.
pub fn transfer(
    findings: &[(&Subject, &Finding)],
    controllers: &[Contender],
    stop: &Stop,
) -> Result<Transfer, TrialError> {
    let of_finding = |(subject, finding): &(&Subject, &Finding)| {
        let scores = controllers.iter().map(|controller| {
            let other = Subject {
                candidate: controller.clone(),
                ..(*subject).clone()
            };
            match other.confirm_on(&finding.network, stop) {
                Ok(score) => Ok(Some(score)),
                Err(TrialError::Ended) => Err(TrialError::Ended),
                Err(_) => Ok(None),
            }
        });
        scores.collect::<Result<Vec<_>, _>>()
    };
    let scores = findings.par_iter().map(of_finding);
    Ok(Transfer {
        controllers: controllers.iter().map(|c| c.name().to_string()).collect(),
        scores: scores.collect::<Result<_, _>>()?,
    })
}
