//! What the registry knows of a controller.

use alloc::boxed::Box;

use super::parameter::{Parameter, Values};
use crate::controller::{Config, Controller};
use crate::controllers::rbbr::ReceiverConfig;

/// A controller that can be built by name.
///
/// ```
/// use lowtide_cc::controllers::window::ConstantWindow;
/// use lowtide_cc::registry::{Entry, Parameter, Registry};
///
/// static STEADY: Entry = Entry {
///     name: "steady",
///     summary: "keeps its packets in flight",
///     source: "this example",
///     parameters: &[Parameter::whole("packets", 20, 1..=1000).about("packets in flight")],
///     make: |values, config| Box::new(ConstantWindow::new(config, values.whole("packets"))),
///     receiver: None,
/// };
///
/// let registry = Registry::default().with(&STEADY)?;
/// assert!(registry.parse("steady:packets=7").is_ok());
/// # Ok::<(), lowtide_cc::registry::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The controller's name in a spec.
    pub name: &'static str,
    /// What the controller is, in one line.
    pub summary: &'static str,
    /// Where it is defined: paper, RFC or reference implementation.
    pub source: &'static str,
    /// Parameters that a spec can set.
    pub parameters: &'static [Parameter],
    /// Makes one.
    pub make: fn(&Values, &Config) -> Box<dyn Controller>,
    /// What the receiver must do for the controller, where it cannot do its work alone.
    pub receiver: Option<fn(&Values) -> ReceiverTask>,
}

/// What a receiver does for a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReceiverTask {
    /// Runs an estimator and feeds back what that finds (RBBR).
    Estimate(ReceiverConfig),
    /// Reports when packets arrived
    /// ([`AckedPacket::received_at`](crate::controller::AckedPacket::received_at)).
    Timestamps,
}
