//! An object of Python's in the place of a controller, called at each event.

use std::fmt;
use std::sync::Arc;

use lowtide_cc::Ecn;
use lowtide_cc::controller::{self, AckEvent, LossEvent, PacketSent, Snapshot, TimeoutEvent};
use lowtide_cc::state::State;
use lowtide_cc::units::{Bytes, Rate, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::base::{Controller, Steering};
use super::events::{self, Ack, Loss, Reused, Timeout};
use super::failure::{Failures, Place};
use super::number::seconds;
use super::phases;

/// Methods of an object that its class has in the place of a base's: only they are called.
pub(super) fn overridden(
    object: &Bound<'_, PyAny>,
    base: &Bound<'_, PyAny>,
    method: &str,
) -> PyResult<Option<Py<PyAny>>> {
    let own = object.get_type().getattr(method)?;
    if own.is(&base.getattr(method)?) {
        return Ok(None);
    }
    Ok(Some(object.getattr(method)?.unbind()))
}

/// What every controller of Python's has.
pub(super) struct Common {
    pub(super) object: Py<Controller>,
    pub(super) name: Arc<str>,
    pub(super) failures: Failures,
    /// Attributes that its class has as properties, or as values of the class.
    properties: Vec<&'static str>,
    pub(super) steering: Steering,
    pub(super) ecn: Ecn,
    pub(super) phases: &'static [State],
}

impl Common {
    /// A flow takes an object.
    pub(super) fn new(
        object: Bound<'_, Controller>,
        name: Arc<str>,
        failures: Failures,
    ) -> PyResult<Self> {
        object.try_borrow_mut()?.take()?;
        let py = object.py();
        let (class, base) = (object.get_type(), py.get_type::<Controller>());
        let mut properties = Vec::new();
        for attribute in Controller::STEERING {
            if !class.getattr(attribute)?.is(&base.getattr(attribute)?) {
                properties.push(attribute);
            }
        }
        let ecn: String = object.getattr("ecn")?.extract()?;
        let ecn = match ecn.as_str() {
            "not-ect" => Ecn::NotEct,
            "ect0" => Ecn::Ect0,
            "ect1" => Ecn::Ect1,
            other => {
                let problem =
                    format!("ecn must be \"not-ect\", \"ect0\" or \"ect1\", not \"{other}\"");
                return Err(PyValueError::new_err(problem));
            }
        };
        let phases = phases::list(object.getattr("phases")?.cast::<PyDict>()?)?;
        let steering = object.try_borrow()?.steering();
        let mut this = Self {
            object: object.unbind(),
            name,
            failures,
            properties,
            steering,
            ecn,
            phases,
        };
        this.refresh(py)?;
        Ok(this)
    }

    /// Reads what the object says now.
    pub(super) fn refresh(&mut self, py: Python<'_>) -> PyResult<()> {
        let object = self.object.bind(py);
        for attribute in &self.properties {
            let value = object.getattr(*attribute)?;
            let base = py.get_type::<Controller>().getattr(*attribute)?;
            base.call_method1("__set__", (object, value))?;
        }
        self.steering = object.try_borrow()?.steering();
        Ok(())
    }

    /// The path's packets have another size, at least a byte; returns it.
    pub(super) fn set_max_datagram(&mut self, now: Time, max_datagram: Bytes) -> Bytes {
        let packet = max_datagram.max(Bytes::new(1));
        self.guarded("on_mtu_change", now, |py, common| {
            let object = common.object.bind(py);
            object.try_borrow_mut()?.set_max_datagram(packet);
            common.refresh(py)
        });
        packet
    }

    /// Does something with the object, which ends the run where it fails.
    pub(super) fn guarded<R>(
        &mut self,
        event: &'static str,
        now: Time,
        f: impl FnOnce(Python<'_>, &mut Self) -> PyResult<R>,
    ) -> R {
        Python::attach(|py| {
            if self.failures.is_interrupted() {
                lowtide_lab::run::abandon("ended before its time".to_string());
            }
            match f(py, self) {
                Ok(result) => result,
                Err(error) => {
                    let name = &*self.name;
                    self.failures
                        .end_run(py, &Place { name, event, now }, error)
                }
            }
        })
    }
}

/// What hosts ask a controller: as its object says, in the field `common`.
macro_rules! as_the_object_says {
    () => {
        fn ecn(&self) -> Ecn {
            self.common.ecn
        }

        fn cwnd(&self) -> Bytes {
            self.common.steering.cwnd
        }

        fn pacing_rate(&self) -> Option<Rate> {
            self.common.steering.pacing_rate
        }

        fn send_quantum(&self) -> Bytes {
            self.common.steering.send_quantum
        }

        fn snapshot(&self) -> Snapshot {
            self.common.steering.snapshot
        }

        fn phases(&self) -> &'static [State] {
            self.common.phases
        }
    };
}
pub(super) use as_the_object_says;

#[derive(Default)]
struct Handlers {
    on_packet_sent: Option<Py<PyAny>>,
    on_ack: Option<Py<PyAny>>,
    on_loss: Option<Py<PyAny>>,
    on_timeout: Option<Py<PyAny>>,
    on_spurious_timeout: Option<Py<PyAny>>,
    on_ecn_ce: Option<Py<PyAny>>,
    on_mtu_change: Option<Py<PyAny>>,
    on_wakeup: Option<Py<PyAny>>,
}

/// An object of a subclass of `lowtide.Controller`.
pub(super) struct Hosted {
    common: Common,
    handlers: Handlers,
    /// When the last event was.
    now: Time,
    ack: Reused<Ack>,
    sent: Reused<events::PacketSent>,
}

impl Hosted {
    pub(super) fn new(common: Common, py: Python<'_>, now: Time) -> PyResult<Self> {
        let object = common.object.bind(py).clone().into_any();
        let base = py.get_type::<Controller>().into_any();
        let handler = |method| overridden(&object, &base, method);
        Ok(Self {
            handlers: Handlers {
                on_packet_sent: handler("on_packet_sent")?,
                on_ack: handler("on_ack")?,
                on_loss: handler("on_loss")?,
                on_timeout: handler("on_timeout")?,
                on_spurious_timeout: handler("on_spurious_timeout")?,
                on_ecn_ce: handler("on_ecn_ce")?,
                on_mtu_change: handler("on_mtu_change")?,
                on_wakeup: handler("on_wakeup")?,
            },
            common,
            now,
            ack: Reused::default(),
            sent: Reused::default(),
        })
    }
}

/// Calls a handler with the arguments that an expression makes, where the class has one.
macro_rules! call {
    ($this:ident.$event:ident at $now:expr, |$py:ident| $args:expr) => {
        let now = $now;
        $this.now = now;
        if let Some(handler) = &$this.handlers.$event {
            $this
                .common
                .guarded(stringify!($event), now, |$py, common| {
                    common.object.bind($py).try_borrow_mut()?.set_now(now);
                    handler.bind($py).call1($args)?;
                    common.refresh($py)
                });
        }
    };
}

impl controller::Controller for Hosted {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        let reused = &mut self.sent;
        let of = || events::PacketSent::of(sent);
        call!(self.on_packet_sent at sent.now, |py| (reused.fill(py, |s| *s = of(), of)?,));
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        let reused = &mut self.ack;
        call!(self.on_ack at ack.now, |py| (reused.fill(py, |a| a.set(ack), || Ack::of(ack))?,));
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        call!(self.on_loss at loss.now, |_py| (Loss::of(loss),));
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        call!(self.on_timeout at timeout.now, |_py| (Timeout::of(timeout),));
    }

    fn on_spurious_timeout(&mut self, now: Time) {
        call!(self.on_spurious_timeout at now, |_py| (seconds(now),));
    }

    fn on_ecn_ce(&mut self, now: Time, sent_at: Time, marked: u64) {
        call!(self.on_ecn_ce at now, |_py| (seconds(now), seconds(sent_at), marked));
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        let packet = self.common.set_max_datagram(self.now, max_datagram);
        call!(self.on_mtu_change at self.now, |_py| (packet.get(),));
    }

    fn on_wakeup(&mut self, now: Time) {
        self.common.guarded("on_wakeup", now, |py, common| {
            common.object.bind(py).try_borrow_mut()?.wake(now);
            common.refresh(py)
        });
        call!(self.on_wakeup at now, |_py| (seconds(now),));
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.common.steering.next_wakeup
    }

    as_the_object_says!();
}

impl fmt::Debug for Hosted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hosted").field(&self.common.name).finish()
    }
}
