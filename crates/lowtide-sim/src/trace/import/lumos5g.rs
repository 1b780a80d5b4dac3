//! Lumos5G's CSV (Narayanan and others, IMC 2020): a line a second, `run_num`, `seq_num`, and the
//! downlink's `Throughput` in Mbit/s, as iperf saw it.

use super::steps::Steps;
use super::{column, number, table, unreadable, wrong};
use crate::link::RateSchedule;
use crate::trace::TraceError;

pub(super) fn parse(bytes: &[u8], run: Option<u64>) -> Result<RateSchedule, TraceError> {
    let mut reader = table(bytes);
    let headers = reader.headers().map_err(|e| unreadable(&e))?.clone();
    let format = "Lumos5G's CSV";
    let columns = ["run_num", "seq_num", "Throughput"];
    let [run_num, seq_num, throughput] = columns.map(|name| column(&headers, name, format));
    let (run_num, seq_num, throughput) = (run_num?, seq_num?, throughput?);
    let mut steps = Steps::default();
    let mut taken = run.map(|run| run as f64);
    for record in reader.records() {
        let record = record.map_err(|e| unreadable(&e))?;
        let line = record.position().map_or(0, csv::Position::line);
        let value = |at: usize, what: &str| match record.get(at) {
            Some(text) => number(line, text.as_bytes(), what),
            None => wrong(line, format!("it ends before the {what}")),
        };
        let of_run = value(run_num, "run")?;
        let wanted = *taken.get_or_insert(of_run);
        if of_run != wanted {
            if run.is_none() {
                let problem = format!(
                    "there are several runs, {wanted} and {of_run} among them: choose one with --run"
                );
                return wrong(line, problem);
            }
            continue;
        }
        let mbps = value(throughput, "rate in Mbit/s")?;
        steps.push(line, value(seq_num, "second")?, mbps * 125e3)?;
    }
    steps.finish(None)
}
