//! Writes a line for each event of a TCP simulation, with the columns of `lowtide-ns3 --log`, to
//! compare the two engines packet by packet (`ns3/compare_logs.py`).
//!
//! ```sh
//! cargo run --release -p lowtide-lab --example packet_log -- \
//!     --cc bbr --rate 10mbit --rtt 20ms --buffer 2bdp --flows 2 --duration 30s > sim.csv
//! ```

use std::error::Error;
use std::io::{self, BufWriter, Write};

use lowtide_cc::units::{Bytes, Time};
use lowtide_lab::contender::Contenders;
use lowtide_lab::setting::{Brief, Problem, Resolver};
use lowtide_sim::probe::{AckSeen, DropCause, LossSeen, Sent};
use lowtide_sim::{Probe, Simulation};
use toml::{Table, Value};

struct Log<W: Write>(W);

impl<W: Write> Log<W> {
    fn line(&mut self, now: Time, event: &str, flow: usize, rest: &str) {
        // A closed pipe shows when the writer is flushed at the end.
        let _ = writeln!(self.0, "{},{event},{flow},,{rest}", now.as_nanos());
    }
}

impl<W: Write> Probe for Log<W> {
    fn on_send(&mut self, sent: &Sent) {
        let event = if sent.retransmission {
            "resend"
        } else {
            "send"
        };
        self.line(sent.now, event, sent.flow, ",,");
    }

    fn on_drop(&mut self, flow: usize, now: Time, _bytes: Bytes, _cause: DropCause) {
        self.line(now, "drop", flow, ",,");
    }

    fn on_loss(&mut self, flow: usize, loss: &LossSeen<'_>) {
        for _ in loss.packets {
            self.line(loss.now, "lost", flow, ",,");
        }
    }

    fn on_timeout(&mut self, flow: usize, now: Time) {
        self.line(now, "timeout", flow, ",,");
    }

    fn on_ack(&mut self, flow: usize, ack: &AckSeen<'_>) {
        let cwnd = ack.controller.map_or(0, |c| c.cwnd().get());
        let rtt = ack.rtt.map_or(0, |rtt| rtt.as_nanos());
        let rest = format!("{},{cwnd},{rtt}", ack.inflight.get());
        self.line(ack.now, "ack", flow, &rest);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut cc, mut seed) = ("bbr".to_string(), 1);
    let text = |text: &str| Value::String(text.to_string());
    let mut said = Table::from_iter([
        ("transport".to_string(), text("tcp")),
        ("duration".to_string(), text("30s")),
    ]);
    let mut words = std::env::args().skip(1);
    while let Some(flag) = words.next() {
        let value = words.next().ok_or_else(|| format!("{flag}: no value"))?;
        match flag.strip_prefix("--") {
            None => return Err(format!("{flag}: unknown").into()),
            Some("cc") => cc = value,
            Some("seed") => seed = value.parse()?,
            Some(name) => {
                let value = value.parse().map_or(text(&value), Value::Integer);
                said.insert(name.to_string(), value);
            }
        }
    }
    if said.contains_key("trace") && !said.contains_key("buffer") {
        said.insert("buffer".to_string(), text("inf"));
    }
    if said.contains_key("queue") {
        // As in ns-3, whose packets are not ECN-capable.
        said.insert("ecn".to_string(), text("off"));
    }
    let wrong = |problem: Problem| format!("--{}: {}", problem.at, problem.problem);
    let mut resolver = Resolver::default();
    let brief = Brief::new(said).map_err(wrong)?;
    let sections = brief.sections(&mut resolver, |_| ()).map_err(wrong)?;
    let setting = resolver.setting(&sections[0]).map_err(wrong)?;
    let contender = Contenders::default().parse(&cc)?;
    let config = setting.run_by(&contender).config(seed)?;
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "time_ns,event,flow,offset,in_flight,cwnd,rtt_ns")?;
    let mut log = Log(out);
    Simulation::new(config)?.run(&mut log);
    log.0.flush()?;
    Ok(())
}
