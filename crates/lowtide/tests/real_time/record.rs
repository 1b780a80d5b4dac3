//! `lowtide record` and the server that answers it, as a user meets them.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::namespaces_work;
use crate::program::{Place, command};

/// A server of recorders, ended with the test.
struct Server(Child, String);

impl Server {
    fn start(place: &Place, flags: &str) -> Self {
        let serve = format!("serve --record=127.0.0.1:0 --only {flags}");
        let mut child = place
            .command(&serve)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        said.read_line(&mut line).unwrap();
        let address = line
            .split_whitespace()
            .find(|word| word.contains("127.0.0.1:"));
        Self(
            child,
            address.unwrap_or_else(|| panic!("{line}")).to_string(),
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn json(place: &Place, name: &str) -> Value {
    serde_json::from_str(&place.read(name)).unwrap()
}

#[test]
fn a_link_is_recorded_and_its_files_are_traces() {
    if !namespaces_work() {
        return;
    }
    let place = Place::new();
    let program = command("").get_program().to_str().unwrap().to_string();
    let record = "record $LOWTIDE_LINK_PEER --duration 2s --max-rate 50mbit --packets -o home";
    let link = "link --rate 10mbit --rtt 40ms --buffer inf";
    let ends = format!("--peer '{program} serve --record --only' -- sh -c '{program} {record}'");
    place.run(&format!("{link} {ends}")).ok();
    let how = json(&place, "home.json");
    let mean = how["down"]["mean_mbps"].as_f64().unwrap();
    // More than the link carries nobody can see; less on a busy machine.
    assert!((0.5..=10.5).contains(&mean), "{mean}");
    let rtt = how["base_rtt_ms"].as_f64().unwrap();
    assert!(rtt >= 40.0, "{rtt}");
    place.run("trace info home.down").ok();
    place.run("trace info home.down.csv").ok();
    place
        .run("compare --trace home.down --delay-trace home.down.delay.csv --duration 1s")
        .ok();
    let plain = place.run("trace convert home.down --to mahimahi").ok().out;
    assert!(!plain.contains('#'));
    assert!(place.read("home.down.packets.csv").starts_with("time_us,"));
}

#[test]
fn a_server_with_a_secret_records_for_those_who_know_it() {
    let place = Place::with("secret", "what both ends know\n");
    place.write("other", "what one end believes\n");
    place.write("short", "short\n");
    let server = Server::start(&place, "--token-file secret");
    let record = format!(
        "record {} -o x --up --max-rate 1mbit --duration 1s",
        server.1
    );
    let rows = "=> --token-file
                --token-file other => --token-file
                --token-file short => 16 characters";
    place.refuses(&record, rows);
    assert!(!place.at("x.json").exists());
    place.run(&format!("{record} --token-file secret")).ok();
    assert!(json(&place, "x.json")["up"]["received_packets"].as_u64() > Some(10));
}

#[test]
fn what_may_cost_much_wants_a_yes_and_what_cannot_be_written_is_said_first() {
    let rows = "-o x --max-volume 9GB --duration 10min => --yes | MB
                -o /proc/nowhere/x => /proc/nowhere/x.json";
    Place::new().refuses("record 127.0.0.1:9", rows);
}
