//! The class that users derive their controllers from.

use lowtide_cc::controller::Snapshot;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::config::Config;
use super::number::{self, Zero, seconds};
use super::phases;

/// The largest burst of a sender that does not pace, packets (RFC 9002 §7.7).
const BURST_PACKETS: u64 = 10;
/// The burst of a controller that paces: what leaves in this time, within these packets.
const BURST_TIME: Duration = Duration::from_millis(1);
const PACED_PACKETS: (u64, u64) = (2, 40);

/// A congestion controller: told what happened, says how much may be in flight and how fast packets leave.
///
/// Derive a class from it, override the events that matter, and set `cwnd` and `pacing_rate` in them; what
/// they are set to is checked at once. Volumes are bytes, times seconds, rates bytes a second. A flow has an
/// object of its own, made with a `Config`.
#[pyclass(module = "lowtide", subclass)]
pub(crate) struct Controller {
    #[pyo3(get)]
    config: Config,
    max_datagram: Bytes,
    now: Time,
    cwnd: f64,
    #[pyo3(get)]
    pacing_rate: Option<f64>,
    #[pyo3(get)]
    send_quantum: Option<f64>,
    #[pyo3(get)]
    next_wakeup: Option<f64>,
    #[pyo3(get)]
    phase: &'static str,
    #[pyo3(get)]
    bandwidth: Option<f64>,
    #[pyo3(get)]
    min_rtt: Option<f64>,
    #[pyo3(get)]
    ssthresh: Option<f64>,
    /// A flow has it.
    taken: bool,
}

/// What a host asks a controller for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steering {
    pub(super) cwnd: Bytes,
    pub(super) pacing_rate: Option<Rate>,
    pub(super) send_quantum: Bytes,
    pub(super) next_wakeup: Option<Time>,
    pub(super) snapshot: Snapshot,
}

impl Controller {
    /// The attributes that a host reads, each of which a subclass may have as a property.
    pub(super) const STEERING: [&'static str; 5] = [
        "cwnd",
        "pacing_rate",
        "send_quantum",
        "next_wakeup",
        "phase",
    ];

    pub(super) fn of(
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let named = kwargs
            .into_iter()
            .flat_map(|kwargs| kwargs.values().into_iter());
        let config = args
            .iter()
            .chain(named)
            .find_map(|value| value.extract::<Config>().ok());
        let Some(config) = config else {
            let problem = "a controller is made with a lowtide.Config: Mine(config)";
            return Err(PyTypeError::new_err(problem));
        };
        Ok(Self {
            config,
            max_datagram: config.0.max_datagram,
            now: config.0.now,
            cwnd: config.0.initial_window.max(config.0.max_datagram).as_f64(),
            pacing_rate: None,
            send_quantum: None,
            next_wakeup: None,
            phase: "",
            bandwidth: None,
            min_rtt: None,
            ssthresh: None,
            taken: false,
        })
    }

    /// A flow takes it, once.
    pub(super) fn take(&mut self) -> PyResult<()> {
        if std::mem::replace(&mut self.taken, true) {
            let problem = "this controller has a flow already: make a new one for each";
            return Err(PyValueError::new_err(problem));
        }
        Ok(())
    }

    pub(super) fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    /// A wake-up is due: it is asked for once.
    pub(super) fn wake(&mut self, now: Time) {
        self.now = now;
        self.next_wakeup = None;
    }

    pub(super) fn set_max_datagram(&mut self, max_datagram: Bytes) {
        self.max_datagram = max_datagram;
        self.cwnd = self.cwnd.max(max_datagram.as_f64());
    }

    pub(super) fn steering(&self) -> Steering {
        let packet = self.max_datagram;
        let pacing_rate = self.pacing_rate.map(number::rate);
        Steering {
            cwnd: number::bytes(self.cwnd).max(packet),
            pacing_rate,
            send_quantum: match (self.send_quantum, pacing_rate) {
                (Some(quantum), _) => number::bytes(quantum),
                (None, None) => packet * BURST_PACKETS,
                (None, Some(rate)) => {
                    let (least, most) = PACED_PACKETS;
                    rate.volume_in(BURST_TIME)
                        .max(packet * least)
                        .min(packet * most)
                }
            },
            next_wakeup: self.next_wakeup.map(number::time),
            snapshot: Snapshot {
                phase: self.phase,
                bandwidth: self.bandwidth.map(|b| Rate::from_bytes_per_sec(b as u64)),
                min_rtt: self.min_rtt.map(number::duration),
                ssthresh: self.ssthresh.map(number::bytes),
                ..Snapshot::default()
            },
        }
    }
}

