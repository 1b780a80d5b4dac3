//! A bulk transfer over the kernel's TCP, with a controller of the kernel's: what others are held
//! against on a real link. Two processes, as any program that is scored.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket, sockopt};

use crate::failure::Failure;

/// The first argument of such a process.
const NAME: &str = "bulk-tcp";

/// What is written or read at a time.
const CHUNK: usize = 64 << 10;

/// Whether the kernel has a controller.
pub(super) fn check(controller: &str) -> io::Result<()> {
    let (flags, tcp) = (SockFlag::SOCK_CLOEXEC, SockType::Stream);
    let socket = socket(AddressFamily::Inet, tcp, flags, None)?;
    setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(controller))?;
    Ok(())
}

/// What it is to do, where a process of these arguments is to be one of these.
pub(crate) fn asked_for(arguments: &[OsString]) -> Option<Vec<String>> {
    let (_, rest) = arguments.split_first()?;
    let (name, rest) = rest.split_first()?;
    let text = |argument: &OsString| argument.to_string_lossy().into_owned();
    (name == NAME).then(|| rest.iter().map(text).collect())
}

/// Sends, or fetches, as the arguments say.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<u64>().map_err(Failure::input);
    let port = |text: &str| text.parse::<u16>().map_err(Failure::input);
    match arguments.as_slice() {
        ["send", at, controller, bytes] => send(port(at)?, controller, number(bytes)?),
        ["fetch", host, at] => {
            let host: Ipv4Addr = host.parse().map_err(Failure::input)?;
            fetch(host, port(at)?)
        }
        _ => {
            return Err(Failure::input(format!(
                "{NAME} is started by 'lowtide score --link', and by nobody else"
            )));
        }
    }
    .map_err(Failure::run)
}

/// Sends so much to each client, one after the other, and closes.
fn send(port: u16, controller: &str, bytes: u64) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))?;
    // Connections inherit it.
    setsockopt(
        &listener,
        sockopt::TcpCongestion,
        &OsString::from(controller),
    )?;
    loop {
        let (mut client, _) = listener.accept()?;
        let sent = io::copy(&mut io::repeat(0).take(bytes), &mut client);
        // A client may end before it has all.
        let _ = sent.and_then(|_| client.flush());
    }
}

/// Takes all that is sent.
fn fetch(host: Ipv4Addr, port: u16) -> io::Result<()> {
    let mut server = TcpStream::connect((host, port))?;
    let mut buffer = vec![0; CHUNK];
    while server.read(&mut buffer)? > 0 {}
    Ok(())
}
