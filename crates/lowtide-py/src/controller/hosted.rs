//! An object of Python's in the place of a controller, called at each event.

use std::fmt;

use lowtide_cc::Ecn;
use lowtide_cc::controller::{self, AckEvent, LossEvent, PacketSent, Snapshot, TimeoutEvent};
use lowtide_cc::state::State;
use lowtide_cc::units::{Bytes, Rate, Time};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::base::{Controller, Steering};
use super::events::{self, Ack, Loss, Reused, Timeout};
use super::failure::Blamed;
use super::methods::Methods;
use super::number::seconds;
use super::phases;

/// An object of a subclass of `lowtide.Controller`, and what it said last.
pub(super) struct Hosted {
    object: Py<Controller>,
    blamed: Blamed,
    pub(super) methods: Methods,
    /// Attributes that its class has as properties, or as values of the class.
    properties: Vec<&'static str>,
    steering: Steering,
    ecn: Ecn,
    phases: &'static [State],
    /// When the last event was.
    now: Time,
    ack: Reused<Ack>,
    sent: Reused<events::PacketSent>,
}

impl Hosted {
    /// A flow takes an object.
    pub(super) fn new(object: Bound<'_, Controller>, blamed: Blamed, now: Time) -> PyResult<Self> {
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
        Ok(Self {
            blamed,
            methods: Methods::overridden(&object, &base)?,
            steering: steering(&object, &properties)?,
            properties,
            ecn,
            phases: phases::list(object.getattr("phases")?.cast::<PyDict>()?)?,
            object: object.unbind(),
            now,
            ack: Reused::default(),
            sent: Reused::default(),
        })
    }

    /// Does something with the object that may fail, which ends the run.
    pub(super) fn guarded<R>(
        &self,
        event: &str,
        f: impl FnOnce(&Bound<'_, Controller>) -> PyResult<R>,
    ) -> R {
        let f = |py: Python<'_>| f(self.object.bind(py));
        self.blamed.guarded(event, self.now, f)
    }

    /// Changes what the object has.
    fn change(&mut self, event: &str, now: Time, f: impl FnOnce(&mut Controller)) {
        self.now = now;
        self.steering = self.guarded(event, |object| {
            f(&mut *object.try_borrow_mut()?);
            steering(object, &self.properties)
        });
    }

    /// Calls a method with these arguments, where the class has it.
    pub(super) fn call<A>(
        &mut self,
        event: &str,
        now: Time,
        arguments: impl FnOnce(Python<'_>, &Self) -> PyResult<A>,
    ) where
        A: for<'py> PyCallArgs<'py>,
    {
        self.now = now;
        let arguments = |py: Python<'_>| {
            self.object.bind(py).try_borrow_mut()?.set_now(now);
            arguments(py, self)
        };
        let answer =
            |answer: &Bound<'_, PyAny>| steering(self.object.bind(answer.py()), &self.properties);
        let said = self
            .methods
            .ask(&self.blamed, (event, now), arguments, answer);
        self.steering = said.unwrap_or(self.steering);
    }
}

/// What an object says now; `properties` are computed anew, and checked as what is set.
fn steering(object: &Bound<'_, Controller>, properties: &[&str]) -> PyResult<Steering> {
    for attribute in properties {
        let value = object.getattr(*attribute)?;
        let base = object.py().get_type::<Controller>().getattr(*attribute)?;
        base.call_method1("__set__", (object, value))?;
    }
    Ok(object.try_borrow()?.steering())
}

impl controller::Controller for Hosted {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.call("on_packet_sent", sent.now, |py, this| {
            Ok((this
                .sent
                .fill(py, |s| s.0 = *sent, || events::PacketSent(*sent))?,))
        });
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.call("on_ack", ack.now, |py, this| {
            Ok((this.ack.fill(py, |a| a.set(ack), || Ack::of(ack))?,))
        });
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        self.call("on_loss", loss.now, |_, _| Ok((Loss::of(loss),)));
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.call("on_timeout", timeout.now, |_, _| Ok((Timeout(*timeout),)));
    }

    fn on_spurious_timeout(&mut self, now: Time) {
        self.call("on_spurious_timeout", now, |_, _| Ok((seconds(now),)));
    }

    fn on_ecn_ce(&mut self, now: Time, sent_at: Time, marked: u64) {
        self.call("on_ecn_ce", now, |_, _| {
            Ok((seconds(now), seconds(sent_at), marked))
        });
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        let (now, packet) = (self.now, max_datagram.max(Bytes::new(1)));
        self.change("on_mtu_change", now, |object| {
            object.set_max_datagram(packet)
        });
        self.call("on_mtu_change", now, |_, _| Ok((packet.get(),)));
    }

    fn on_wakeup(&mut self, now: Time) {
        self.change("on_wakeup", now, |object| object.wake(now));
        self.call("on_wakeup", now, |_, _| Ok((seconds(now),)));
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.steering.next_wakeup
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn cwnd(&self) -> Bytes {
        self.steering.cwnd
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.steering.pacing_rate
    }

    fn send_quantum(&self) -> Bytes {
        self.steering.send_quantum
    }

    fn snapshot(&self) -> Snapshot {
        self.steering.snapshot
    }

    fn phases(&self) -> &'static [State] {
        self.phases
    }
}

impl fmt::Debug for Hosted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hosted").field(&self.blamed.name).finish()
    }
}
