//! What Python says, as the values of sections.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDelta, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml::{Table, Value};

use crate::error;
use crate::known::Known;
use crate::trace::Trace;

/// How deep values lie within each other at most; `flows[0].access.sender_rate` lies at four.
const MAX_DEPTH: usize = 12;

/// The method by which a section says its keys and values.
const SAID: &str = "_said";

/// The key of who sends, who may be a class or an object of Python's.
const CONTROLLER: &str = "controller";

impl Known {
    /// Keys and values; what is `None` is not said.
    pub(crate) fn table(&mut self, dict: &Bound<'_, PyDict>) -> PyResult<Table> {
        self.table_at(dict, "", MAX_DEPTH)
    }

    fn table_at(&mut self, dict: &Bound<'_, PyDict>, at: &str, depth: usize) -> PyResult<Table> {
        let mut table = Table::new();
        for (key, value) in dict.iter() {
            let Ok(key) = key.extract::<String>() else {
                let problem = format!("{}keys are texts", prefix(at));
                return Err(error::input(problem));
            };
            let within = match at {
                "" => key.clone(),
                at => format!("{at}.{key}"),
            };
            if let Some(value) = self.value(&value, &within, depth)? {
                table.insert(key, value);
            }
        }
        Ok(table)
    }

    fn value(
        &mut self,
        value: &Bound<'_, PyAny>,
        at: &str,
        depth: usize,
    ) -> PyResult<Option<Value>> {
        let wrong = |problem: &str| Err(error::input(format!("{}{problem}", prefix(at))));
        if depth == 0 {
            return wrong("values lie too deep within each other");
        }
        if value.is_none() {
            return Ok(None);
        }
        if let Ok(flag) = value.cast::<PyBool>() {
            return Ok(Some(Value::Boolean(flag.is_true())));
        }
        if let Ok(text) = value.cast::<PyString>() {
            return match text.to_str() {
                Ok(text) => Ok(Some(Value::String(text.to_string()))),
                Err(_) => wrong("the text has characters that are none"),
            };
        }
        if let Ok(trace) = value.cast::<Trace>() {
            return Ok(Some(Value::String(trace.get().put(&mut self.links))));
        }
        if let Ok(delta) = value.cast::<PyDelta>() {
            return match delta.extract::<Duration>() {
                Ok(time) => Ok(Some(Value::String(format!("{}us", time.as_micros())))),
                Err(_) => wrong("a time must not be negative"),
            };
        }
        if let Ok(dict) = value.cast::<PyDict>() {
            let table = self.table_at(dict, at, depth - 1)?;
            return Ok(Some(Value::Table(table)));
        }
        if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            let mut items = Vec::new();
            for (n, item) in value.try_iter()?.enumerate() {
                let at = format!("{at}.{n}");
                match self.value(&item?, &at, depth - 1)? {
                    Some(item) => items.push(item),
                    None => return Err(error::input(format!("{at}: None says nothing"))),
                }
            }
            return Ok(Some(Value::Array(items)));
        }
        if value.hasattr(SAID)? {
            let said = value.call_method0(SAID)?;
            return self.value(&said, at, depth - 1);
        }
        let key = at.rsplit('.').find(|part| part.parse::<usize>().is_err());
        if key == Some(CONTROLLER) {
            return Ok(Some(Value::String(self.spec(value)?)));
        }
        // NumPy's scalars are none of Python's classes but say that they are numbers.
        if value.is_instance_of::<PyInt>() || value.hasattr("__index__")? {
            return match value.extract::<i64>() {
                Ok(number) => Ok(Some(Value::Integer(number))),
                Err(_) => wrong("the number is too large"),
            };
        }
        if value.is_instance_of::<PyFloat>() || value.hasattr("__float__")? {
            return match value.extract::<f64>() {
                Ok(number) => Ok(Some(Value::Float(number))),
                Err(_) => wrong("this is no number"),
            };
        }
        if value.hasattr("__fspath__")? {
            let path = value.call_method0("__fspath__")?;
            return match path.extract::<String>() {
                Ok(path) => Ok(Some(Value::String(path))),
                Err(_) => wrong("the path is no text"),
            };
        }
        let class = value.get_type().name()?;
        wrong(&format!(
            "a {class} says nothing here; write a text, a number, True or False"
        ))
    }
}

fn prefix(at: &str) -> String {
    match at {
        "" => String::new(),
        at => format!("{at}: "),
    }
}
