//! Simulations that agents step, many at once, without the interpreter.

mod episode;
mod steered;

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

use lowtide_lab::setting::{Host, Setting};
use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use self::episode::{Episode, FEATURES, MEASURED, MEASURES, Scale, Steer};
use crate::controller::number::duration;
use crate::known::Known;
use crate::setting::settings;

/// Simulations side by side; each is an episode of one of the settings.
#[pyclass(module = "lowtide._lowtide")]
pub(crate) struct Episodes {
    settings: Vec<Setting>,
    scale: Scale,
    history: usize,
    pool: Option<rayon::ThreadPool>,
    /// Controllers of Python's among those that share the links.
    known: Known,
    count: usize,
    /// Behind a lock that is never waited for: a simulation is not to be looked at from two threads.
    places: Mutex<Vec<Place>>,
}

/// One of them, and what is told of it.
struct Place {
    episode: Option<Episode>,
    /// The newest features first.
    features: Vec<f32>,
    measured: [f64; MEASURES],
    is_over: bool,
}

impl Place {
    fn reset(&mut self, setting: &Setting, seed: u64, scale: Scale) -> Result<(), String> {
        self.episode = Some(Episode::new(setting, seed, scale)?);
        self.features.fill(0.0);
        self.is_over = false;
        let first = &mut self.features[..FEATURES];
        if let Some(episode) = &mut self.episode {
            episode.tell(first, &mut self.measured);
        }
        Ok(())
    }

    fn step(&mut self, action: f64) {
        let Some(episode) = &mut self.episode else {
            return;
        };
        let is_last = episode.step(action);
        let newest = self.features.len() - FEATURES;
        self.features.copy_within(..newest, FEATURES);
        episode.tell(&mut self.features[..FEATURES], &mut self.measured);
        self.is_over = is_last;
        if is_last {
            self.episode = None;
        }
    }
}

/// Observations, measurements, and which episodes are over.
type Told<'py> = (
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray2<f64>>,
    Vec<bool>,
);

impl Episodes {
    fn told<'py>(&mut self, py: Python<'py>) -> PyResult<Told<'py>> {
        let (count, width) = (self.count, FEATURES * self.history);
        let places = self
            .places
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let features: Vec<f32> = places.iter().flat_map(|p| &p.features).copied().collect();
        let measured: Vec<f64> = places.iter().flat_map(|p| p.measured).collect();
        Ok((
            features.to_pyarray(py).reshape([count, width])?,
            measured.to_pyarray(py).reshape([count, MEASURES])?,
            places.iter().map(|p| p.is_over).collect(),
        ))
    }

    /// Does something to places side by side.
    fn each<T: Send>(
        &mut self,
        py: Python<'_>,
        with: Vec<T>,
        f: impl Fn(&mut Place, T) -> Result<(), String> + Sync + Send,
    ) -> PyResult<()> {
        let places = self
            .places
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let pool = &self.pool;
        let done = py.detach(|| {
            let work = AssertUnwindSafe(|| match pool {
                None => places
                    .iter_mut()
                    .zip(with)
                    .try_for_each(|(place, t)| f(place, t)),
                Some(pool) => pool.install(|| {
                    let both = places.par_iter_mut().zip(with);
                    both.try_for_each(|(place, t)| f(place, t))
                }),
            });
            panic::catch_unwind(work)
        });
        match done {
            Ok(Ok(())) => Ok(()),
            Ok(Err(problem)) => Err(PyValueError::new_err(problem)),
            Err(panic) => {
                self.known.check(py)?;
                Err(self.known.run_error(py, &lowtide_lab::run::reason(&*panic)))
            }
        }
    }
}

