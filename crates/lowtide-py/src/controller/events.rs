//! The events as Python sees them: bytes, seconds, bytes per second.

use std::cell::Cell;

use lowtide_cc::controller::{self, AckedPacket, LostPacket, TimeoutKind};
use lowtide_cc::delivery_rate;
use pyo3::PyClass;
use pyo3::prelude::*;

use super::number::{seconds, span};
use super::view::view;

/// An object that is filled anew at each event, unless whoever was given it has kept it.
pub(super) struct Reused<T: PyClass>(Cell<Option<Py<T>>>);

impl<T: PyClass> Default for Reused<T> {
    fn default() -> Self {
        Self(Cell::default())
    }
}

impl<T: PyClass<Frozen = pyo3::pyclass::boolean_struct::False>> Reused<T> {
    /// Hands out the object, filled by `fill`, or one that `new` makes.
    pub(super) fn fill(
        &self,
        py: Python<'_>,
        fill: impl FnOnce(&mut T),
        new: impl FnOnce() -> T,
    ) -> PyResult<Py<T>>
    where
        T: Into<PyClassInitializer<T>>,
    {
        // SAFETY: the object lives as long as it is held here.
        let is_free = |object: &Py<T>| unsafe { pyo3::ffi::Py_REFCNT(object.as_ptr()) } == 1;
        let object = match self.0.take().filter(is_free) {
            Some(object) => {
                fill(&mut *object.bind(py).try_borrow_mut()?);
                object
            }
            None => Py::new(py, new())?,
        };
        self.0.set(Some(object.clone_ref(py)));
        Ok(object)
    }
}

view! {
    /// A packet has left.
    #[pyclass(module = "lowtide")]
    PacketSent(controller::PacketSent) {
        /// When, seconds.
        now: f64 = |sent| seconds(sent.now),
        /// Its number; retransmissions get new ones.
        number: u64 = |sent| sent.number,
        /// Its size, bytes.
        bytes: u64 = |sent| sent.bytes.get(),
        /// Bytes in flight with it.
        inflight: u64 = |sent| sent.inflight.get(),
        /// The application, not window or rate, limited the flow when it left.
        app_limited: bool = |sent| sent.app_limited,
    }
}

view! {
    /// A delivery-rate sample (draft-cheng-iccrg-delivery-rate-estimation).
    #[pyclass(module = "lowtide", frozen)]
    RateSample(delivery_rate::RateSample) {
        /// The sample, bytes a second.
        delivery_rate: f64 = |sample| sample.delivery_rate.as_f64(),
        /// Data delivered over the interval, bytes.
        delivered: u64 = |sample| sample.delivered.get(),
        /// The longer of the send and the ACK interval, seconds.
        interval: f64 = |sample| span(sample.interval),
        /// Data delivered when the sampled packet was sent, bytes: marks round trips.
        prior_delivered: u64 = |sample| sample.prior_delivered.get(),
        /// Data delivered now, bytes.
        total_delivered: u64 = |sample| sample.total_delivered.get(),
        /// Data lost between the sending of the sampled packet and now, bytes.
        lost: u64 = |sample| sample.lost.get(),
        /// Bytes in flight when the sampled packet was sent.
        sent_inflight: u64 = |sample| sample.sent_inflight.get(),
        /// When it was sent, seconds.
        sent_at: f64 = |sample| seconds(sample.sent_at),
        /// The application limited the flow then: the rate may be too low.
        app_limited: bool = |sample| sample.app_limited,
    }
}

/// An acknowledgment that newly covers at least one packet.
#[pyclass(module = "lowtide")]
#[derive(Default)]
pub(crate) struct Ack {
    /// When, seconds.
    #[pyo3(get)]
    now: f64,
    /// The newest RTT sample, seconds; `None` where the acknowledgment gives none.
    #[pyo3(get)]
    rtt: Option<f64>,
    /// Bytes that it newly acknowledges.
    #[pyo3(get)]
    bytes_acked: u64,
    /// Bytes declared lost since the one before it.
    #[pyo3(get)]
    bytes_lost: u64,
    /// Bytes in flight just before it and its losses.
    #[pyo3(get)]
    prior_inflight: u64,
    /// Bytes in flight after it and its losses.
    #[pyo3(get)]
    inflight: u64,
    /// The largest number that it newly acknowledges.
    #[pyo3(get)]
    number: u64,
    sample: Option<delivery_rate::RateSample>,
    packets: Vec<AckedPacket>,
}

