//! Server and recorder without the command line, for measurements of this crate alone:
//!
//! ```sh
//! cargo run -p lowtide-record --example recorder -- serve 0.0.0.0:4456
//! cargo run -p lowtide-record --example recorder -- record 127.0.0.1:4456 10 500 NAME
//! ```

use std::{env, fs};

use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_record::{Limits, Plan, QueueBand, Recording, Token, files, run};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["serve", address] => {
            let address = address.parse().expect("an address");
            let listening = run::Listening::bind(address, Limits::default(), Token::none());
            let listening = listening.expect("a socket");
            listening.serve(|| false, |_| ()).expect("it serves");
        }
        ["record", server, seconds, mbps, name] => {
            let plan = Plan {
                down: true,
                up: false,
                duration: Duration::from_secs(seconds.parse().expect("seconds")),
                max_rate: Rate::from_mbps(mbps.parse().expect("Mbit/s")),
                max_volume: Bytes::new(4_000_000_000),
                queue: QueueBand::default(),
                packet: 1400,
            };
            let server = server.parse().expect("an address");
            let noted = run::record(plan, Token::none(), server, || false, |_| ());
            let noted = noted.expect("a recording");
            let recording = Recording::of(&noted).expect("something came");
            let way = recording.down.as_ref().expect("the way down");
            let origin = files::Origin {
                server: server.to_string(),
                unix_time_s: 0,
                kernel_times: run::KERNEL_TIMES,
            };
            let json = files::json(&recording, &origin).expect("JSON");
            print!("{}", String::from_utf8_lossy(&json));
            fs::write(format!("{name}.down"), files::opportunities(way, "down")).expect("a file");
        }
        _ => panic!("serve ADDRESS, or record ADDRESS SECONDS MBIT NAME"),
    }
}
