//! Controllers that are told in batches: all of an interval at once, as arrays.

use std::fmt;

use lowtide_cc::Wrap;
use lowtide_cc::controller::{AckEvent, LossEvent, PacketSent, TimeoutEvent};
use lowtide_cc::units::{Duration, Time};
use pyo3::exceptions::{PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::base::Controller;
use super::failure::Blamed;
use super::hosted::Hosted;
use super::methods::Methods;
use super::number::{self, Zero, seconds, span};
use crate::records::{Field, Records};

/// The shortest interval.
const SHORTEST: f64 = 1e-6;
/// A batch of so many acknowledgments is handed over before its interval has passed.
const MOST: usize = 1 << 16;
/// The one method that is called.
const ON_INTERVAL: &str = "on_interval";

/// A controller that is called once an interval with all that happened in it: no call for each packet.
///
/// Override `on_interval(self, batch)`, and set `cwnd` and `pacing_rate` there. `interval` is in seconds; it
/// may be an attribute of the class, or change in `on_interval`.
#[pyclass(module = "lowtide", extends = Controller, subclass)]
pub(crate) struct BatchController {}

#[pymethods]
impl BatchController {
    #[new]
    #[pyo3(signature = (*args, **kwargs))]
    fn new(
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let base = Controller::of(args, kwargs)?;
        Ok(PyClassInitializer::from(base).add_subclass(Self {}))
    }

    /// Seconds from one call to the next.
    #[classattr]
    fn interval() -> f64 {
        0.01
    }

    /// An interval has passed, or 65,536 acknowledgments have come in it.
    fn on_interval(&self, _batch: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyNotImplementedError::new_err(
            "override on_interval(self, batch)",
        ))
    }
}

const ACK_FIELDS: &[Field] = &[
    ("now", "=f8"),
    ("rtt", "=f8"),
    ("delivery_rate", "=f8"),
    ("sent_at", "=f8"),
    ("number", "=i8"),
    ("bytes_acked", "=i8"),
    ("bytes_lost", "=i8"),
    ("inflight", "=i8"),
    ("app_limited", "=i8"),
];
const LOSS_FIELDS: &[Field] = &[
    ("now", "=f8"),
    ("sent_at", "=f8"),
    ("number", "=i8"),
    ("bytes", "=i8"),
];

/// What happened in an interval.
#[pyclass(module = "lowtide", frozen)]
#[derive(Default)]
pub(crate) struct Batch {
    /// When it began, seconds.
    #[pyo3(get)]
    start: f64,
    /// Now, seconds: its end.
    #[pyo3(get)]
    now: f64,
    /// Bytes sent in it.
    #[pyo3(get)]
    bytes_sent: u64,
    /// Packets sent in it.
    #[pyo3(get)]
    packets_sent: u64,
    /// Bytes acknowledged in it.
    #[pyo3(get)]
    bytes_acked: u64,
    /// Bytes declared lost in it.
    #[pyo3(get)]
    bytes_lost: u64,
    /// Packets reported marked in it.
    #[pyo3(get)]
    marked: u64,
    /// Timeouts in it.
    #[pyo3(get)]
    timeouts: u64,
    /// Bytes in flight at its end.
    #[pyo3(get)]
    inflight: u64,
    /// Whether the application limited the flow when the last packet was sent.
    #[pyo3(get)]
    app_limited: bool,
    acks: Records,
    losses: Records,
    rtt: Rtts,
}

/// The RTT samples of an interval, seconds.
#[derive(Clone, Copy, Default)]
struct Rtts {
    count: u64,
    sum: f64,
    least: f64,
    most: f64,
    last: f64,
}

impl Rtts {
    fn take(&mut self, rtt: f64) {
        self.least = if self.count == 0 {
            rtt
        } else {
            self.least.min(rtt)
        };
        self.most = self.most.max(rtt);
        self.sum += rtt;
        self.count += 1;
        self.last = rtt;
    }

    fn any(&self, value: f64) -> Option<f64> {
        (self.count > 0).then_some(value)
    }
}

#[pymethods]
impl Batch {
    /// The acknowledgments as a structured array: `now`, `rtt` and `delivery_rate` (NaN where there is no
    /// sample), `sent_at` and `number` (of the newest packet), `bytes_acked`, `bytes_lost`, `inflight`,
    /// `app_limited`.
    #[getter]
    fn acks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.acks.array(py, ACK_FIELDS)
    }

    /// The lost packets as a structured array: `now`, `sent_at`, `number`, `bytes`.
    #[getter]
    fn losses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.losses.array(py, LOSS_FIELDS)
    }

    /// How many acknowledgments came.
    #[getter]
    fn ack_count(&self) -> usize {
        self.acks.count()
    }

    /// The smallest RTT, seconds; `None` without a sample, as the other three.
    #[getter]
    fn min_rtt(&self) -> Option<f64> {
        self.rtt.any(self.rtt.least)
    }

    /// The largest RTT, seconds.
    #[getter]
    fn max_rtt(&self) -> Option<f64> {
        self.rtt.any(self.rtt.most)
    }

    /// The mean RTT, seconds.
    #[getter]
    fn mean_rtt(&self) -> Option<f64> {
        self.rtt.any(self.rtt.sum / self.rtt.count as f64)
    }

    /// The newest RTT, seconds.
    #[getter]
    fn last_rtt(&self) -> Option<f64> {
        self.rtt.any(self.rtt.last)
    }

    /// Bytes acknowledged a second.
    #[getter]
    fn delivery_rate(&self) -> f64 {
        let span = self.now - self.start;
        if span > 0.0 {
            self.bytes_acked as f64 / span
        } else {
            0.0
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "Batch(start={}, now={}, bytes_acked={}, bytes_lost={}, acks={})",
            self.start,
            self.now,
            self.bytes_acked,
            self.bytes_lost,
            self.acks.count()
        )
    }
}