impl Ack {
    pub(super) fn set(&mut self, ack: &controller::AckEvent<'_>) {
        self.now = seconds(ack.now);
        self.rtt = ack.rtt.map(span);
        self.bytes_acked = ack.bytes_acked.get();
        self.bytes_lost = ack.bytes_lost.get();
        self.prior_inflight = ack.prior_inflight.get();
        self.inflight = ack.inflight.get();
        self.number = ack.packets.last().map_or(0, |packet| packet.number);
        self.sample = ack.rate_sample;
        self.packets.clear();
        self.packets.extend_from_slice(ack.packets);
    }

    pub(super) fn of(ack: &controller::AckEvent<'_>) -> Self {
        let mut this = Self::default();
        this.set(ack);
        this
    }
}

#[pymethods]
impl Ack {
    /// The delivery rate that it samples, bytes a second; `None` where it gives no valid sample.
    #[getter]
    fn delivery_rate(&self) -> Option<f64> {
        self.sample.map(|sample| sample.delivery_rate.as_f64())
    }

    /// Whether the application limited the flow when the sampled packet was sent.
    #[getter]
    fn app_limited(&self) -> bool {
        self.sample.is_some_and(|sample| sample.app_limited)
    }

    /// All of the delivery-rate sample.
    #[getter]
    fn rate_sample(&self) -> Option<RateSample> {
        self.sample.map(RateSample)
    }

    /// The packets that it newly acknowledges: number, bytes, when sent (seconds).
    #[getter]
    fn packets(&self) -> Vec<(u64, u64, f64)> {
        let packets = self.packets.iter();
        packets
            .map(|p| (p.number, p.bytes.get(), seconds(p.sent_at)))
            .collect()
    }

    fn __repr__(&self) -> String {
        format!(
            "Ack(now={}, number={}, bytes_acked={}, inflight={})",
            self.now, self.number, self.bytes_acked, self.inflight
        )
    }
}

/// Packets were declared lost.
#[pyclass(module = "lowtide", frozen)]
pub(crate) struct Loss {
    /// When, seconds.
    #[pyo3(get)]
    now: f64,
    /// Their bytes.
    #[pyo3(get)]
    bytes_lost: u64,
    /// Bytes in flight without them.
    #[pyo3(get)]
    inflight: u64,
    packets: Vec<LostPacket>,
}

impl Loss {
    pub(super) fn of(loss: &controller::LossEvent<'_>) -> Self {
        Self {
            now: seconds(loss.now),
            bytes_lost: loss.bytes_lost.get(),
            inflight: loss.inflight.get(),
            packets: loss.packets.to_vec(),
        }
    }
}

#[pymethods]
impl Loss {
    /// The largest number among them.
    #[getter]
    fn number(&self) -> u64 {
        self.packets.last().map_or(0, |packet| packet.number)
    }

    /// The packets: number, bytes, when sent (seconds).
    #[getter]
    fn packets(&self) -> Vec<(u64, u64, f64)> {
        let packets = self.packets.iter();
        packets
            .map(|p| (p.number, p.bytes.get(), seconds(p.sent_at)))
            .collect()
    }

    fn __repr__(&self) -> String {
        format!(
            "Loss(now={}, bytes_lost={}, inflight={})",
            self.now, self.bytes_lost, self.inflight
        )
    }
}

view! {
    /// The whole flight is taken for lost.
    #[pyclass(module = "lowtide", frozen)]
    Timeout(controller::TimeoutEvent) {
        /// When, seconds.
        now: f64 = |timeout| seconds(timeout.now),
        /// `"rto"` (TCP) or `"persistent-congestion"` (QUIC).
        kind: &'static str = |timeout| match timeout.kind {
            TimeoutKind::Rto => "rto",
            TimeoutKind::PersistentCongestion => "persistent-congestion",
        },
        /// Bytes still counted in flight.
        inflight: u64 = |timeout| timeout.inflight.get(),
    }
}
