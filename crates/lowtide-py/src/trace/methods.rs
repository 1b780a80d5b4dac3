//! What Python can do with a trace: read, make, describe, write and pickle it.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use lowtide_cc::registry::unknown;
use lowtide_cc::units::quantity::{self, QuantityError};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_lab::files;
use lowtide_lab::traces::{self, Format};
use lowtide_sim::link::{
    AfterLast, Link, MAHIMAHI_OPPORTUNITY, MAX_TRACE_MS, Opportunities, RateSchedule,
};
use lowtide_sim::trace::import::{self, Choice, Imported};
use lowtide_sim::trace::{generate, series};
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::Trace;
use crate::error::{self, unwritten};
use crate::known::Known;

/// An array of numbers.
type Reals<'py> = Bound<'py, PyArray1<f64>>;

/// The formats of others by their names on the command line.
const FORMATS: [(&str, import::Format); 8] = [
    ("mahimahi", import::Format::Mahimahi),
    ("csv", import::Format::Series),
    ("mahimahi-log", import::Format::MahimahiLog),
    ("pairs", import::Format::Pairs),
    ("gnettrack", import::Format::GNetTrack),
    ("lumos5g", import::Format::Lumos5g),
    ("iperf3", import::Format::Iperf3),
    ("pcap", import::Format::Pcap),
];

/// What a pickled trace has: its name and key, what its numbers are, the length of the last rate in ns or the bytes of an
/// opportunity, and the numbers.
type State<'py> = (String, String, &'static str, u64, Bound<'py, PyBytes>);

/// Starts in ns and bytes a second, of 64 bits each.
const RATES: &str = "rates";
/// Milliseconds of 32 bits.
const OPPORTUNITIES: &str = "opportunities";

/// A trace of what [`Trace::__reduce__`] says of it.
#[pyfunction(name = "_restored_trace")]
pub(crate) fn restored_trace(
    name: String,
    key: &str,
    kind: &str,
    more: u64,
    numbers: &[u8],
) -> PyResult<Trace> {
    let wrong = |problem: String| error::argument("a pickled trace", problem);
    let link = match kind {
        RATES => {
            let (pairs, _) = numbers.as_chunks::<16>();
            let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b));
            let steps = pairs.iter().map(|pair| {
                let (start, rate) = pair.split_at(8);
                let start = Time::from_nanos(number(start));
                (start, Rate::from_bytes_per_sec(number(rate)))
            });
            let after = match more {
                0 => AfterLast::Hold,
                length => AfterLast::RepeatAfter(Duration::from_nanos(length)),
            };
            RateSchedule::new(steps.collect(), after).map(Link::Rates)
        }
        OPPORTUNITIES => {
            let (times, _) = numbers.as_chunks::<4>();
            let times = times.iter().map(|bytes| u32::from_le_bytes(*bytes));
            Opportunities::new(times.collect(), Bytes::new(more)).map(Link::Opportunities)
        }
        other => return Err(wrong(format!("there is no kind '{other}'"))),
    };
    let link = link.map_err(|e| wrong(e.to_string()))?;
    let key = key.parse();
    let key = key.map_err(|_| wrong("its key is none".to_string()))?;
    Ok(Trace {
        link: Arc::new(link),
        name,
        key,
    })
}

/// The interval of a series that nobody says another of.
const INTERVAL: Duration = Duration::from_millis(10);

