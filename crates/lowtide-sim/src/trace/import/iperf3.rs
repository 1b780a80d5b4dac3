//! The output of `iperf3 --json`: the sum of all streams in each interval. What it shows is what one
//! end saw: the receiver, where the file is the server's or `--reverse` was given.

use lowtide_cc::units::Duration;
use serde_json::Value;

use super::steps::Steps;
use super::wrong;
use crate::link::RateSchedule;
use crate::trace::TraceError;

pub(super) fn parse(bytes: &[u8]) -> Result<RateSchedule, TraceError> {
    let root: Value = match serde_json::from_slice(bytes) {
        Ok(root) => root,
        Err(e) => return wrong(e.line() as u64, format!("it is no JSON: {e}")),
    };
    if let Some(error) = root.get("error").and_then(Value::as_str) {
        let said: String = error.chars().take(100).collect();
        return wrong(1, format!("iperf3 says: {}", said.escape_debug()));
    }
    let Some(intervals) = root.get("intervals").and_then(Value::as_array) else {
        return wrong(
            1,
            "it has no 'intervals': is it the output of iperf3 --json?".to_string(),
        );
    };
    let mut steps = Steps::default();
    let mut last = None;
    for (n, interval) in intervals.iter().enumerate() {
        let Some(sum) = interval.get("sum") else {
            return wrong(1, format!("intervals[{n}] has no 'sum'"));
        };
        if sum.get("omitted").and_then(Value::as_bool) == Some(true) {
            continue;
        }
        let value = |key: &str| match sum.get(key).and_then(Value::as_f64) {
            Some(value) => Ok(value),
            None => wrong(1, format!("intervals[{n}].sum has no number '{key}'")),
        };
        let (start, end) = (value("start")?, value("end")?);
        steps.push(1, start, value("bits_per_second")? / 8.0)?;
        let seconds = end - start;
        if !(seconds > 0.0 && seconds < 1e6) {
            return wrong(
                1,
                format!("intervals[{n}].sum does not end after its start"),
            );
        }
        last = Some(Duration::from_nanos((seconds * 1e9) as u64));
    }
    steps.finish(last)
}
