//! Writes a line for each event of a TCP simulation, with the columns of `lowtide-ns3 --log`, to
//! compare the two engines packet by packet (`ns3/compare_logs.py`).
//!
//! ```sh
//! cargo run --release -p lowtide-lab --example packet_log -- \
//!     --cc bbr --rate 10mbit --rtt 20ms --buffer 2bdp --flows 2 --duration 30s > sim.csv
//! ```

use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use lowtide_cc::units::quantity;
use lowtide_cc::units::{Bytes, Time};
use lowtide_lab::contender::Contenders;
use lowtide_lab::files;
use lowtide_lab::setting::{LinkSource, Setting};
use lowtide_sim::impairment::LossModel;
use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY};
use lowtide_sim::probe::{AckSeen, DropCause, LossSeen, Sent};
use lowtide_sim::queue::{self, QueueKind, QueueLimit};
use lowtide_sim::trace;
use lowtide_sim::transport::{EcnFeedback, TransportConfig};
use lowtide_sim::{Probe, Simulation};

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
    let (mut cc, mut seed, mut buffer) = ("bbr".to_string(), 1, None);
    let mut setting = None;
    let mut changes: Vec<(String, String)> = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(flag) = words.next() {
        let value = words.next().ok_or_else(|| format!("{flag}: no value"))?;
        let on = |link: Link| Some(Setting::on_link(&value, LinkSource::Fixed(Arc::new(link))));
        match flag.as_str() {
            "--cc" => cc = value,
            "--seed" => seed = value.parse()?,
            "--buffer" => buffer = Some(queue::parse(&value)?),
            "--rate" => {
                setting = on(Link::constant(quantity::rate(&value)?)?);
                buffer = buffer.or(Some(QueueLimit::Bdp(2.0)));
            }
            "--trace" => {
                setting = on({
                    let file = Path::new(&value);
                    let bytes = files::read(file, files::TRACE)?;
                    trace::parse(Some(file), &bytes, MAHIMAHI_OPPORTUNITY)?
                })
            }
            _ => changes.push((flag, value)),
        }
    }
    let mut setting = setting.ok_or("one of --rate and --trace is needed")?;
    if let Some(buffer) = buffer {
        setting = setting.with_buffer(buffer);
    }
    for (flag, value) in changes {
        match flag.as_str() {
            "--rtt" => setting = setting.with_rtt(quantity::duration(&value)?),
            "--duration" => setting.duration = quantity::duration(&value)?,
            "--flows" => setting = setting.with_flows(value.parse()?),
            "--loss" => setting.forward.loss = LossModel::Random(quantity::probability(&value)?),
            "--queue" => {
                setting.forward.queue = QueueKind::parse(&value)?;
                // As in ns-3, whose packets are not ECN-capable.
                for group in &mut setting.groups {
                    group.ecn = EcnFeedback::Off;
                }
            }
            _ => return Err(format!("{flag}: unknown").into()),
        }
    }
    let contender = Contenders::default().parse(&cc)?;
    let setting = setting.over(TransportConfig::tcp());
    let config = setting.run_by(&contender).config(seed)?;
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "time_ns,event,flow,offset,in_flight,cwnd,rtt_ns")?;
    let mut log = Log(out);
    Simulation::new(config)?.run(&mut log);
    log.0.flush()?;
    Ok(())
}