/// A quantity: a text with its unit, or what else Python has for it.
fn quantity<T>(
    value: Option<&Bound<'_, PyAny>>,
    name: &str,
    parse: fn(&str) -> Result<T, QuantityError>,
) -> PyResult<Option<T>> {
    let Some(value) = value.filter(|value| !value.is_none()) else {
        return Ok(None);
    };
    let py = value.py();
    let dict = PyDict::new(py);
    dict.set_item(name, value)?;
    let said = Known::default().table(&dict)?;
    let text = match said.get(name) {
        Some(toml::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => return Ok(None),
    };
    parse(&text).map(Some).map_err(|e| error::argument(name, e))
}

/// The numbers of an array, a list or a series; `name`: of the argument.
fn numbers(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<f64>> {
    let py = value.py();
    let numpy = py.import("numpy")?;
    let wrong = |problem: &str| error::argument(name, problem);
    let array = numpy.call_method1("asarray", (value,));
    let array = array.map_err(|_| wrong("must be an array of numbers"))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !["f", "i", "u"].contains(&kind.as_str()) {
        let dtype = array.getattr("dtype")?.str()?;
        return Err(wrong(&format!(
            "must be an array of numbers, not of {dtype}"
        )));
    }
    let array = array.call_method1("astype", ("float64",))?;
    let array = array
        .cast_into::<PyArray1<f64>>()
        .map_err(|_| wrong("must have one dimension"))?;
    debug_assert!(array.ndim() == 1);
    let read = array.try_readonly().map_err(|e| wrong(&e.to_string()))?;
    Ok(read.as_array().to_vec())
}

/// Whole milliseconds.
fn milliseconds(values: &[f64]) -> PyResult<Vec<u32>> {
    let name = "opportunities_ms";
    let each = values.iter().enumerate().map(|(at, ms)| {
        let fits = ms.fract() == 0.0 && (0.0..=f64::from(MAX_TRACE_MS)).contains(ms);
        let problem = || format!("{name}[{at}]: {ms} is no whole number from 0 to {MAX_TRACE_MS}");
        fits.then_some(*ms as u32)
            .ok_or_else(|| error::input(problem()))
    });
    each.collect()
}

#[pymethods]
impl Trace {
    #[staticmethod]
    #[pyo3(signature = (path, *, format=None, uplink=false, run=None, receiver=None, opportunity=None))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        uplink: bool,
        run: Option<u64>,
        receiver: Option<&str>,
        opportunity: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let opportunity = quantity(opportunity.as_ref(), "opportunity", quantity::bytes)?;
        let wrong = |problem: &str| Err(error::input(problem));
        let choices = [
            (uplink, "gnettrack", "uplink"),
            (run.is_some(), "lumos5g", "run"),
            (receiver.is_some(), "pcap", "receiver"),
        ];
        for (given, of, name) in choices {
            if given && format != Some(of) {
                return wrong(&format!("{name}: goes with format=\"{of}\" only"));
            }
        }
        let receiver = match receiver.map(str::parse::<IpAddr>) {
            None => None,
            Some(Ok(address)) => Some(address),
            Some(Err(_)) => return wrong("receiver: this is no IP address"),
        };
        let choice = Choice {
            uplink,
            run,
            receiver,
        };
        let from = match format {
            None => None,
            Some(name) => match FORMATS.iter().find(|(known, _)| *known == name) {
                Some((_, format)) => Some(*format),
                None => {
                    let problem = unknown("", name, &FORMATS.map(|(name, _)| name));
                    return wrong(&format!("format: {problem}"));
                }
            },
        };
        if files::name(&path).is_none() {
            return wrong("path: standard input is the command line's; name a file");
        }
        let imported = py.detach(|| match from {
            None => traces::load(&path, opportunity).map(|link| Imported::Link(Arc::new(link))),
            Some(from) => traces::import(&path, from, choice, opportunity),
        });
        match imported.map_err(error::input)? {
            Imported::Link(link) => {
                let link = Arc::unwrap_or_clone(link);
                let bytes = py.detach(|| files::read(&path, files::TRACE));
                let bytes = bytes.map_err(error::input)?;
                let how = format!(
                    "{format:?} {choice:?} {opportunity:?} {:?}",
                    path.extension()
                );
                let name = path.display().to_string();
                Ok(Self::new(link, name, &[b"file", how.as_bytes(), &bytes]))
            }
            Imported::Delay(_) => wrong("these are delays: they go with path.delay_trace"),
        }
    }

    #[staticmethod]
    #[pyo3(signature = (model="lte", *, mean=None, duration=None, seed=1))]
    fn generate(
        py: Python<'_>,
        model: &str,
        mean: Option<Bound<'_, PyAny>>,
        duration: Option<Bound<'_, PyAny>>,
        seed: u64,
    ) -> PyResult<Self> {
        let mean: Option<Rate> = quantity(mean.as_ref(), "mean", quantity::rate)?;
        let length = quantity(duration.as_ref(), "duration", quantity::duration)?;
        let length = length.unwrap_or(Duration::from_secs(60));
        let generated = py.detach(|| traces::generate(model, mean, length, seed));
        let (link, _) = generated.map_err(|e| error::problem(&e, None))?;
        let name = format!("{model}, seed {seed}");
        let how = format!("{mean:?} {length:?}");
        Ok(Self::new(
            link,
            name.clone(),
            &[b"model", name.as_bytes(), how.as_bytes()],
        ))
    }

    /// The names of the models, and what they are.
    #[staticmethod]
    fn models() -> Vec<(&'static str, &'static str)> {
        let models = generate::named().iter();
        models.map(|model| (model.name, model.summary)).collect()
    }

    #[staticmethod]
    #[pyo3(signature = (time_s=None, rate_mbps=None, *, opportunities_ms=None, opportunity=None, name="arrays"))]
    fn from_arrays(
        py: Python<'_>,
        time_s: Option<Bound<'_, PyAny>>,
        rate_mbps: Option<Bound<'_, PyAny>>,
        opportunities_ms: Option<Bound<'_, PyAny>>,
        opportunity: Option<Bound<'_, PyAny>>,
        name: &str,
    ) -> PyResult<Self> {
        let size: Option<Bytes> = quantity(opportunity.as_ref(), "opportunity", quantity::bytes)?;
        let name = name.to_string();
        let bytes =
            |numbers: &[f64]| -> Vec<u8> { numbers.iter().flat_map(|n| n.to_le_bytes()).collect() };
        match (time_s, rate_mbps, opportunities_ms) {
            (Some(times), Some(rates), None) => {
                if size.is_some() {
                    let problem = "opportunity: goes with opportunities_ms only";
                    return Err(error::input(problem));
                }
                let (times, rates) = (numbers(&times, "time_s")?, numbers(&rates, "rate_mbps")?);
                let made = py.detach(|| series::from_arrays(&times, &rates));
                let link = Link::Rates(made.map_err(error::input)?);
                Ok(Self::new(
                    link,
                    name,
                    &[b"rates", &bytes(&times), &bytes(&rates)],
                ))
            }
            (None, None, Some(times)) => {
                let numbers = numbers(&times, "opportunities_ms")?;
                let times = milliseconds(&numbers)?;
                let size = size.unwrap_or(MAHIMAHI_OPPORTUNITY);
                let trace = py.detach(|| Opportunities::new(times, size));
                let wrong = |e| error::argument("opportunities_ms", e);
                let link = Link::Opportunities(trace.map_err(wrong)?);
                let size = size.get().to_le_bytes();
                Ok(Self::new(
                    link,
                    name,
                    &[b"opportunities", &size, &bytes(&numbers)],
                ))
            }
            _ => {
                let problem = "give time_s and rate_mbps, or opportunities_ms";
                Err(error::input(problem))
            }
        }
    }

    #[getter(name)]
    fn shown_name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn length_s(&self) -> f64 {
        self.length().as_secs_f64()
    }

    #[getter]
    fn mean_mbps(&self) -> f64 {
        self.link.mean_rate().as_mbps()
    }

    /// What `lowtide trace info --json` says.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = py.detach(|| traces::describe(&self.link));
        let wrong = |e| error::argument(&self.name, e);
        let info = info.map_err(wrong)?;
        let dict = PyDict::new(py);
        dict.set_item("length_s", info.length.as_secs_f64())?;
        dict.set_item("mean_mbps", info.mean.as_mbps())?;
        dict.set_item("percentiles_mbps", info.percentiles.map(Rate::as_mbps))?;
        dict.set_item("max_mbps", info.max.as_mbps())?;
        dict.set_item("variation", info.variation)?;
        dict.set_item("variation_of_wider", info.variation_of_wider)?;
        dict.set_item("empty_share", info.empty_share)?;
        dict.set_item("longest_gap_ms", info.longest_gap.as_millis_f64())?;
        dict.set_item("outages", info.outages)?;
        dict.set_item("outage_ms", info.outage_length.as_millis_f64())?;
        dict.set_item("autocorrelation", info.autocorrelation)?;
        Ok(dict)
    }

    /// The mean rate of each interval: the intervals' begins in seconds, and rates in Mbit/s.
    #[pyo3(signature = (interval=None))]
    fn rates<'py>(
        &self,
        py: Python<'py>,
        interval: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Reals<'py>, Reals<'py>)> {
        let interval = quantity(interval.as_ref(), "interval", quantity::duration)?;
        let interval = interval.unwrap_or(INTERVAL);
        let length = self.length();
        let count = length.as_nanos().div_ceil(interval.as_nanos().max(1));
        if interval < Duration::from_millis(1) || count > 10_000_000 {
            let problem = "interval: at least 1ms, and at most ten million of them";
            return Err(error::input(problem));
        }
        let edges = (0..count).map(|n| Time::ZERO + interval * n);
        let times: Vec<f64> = edges.clone().map(Time::as_secs_f64).collect();
        let rate =
            |at: Time| Rate::from_volume(self.link.volume_between(at, at + interval), interval);
        let rates: Vec<f64> = edges.map(|at| rate(at).as_mbps()).collect();
        Ok((PyArray1::from_vec(py, times), PyArray1::from_vec(py, rates)))
    }

    /// Writes it: a rate series where the name ends in `.csv` or `format` says so, else mahimahi's.
    #[pyo3(signature = (path, *, format=None, interval=None, opportunity=None))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        interval: Option<Bound<'_, PyAny>>,
        opportunity: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let interval = quantity(interval.as_ref(), "interval", quantity::duration)?;
        let size = quantity(opportunity.as_ref(), "opportunity", quantity::bytes)?;
        let is_csv = path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("csv"));
        let to = match format {
            Some("csv") => Format::Series(interval.unwrap_or(INTERVAL)),
            None if is_csv => Format::Series(interval.unwrap_or(INTERVAL)),
            None | Some("mahimahi") => Format::Mahimahi(size.unwrap_or(MAHIMAHI_OPPORTUNITY)),
            Some(other) => {
                let problem = unknown("", other, &["mahimahi", "csv"]);
                return Err(error::argument("format", problem));
            }
        };
        let text = py.detach(|| traces::write(&self.link, self.length(), to));
        let text = text.map_err(|e| error::problem(&e, None))?;
        let written = py.detach(|| files::write(&path, &text));
        written.map_err(|e| unwritten(&path, e))
    }

    /// A trace that is pickled is the same trace elsewhere, without its file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, State<'py>)> {
        let (kind, more, bytes) = match &*self.link {
            Link::Rates(rates) => {
                let steps = rates.steps();
                let last = steps.last().map_or(Time::ZERO, |(start, _)| *start);
                let more = rates
                    .period()
                    .map_or(0, |period| period.as_nanos() - last.as_nanos());
                let numbers = steps
                    .iter()
                    .flat_map(|(start, rate)| [start.as_nanos(), rate.as_bytes_per_sec()]);
                (RATES, more, numbers.flat_map(u64::to_le_bytes).collect())
            }
            Link::Opportunities(times) => {
                let numbers = times.times_ms().iter().copied();
                let bytes: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
                (OPPORTUNITIES, times.size().get(), bytes)
            }
            Link::Unlimited | Link::Shaper(_) => {
                return Err(error::run("a link without a trace cannot be pickled"));
            }
        };
        let restored = py.import("lowtide._lowtide")?.getattr("_restored_trace")?;
        let bytes = PyBytes::new(py, &bytes);
        let (name, key) = (self.name.clone(), self.key.to_string());
        Ok((restored, (name, key, kind, more, bytes)))
    }

    fn __repr__(&self) -> String {
        let (length, mean) = (self.length_s(), self.mean_mbps());
        format!(
            "<lowtide.Trace {}: {length} s, {mean:.2} Mbit/s on average>",
            self.name
        )
    }
}
