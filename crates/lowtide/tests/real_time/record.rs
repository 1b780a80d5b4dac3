//! `lowtide record` and the server that answers it, as a user meets them.

use std::io::{BufRead as _, BufReader};

use crate::namespaces_work;
use crate::program::{Begun, Folder, command, number};

/// A server of recorders, and its address.
fn serve(folder: &Folder, flags: &str) -> (Begun, String) {
    let mut server = folder.begin(&format!("serve --record=127.0.0.1:0 --only {flags}"));
    let mut said = BufReader::new(server.child().stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let address = line
        .split_whitespace()
        .find(|word| word.contains("127.0.0.1:"));
    let address = address.unwrap_or_else(|| panic!("{line}")).to_string();
    (server, address)
}

#[test]
fn a_link_is_recorded_and_its_files_are_traces() {
    if !namespaces_work() {
        return;
    }
    let folder = Folder::new();
    let program = command("").get_program().to_str().unwrap().to_string();
    let record = "record $LOWTIDE_LINK_PEER --duration 2s --max-rate 50mbit --packets -o home";
    let link = "link --rate 10mbit --rtt 40ms --buffer inf";
    let ends = format!("--peer '{program} serve --record --only' -- sh -c '{program} {record}'");
    folder.ok(&format!("{link} {ends}"));
    let how = folder.json("home.json");
    let mean = number(&how, "down.mean_mbps");
    // More than the link carries nobody can see; less on a busy machine.
    assert!((0.5..=10.5).contains(&mean), "{mean}");
    let rtt = number(&how, "base_rtt_ms");
    assert!(rtt >= 40.0, "{rtt}");
    folder.ok("trace info home.down");
    folder.ok("trace info home.down.csv");
    folder.ok("compare --trace home.down --delay-trace home.down.delay.csv --duration 1s");
    let plain = folder.ok("trace convert home.down --to mahimahi").out;
    assert!(!plain.contains('#'));
    assert!(folder.read("home.down.packets.csv").starts_with("time_us,"));
}

#[test]
fn a_server_with_a_secret_records_for_those_who_know_it() {
    let folder = Folder::with("secret", "what both ends know\n");
    folder.write("other", "what one end believes\n");
    folder.write("short", "short\n");
    let (_server, address) = serve(&folder, "--token-file secret");
    let record = format!("record {address} -o x --up --max-rate 1mbit --duration 1s");
    let rows = "=> --token-file
                --token-file other => --token-file
                --token-file short => 16 characters";
    folder.refuses(&record, rows);
    assert!(!folder.at("x.json").exists());
    folder.ok(&format!("{record} --token-file secret"));
    assert!(number(&folder.json("x.json"), "up.received_packets") > 10.0);
}

#[test]
fn what_may_cost_much_wants_a_yes_and_what_cannot_be_written_is_said_first() {
    let rows = "-o x --max-volume 9GB --duration 10min => --yes | MB
                -o /proc/nowhere/x => /proc/nowhere/x.json";
    Folder::new().refuses("record 127.0.0.1:9", rows);
}