#[pymethods]
impl Controller {
    #[new]
    #[pyo3(signature = (*args, **kwargs))]
    fn new(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::of(args, kwargs)
    }

    #[pyo3(signature = (*_args, **_kwargs))]
    fn __init__(&self, _args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) {}

    /// The codepoint that packets carry: "not-ect", "ect0" or "ect1". Read once, when the flow begins.
    #[classattr]
    fn ecn() -> &'static str {
        "not-ect"
    }

    /// The names of the phases in the order of a legend, each with its kind for plots: "start", "steady",
    /// "drain", "gain-cycle", "up", "down", "probe-rtt", "recovery", "outage".
    #[classattr]
    fn phases(py: Python<'_>) -> Py<PyDict> {
        PyDict::new(py).unbind()
    }

    /// Congestion window, bytes: at least a packet; `math.inf` for no window. Begins as the
    /// initial window of the configuration.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let cwnd = number::positive(value, "cwnd (bytes)")?;
        if cwnd < self.max_datagram.as_f64() {
            let packet = self.max_datagram.get();
            return Err(PyValueError::new_err(format!(
                "cwnd must be at least a packet, {packet} bytes, not {cwnd}: nothing could be sent any more"
            )));
        }
        self.cwnd = cwnd;
        Ok(())
    }

    #[setter]
    fn set_pacing_rate(&mut self, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let what = "pacing_rate (bytes a second; None: not paced)";
        self.pacing_rate = number::optional(value, what, Zero::DoesNot)?;
        Ok(())
    }

    #[setter]
    fn set_send_quantum(&mut self, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let what = "send_quantum (bytes; None: by the pacing rate)";
        self.send_quantum = number::optional(value, what, Zero::DoesNot)?;
        Ok(())
    }

    #[setter]
    fn set_next_wakeup(&mut self, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let what = "next_wakeup (seconds; None: never)";
        let at = number::optional(value, what, Zero::Fits)?;
        if let Some(at) = at
            && number::time(at) <= self.now
        {
            let now = seconds(self.now);
            let problem = format!("next_wakeup must be later than now, {now}, not {at}");
            return Err(PyValueError::new_err(problem));
        }
        self.next_wakeup = at;
        Ok(())
    }

    #[setter]
    fn set_phase(&mut self, value: &str) -> PyResult<()> {
        if value != self.phase {
            self.phase = phases::name(value)?;
        }
        Ok(())
    }

    #[setter]
    fn set_bandwidth(&mut self, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.bandwidth = number::optional(value, "bandwidth (bytes a second)", Zero::Fits)?;
        Ok(())
    }

    #[setter]
    fn set_min_rtt(&mut self, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.min_rtt = number::optional(value, "min_rtt (seconds)", Zero::Fits)?;
        Ok(())
    }

    #[setter]
    fn set_ssthresh(&mut self, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.ssthresh = number::optional(value, "ssthresh (bytes)", Zero::Fits)?;
        Ok(())
    }

    /// A packet has left.
    fn on_packet_sent(&self, _sent: &Bound<'_, PyAny>) {}

    /// An acknowledgment arrived that newly covers at least one packet.
    fn on_ack(&self, _ack: &Bound<'_, PyAny>) {}

    /// Packets were declared lost.
    fn on_loss(&self, _loss: &Bound<'_, PyAny>) {}

    /// The whole flight is taken for lost; `on_loss` has been called for its packets.
    fn on_timeout(&self, _timeout: &Bound<'_, PyAny>) {}

    /// The last timeout was spurious; the acknowledgment that shows it follows.
    fn on_spurious_timeout(&self, _now: f64) {}

    /// Packets were newly reported marked; the newest acknowledged one was sent at `sent_at`.
    fn on_ecn_ce(&self, _now: f64, _sent_at: f64, _marked: u64) {}

    /// The largest payload of a packet changed.
    fn on_mtu_change(&self, _max_datagram: u64) {}

    /// `next_wakeup` is due, and `None` from now on.
    fn on_wakeup(&self, _now: f64) {}
}
