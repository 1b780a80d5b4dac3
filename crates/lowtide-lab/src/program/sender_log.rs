//! What a program's own qlog says of its sender: window and flight, which no link can see.
//!
//! Read are qlog 0.3 and the drafts up to main-schema-14, as one JSON object (`traces`) or as records, a
//! line or an RFC 7464 text each. What is no event of these is passed over.

use serde::Deserialize;

/// The most samples that are kept of a log.
const MOST: usize = 1_000_000;

/// One moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Milliseconds from the log's first packet.
    pub(super) at_ms: f64,
    /// The window, bytes.
    pub(super) cwnd: Option<f64>,
    /// Data in flight, bytes.
    pub(super) inflight: Option<f64>,
}

/// A sender's log.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderLog {
    pub(super) samples: Vec<Sample>,
    /// Packets that it says were sent.
    pub sent: u64,
}

#[derive(Deserialize)]
struct Contained {
    traces: Vec<Trace>,
}

#[derive(Deserialize)]
struct Trace {
    events: Vec<Event>,
}

#[derive(Deserialize)]
struct Event {
    time: f64,
    name: String,
    #[serde(default)]
    data: Data,
}

/// The metrics; other events have none of these.
#[derive(Default, Deserialize)]
struct Data {
    #[serde(alias = "cwnd")]
    congestion_window: Option<f64>,
    bytes_in_flight: Option<f64>,
}

impl SenderLog {
    /// Reads a log; `None` of one that tells of no packet.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        const RECORD_SEPARATOR: u8 = 0x1e;
        let events: Box<dyn Iterator<Item = Event>> = match serde_json::from_slice(bytes) {
            Ok(Contained { traces }) => Box::new(traces.into_iter().flat_map(|t| t.events)),
            Err(_) => {
                let records = bytes.split(|b| *b == RECORD_SEPARATOR || *b == b'\n');
                Box::new(records.filter_map(|text| serde_json::from_slice(text).ok()))
            }
        };
        let (mut samples, mut sent, mut first) = (Vec::new(), 0, None);
        let known = |value: Option<f64>| value.filter(|v| v.is_finite() && *v >= 0.0);
        for event in events.filter(|event| event.time.is_finite()) {
            match event.name.rsplit(':').next().unwrap_or_default() {
                "packet_sent" => {
                    first = first.or(Some(event.time));
                    sent += 1;
                }
                "metrics_updated" | "recovery_metrics_updated" if samples.len() < MOST => {
                    samples.push(Sample {
                        at_ms: event.time,
                        cwnd: known(event.data.congestion_window),
                        inflight: known(event.data.bytes_in_flight),
                    });
                }
                _ => {}
            }
        }
        let first = first?;
        samples.iter_mut().for_each(|sample| sample.at_ms -= first);
        Some(Self { samples, sent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_all_forms_say_the_same() {
        let records = [
            r#"{"qlog_version":"0.3","trace":{"common_fields":{"reference_time":{"epoch":"unknown"}}}}"#,
            r#"{"time":5.0,"name":"recovery:metrics_updated","data":{"congestion_window":1}}"#,
            r#"{"time":10.5,"name":"transport:packet_sent","data":{"raw":{"length":1280}}}"#,
            r#"{"time":11.0,"name":"quic:recovery_metrics_updated","data":{"congestion_window":40960,"smoothed_rtt":20}}"#,
            r#"{"time":12.0,"name":"recovery:metrics_updated","data":{"bytes_in_flight":1280}}"#,
        ];
        let expected = [
            (-5.5, Some(1.0), None),
            (0.5, Some(40960.0), None),
            (1.5, None, Some(1280.0)),
        ];
        let lines = records.join("\n");
        let texts: String = records.map(|r| format!("\u{1e}{r}\n")).concat();
        let events = records[1..].join(",").replace("congestion_window", "cwnd");
        let whole = format!(r#"{{"qlog_version":"0.3","traces":[{{"events":[{events}]}}]}}"#);
        for text in [lines, texts, whole] {
            let log = SenderLog::parse(text.as_bytes()).unwrap();
            assert_eq!(log.sent, 1);
            let found: Vec<_> = log
                .samples
                .iter()
                .map(|s| (s.at_ms, s.cwnd, s.inflight))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_log_is_none_and_what_is_cut_off_is_read_so_far() {
        for text in [
            "",
            "{",
            "[1, 2]",
            "{\"traces\": 7}",
            "\u{1e}\u{1e}\n\n",
            "null",
        ] {
            assert_eq!(SenderLog::parse(text.as_bytes()), None, "{text}");
        }
        let cut = b"{\"time\":1,\"name\":\"quic:packet_sent\"}\n{\"time\":2,\"name\":\"quic:pack";
        assert_eq!(SenderLog::parse(cut).unwrap().sent, 1);
        let strange = br#"{"time":1,"name":"packet_sent","data":{}}
            {"time":-1e300,"name":"metrics_updated","data":{"cwnd":-4,"bytes_in_flight":1e300}}"#;
        let log = SenderLog::parse(strange).unwrap();
        assert_eq!(log.samples[0].cwnd, None);
    }
}
