//! What a controller said after each acknowledgment.

use lowtide_cc::units::Rate;
use lowtide_lab::run;
use lowtide_sim::Probe;
use lowtide_sim::probe::AckSeen;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::controller::number::{seconds, span};
use crate::known::Known;
use crate::records::{Field, Records};
use crate::setting::setting_of_one;
use crate::work;

const FIELDS: &[Field] = &[
    ("now", "=f8"),
    ("rtt", "=f8"),
    ("pacing_rate", "=f8"),
    ("cwnd", "=i8"),
    ("inflight", "=i8"),
    ("number", "=i8"),
    ("flow", "=i8"),
];

/// Notes them.
#[derive(Default)]
struct Steps(Records);

impl Probe for Steps {
    fn on_ack(&mut self, flow: usize, ack: &AckSeen<'_>) {
        let Some(controller) = ack.controller else {
            return;
        };
        let records = &mut self.0;
        records.float(seconds(ack.now));
        records.float(ack.rtt.map_or(f64::NAN, span));
        records.float(controller.pacing_rate().map_or(f64::NAN, Rate::as_f64));
        records.whole(controller.cwnd().get());
        records.whole(ack.inflight.get());
        records.whole(ack.packets.last().map_or(0, |packet| packet.number));
        records.whole(flow as u64);
        records.end();
    }
}

/// What a controller said after each acknowledgment of one run: a structured array with `now`, `rtt` (NaN where
/// there is no sample), `pacing_rate` (NaN where nothing is paced), `cwnd`, `inflight`, `number` and `flow`. It takes
/// 56 bytes an acknowledgment.
#[pyfunction]
#[pyo3(signature = (controller=None, /, **options))]
pub(crate) fn steps<'py>(
    py: Python<'py>,
    controller: Option<Bound<'py, PyAny>>,
    options: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut known = Known::default();
    let setting = setting_of_one(py, controller.as_ref(), options.as_ref(), &mut known)?;
    let seed = setting.seeds.first;
    let done = work::done(py, None, 1, |watch| {
        run::watched(&setting, seed, Steps::default(), &watch.stop())
    })?;
    known.check(py)?;
    let (_, steps) = done.map_err(|reason| known.run_error(py, &reason))?;
    steps.0.array(py, FIELDS)
}
