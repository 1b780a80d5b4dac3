//! Controllers that are made by a function: those of programs in other languages, which have no entry in the
//! registry of this build.

use std::fmt;
use std::sync::Arc;

use lowtide_cc::registry;
use lowtide_sim::SenderKind;

/// What stands for something else in a spec, a list of specs or a stack's name.
const RESERVED: [char; 4] = [':', ',', '=', '/'];

/// What makes a flow's controller, and what surrounds its runs.
pub type MadeSender = (SenderKind, Option<Surroundings>);

/// Makes a controller's senders, given the parameters of a spec; the error says why it cannot.
pub type MakeSender = Arc<dyn Fn(&[(&str, &str)]) -> Result<MadeSender, String> + Send + Sync>;

/// A controller that [`Contenders::with_made`](super::Contenders::with_made) takes.
#[derive(Clone)]
pub struct Made {
    /// The controller's name in a spec.
    pub name: String,
    /// Names its code: results in a store are those of a controller with the same.
    pub contents: String,
    /// Makes its senders.
    pub make: MakeSender,
}

impl Made {
    /// Whether its name can stand in a spec.
    pub(super) fn check_name(&self) -> Result<(), registry::Error> {
        let wrong = self.name.is_empty()
            || (self
                .name
                .contains(|c: char| RESERVED.contains(&c) || c.is_whitespace()));
        if wrong {
            return Err(registry::Error::Refused {
                spec: self.name.clone(),
                reason: "a name has letters and digits, and none of ':', ',', '=', '/' and spaces"
                    .to_string(),
            });
        }
        Ok(())
    }

    /// The controller's sender as `spec` has it, which names it.
    pub(super) fn sender(&self, spec: &str) -> Result<MadeSender, registry::Error> {
        let text = spec.split_once(':').map(|(_, parameters)| parameters);
        let parts = text.into_iter().flat_map(|text| text.split(','));
        let parameters = parts.map(|part| {
            part.split_once('=')
                .ok_or_else(|| registry::Error::NotKeyValue {
                    spec: spec.to_string(),
                    part: part.to_string(),
                })
        });
        let parameters: Vec<(&str, &str)> = parameters.collect::<Result<_, _>>()?;
        (self.make)(&parameters).map_err(|reason| registry::Error::Refused {
            spec: spec.to_string(),
            reason,
        })
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Made").field("name", &self.name).finish()
    }
}

/// Calls what it is given.
type Around = dyn Fn(&mut (dyn FnMut() + Send)) + Send + Sync;

/// What the thread of a run does around it: such as holding a lock that each call of the controller needs.
#[derive(Clone)]
pub struct Surroundings(Arc<Around>);

impl Surroundings {
    /// Surroundings that call what they are given once.
    #[must_use]
    pub fn new(around: impl Fn(&mut (dyn FnMut() + Send)) + Send + Sync + 'static) -> Self {
        Self(Arc::new(around))
    }

    /// Does something within.
    pub(crate) fn within(&self, run: &mut (dyn FnMut() + Send)) {
        (self.0)(run);
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Surroundings")
    }
}
