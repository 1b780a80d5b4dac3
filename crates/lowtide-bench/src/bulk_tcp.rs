//! A bulk transfer over the kernel's TCP, with a controller of the kernel's: what others are held
//! against on a real link. Two processes, as any program that is scored.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::str::FromStr;

use lowtide_link::Error;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket, sockopt};

/// The first argument of such a process.
const NAME: &str = "bulk-tcp";

/// What is written or read at a time.
const CHUNK: usize = 64 << 10;

/// Whether the kernel has a controller.
pub(crate) fn check(controller: &str) -> io::Result<()> {
    let (flags, tcp) = (SockFlag::SOCK_CLOEXEC, SockType::Stream);
    let socket = socket(AddressFamily::Inet, tcp, flags, None)?;
    setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(controller))?;
    Ok(())
}

/// Sends or fetches, where a process of these arguments is to do that. Programs that [`execute`](crate::execute) call
/// this first of all.
#[must_use]
pub fn bulk_tcp_if_asked(arguments: &[OsString]) -> Option<Result<(), Error>> {
    match arguments {
        [_, name, rest @ ..] if name == NAME => Some(run(rest)),
        _ => None,
    }
}

/// Sends, or fetches, as the arguments say.
fn run(arguments: &[OsString]) -> Result<(), Error> {
    fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, Error> {
        text.parse().map_err(Error::input)
    }
    let arguments: Vec<_> = arguments.iter().map(|a| a.to_string_lossy()).collect();
    let arguments: Vec<&str> = arguments.iter().map(|a| &**a).collect();
    match arguments.as_slice() {
        ["send", at, controller, bytes] => send(parsed(at)?, controller, parsed(bytes)?)?,
        ["fetch", host, at] => fetch(parsed(host)?, parsed(at)?)?,
        _ => {
            return Err(Error::Input(format!(
                "{NAME} is started by 'lowtide score --link', and by nobody else"
            )));
        }
    }
    Ok(())
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