/// Gathers what happens, and tells an object of a subclass of `lowtide.BatchController` once an interval.
pub(super) struct Batched {
    hosted: Hosted,
    /// The interval that has not passed yet.
    gathered: Batch,
    ends_at: Time,
}

impl Batched {
    pub(super) fn new(object: Bound<'_, Controller>, blamed: Blamed, now: Time) -> PyResult<Self> {
        let methods = Methods::only(&object, ON_INTERVAL)?;
        let interval = interval(&object)?;
        let mut hosted = Hosted::new(object, blamed, now)?;
        if let Some(method) = hosted.methods.first() {
            let problem = format!(
                "a BatchController has on_interval and no {method}: derive from lowtide.Controller to be \
                 called at each event"
            );
            return Err(PyTypeError::new_err(problem));
        }
        hosted.methods = methods;
        Ok(Self {
            hosted,
            gathered: Batch {
                start: seconds(now),
                ..Batch::default()
            },
            ends_at: now + interval,
        })
    }

    fn hand_over(&mut self, now: Time) {
        let next = Batch {
            start: seconds(now),
            acks: Records::with_room_of(self.gathered.acks.size()),
            inflight: self.gathered.inflight,
            app_limited: self.gathered.app_limited,
            ..Batch::default()
        };
        let mut batch = std::mem::replace(&mut self.gathered, next);
        batch.now = seconds(now);
        self.hosted.call(ON_INTERVAL, now, |_, _| Ok((batch,)));
        self.ends_at = now + self.hosted.guarded(ON_INTERVAL, |object| interval(object));
    }
}

fn interval(object: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let interval = number::finite(
        &object.getattr("interval")?,
        "interval (seconds)",
        Zero::DoesNot,
    )?;
    if interval < SHORTEST {
        let problem = format!("interval must be at least {SHORTEST} s, not {interval}");
        return Err(PyValueError::new_err(problem));
    }
    Ok(number::duration(interval))
}

impl Wrap for Batched {
    type Inner = Hosted;

    fn inner(&self) -> &Hosted {
        &self.hosted
    }

    fn inner_mut(&mut self) -> &mut Hosted {
        &mut self.hosted
    }

    fn on_packet_sent(&mut self, sent: &PacketSent) {
        let gathered = &mut self.gathered;
        gathered.bytes_sent += sent.bytes.get();
        gathered.packets_sent += 1;
        gathered.inflight = sent.inflight.get();
        gathered.app_limited = sent.app_limited;
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        let gathered = &mut self.gathered;
        let rtt = ack.rtt.map(span);
        if let Some(rtt) = rtt {
            gathered.rtt.take(rtt);
        }
        let sample = &ack.rate_sample;
        let newest = ack.packets.last();
        let acks = &mut gathered.acks;
        acks.float(seconds(ack.now));
        acks.float(rtt.unwrap_or(f64::NAN));
        acks.float(sample.map_or(f64::NAN, |s| s.delivery_rate.as_f64()));
        acks.float(newest.map_or(f64::NAN, |p| seconds(p.sent_at)));
        acks.whole(newest.map_or(0, |p| p.number));
        acks.whole(ack.bytes_acked.get());
        acks.whole(ack.bytes_lost.get());
        acks.whole(ack.inflight.get());
        acks.whole(u64::from(sample.is_some_and(|s| s.app_limited)));
        acks.end();
        gathered.bytes_acked += ack.bytes_acked.get();
        gathered.inflight = ack.inflight.get();
        if gathered.acks.count() == MOST {
            self.hand_over(ack.now);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        let gathered = &mut self.gathered;
        let losses = &mut gathered.losses;
        for packet in loss.packets {
            losses.float(seconds(loss.now));
            losses.float(seconds(packet.sent_at));
            losses.whole(packet.number);
            losses.whole(packet.bytes.get());
            losses.end();
        }
        gathered.bytes_lost += loss.bytes_lost.get();
        gathered.inflight = loss.inflight.get();
        if gathered.losses.count() >= MOST {
            self.hand_over(loss.now);
        }
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.gathered.timeouts += 1;
        self.gathered.inflight = timeout.inflight.get();
    }

    fn on_ecn_ce(&mut self, _now: Time, _sent_at: Time, marked: u64) {
        self.gathered.marked += marked;
    }

    fn on_wakeup(&mut self, now: Time) {
        if now >= self.ends_at {
            self.hand_over(now);
        }
    }

    fn next_wakeup(&self) -> Option<Time> {
        Some(self.ends_at)
    }
}

impl fmt::Debug for Batched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Batched").field(&self.hosted).finish()
    }
}