#[pymethods]
impl Episodes {
    /// `links`: options as of `lowtide.compare`, of each link to choose from. `threads`: 0 is one for each core.
    #[new]
    #[expect(
        clippy::too_many_arguments,
        reason = "Python's are named, and this one is called in one place"
    )]
    fn new(
        py: Python<'_>,
        links: Vec<Bound<'_, PyDict>>,
        count: usize,
        is_rate: bool,
        relative: bool,
        rates: (f64, f64),
        windows: (f64, f64),
        interval: f64,
        history: usize,
        threads: usize,
    ) -> PyResult<Self> {
        let mut known = Known::default();
        let mut all = Vec::new();
        for link in links {
            all.extend(settings(py, Some(&link), &mut known)?);
        }
        let wrong = |problem: &'static str| Err(PyValueError::new_err(problem));
        if all.is_empty() || count == 0 {
            return wrong("at least one setting and one environment are needed");
        }
        for setting in &all {
            if setting.host != Host::Model || setting.trigger.is_some() {
                return wrong(
                    "an environment runs over the simulator's own transports, and has no trigger",
                );
            }
            let agent = setting.groups.first();
            if agent.is_none_or(|group| group.count != 1 || group.web.is_some()) {
                return wrong("the first group of flows is the agent's: one flow");
            }
        }
        let ordered = |(least, most): (f64, f64)| least > 0.0 && least < most && most.is_finite();
        if !ordered(rates) || !ordered(windows) {
            return wrong("bounds are two finite numbers above zero, the smaller one first");
        }
        if !(1e-4..=60.0).contains(&interval) {
            return wrong("interval must be from 0.0001 to 60 seconds");
        }
        if !(1..=1_000).contains(&history) {
            return wrong("history must be from 1 to 1000 steps");
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.min(count));
        let pool = (count > 1).then(|| pool.build()).transpose();
        let place = || Place {
            episode: None,
            features: vec![0.0; FEATURES * history],
            measured: [0.0; MEASURES],
            is_over: false,
        };
        Ok(Self {
            settings: all,
            scale: Scale {
                steer: if is_rate { Steer::Rate } else { Steer::Window },
                relative,
                rates,
                windows,
                interval: duration(interval),
            },
            history,
            pool: pool.map_err(|e| PyRuntimeError::new_err(e.to_string()))?,
            known,
            count,
            places: Mutex::new(std::iter::repeat_with(place).take(count).collect()),
        })
    }

    /// Begins episodes anew: for each environment the number of its setting and its seed, or `None` for one
    /// that goes on.
    fn reset<'py>(
        &mut self,
        py: Python<'py>,
        episodes: Vec<Option<(usize, u64)>>,
    ) -> PyResult<Told<'py>> {
        if episodes.len() != self.count {
            let problem = format!(
                "{} environments, and {} episodes",
                self.count,
                episodes.len()
            );
            return Err(PyValueError::new_err(problem));
        }
        let (settings, scale) = (self.settings.clone(), self.scale);
        self.each(py, episodes, move |place, episode| {
            let Some((setting, seed)) = episode else {
                return Ok(());
            };
            let setting = settings.get(setting).ok_or("there is no such setting")?;
            place.reset(setting, seed, scale)
        })?;
        self.told(py)
    }

    /// Acts in each environment, and runs on for an interval.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Told<'py>> {
        let actions: Vec<f64> = actions.as_array().to_vec();
        if actions.len() != self.count {
            let problem = format!("{} environments, and {} actions", self.count, actions.len());
            return Err(PyValueError::new_err(problem));
        }
        if let Some((n, action)) = actions.iter().enumerate().find(|(_, a)| !a.is_finite()) {
            let problem =
                format!("the action of environment {n} must be a finite number, not {action}");
            return Err(PyValueError::new_err(problem));
        }
        self.each(py, actions, |place, action| {
            place.step(action);
            Ok(())
        })?;
        self.told(py)
    }

    /// How many settings there are to choose from.
    #[getter]
    fn links(&self) -> usize {
        self.settings.len()
    }

    /// Features of an observation.
    #[classattr]
    fn features() -> usize {
        FEATURES
    }

    /// What a step is measured by: names and NumPy's types.
    #[classattr]
    fn measured() -> Vec<(&'static str, &'static str)> {
        MEASURED.to_vec()
    }
}
