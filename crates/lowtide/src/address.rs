//! Addresses as people write them.

use std::net::{SocketAddr, ToSocketAddrs};

use crate::failure::Failure;

/// `host` (at this port), `host:port`, `address:port`, `[address]:port`; an `https://` before it is ignored.
pub(crate) fn resolve(text: &str, port: u16) -> Result<SocketAddr, Failure> {
    let plain = text.trim_start_matches("https://").trim_end_matches('/');
    let found = match plain.to_socket_addrs() {
        Ok(found) => Ok(found),
        Err(e) if plain.parse::<std::net::IpAddr>().is_err() && plain.contains(':') => Err(e),
        Err(_) => (plain.trim_matches(['[', ']']), port).to_socket_addrs(),
    };
    found
        .ok()
        .and_then(|mut all| all.next())
        .ok_or_else(|| Failure::input(format!("'{text}': no such address; write host:port")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_are_written() {
        for (text, socket) in [
            ("127.0.0.1", "127.0.0.1:4455"),
            ("127.0.0.1:9", "127.0.0.1:9"),
            ("[::1]:9", "[::1]:9"),
            ("::1", "[::1]:4455"),
            ("https://127.0.0.1:443/", "127.0.0.1:443"),
        ] {
            let found = resolve(text, 4455).map_err(|e| e.to_string());
            assert_eq!(found, Ok(socket.parse().unwrap()), "{text}");
        }
        let problem = resolve("127.0.0.1:http:x", 4455).unwrap_err().to_string();
        assert!(problem.contains("host:port"), "{problem}");
    }
}
