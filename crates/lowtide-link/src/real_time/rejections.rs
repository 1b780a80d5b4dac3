//! Errors of UDP sockets: those of one packet or one peer, and those of the socket itself.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use nix::errno::Errno;

/// Whether an error is about one packet or one destination, so that the socket serves all others.
/// Whoever is on the way can cause such errors: ICMP messages have ECONNREFUSED, EMSGSIZE, EACCES,
/// ENOPROTOOPT, EPROTO, EHOSTDOWN, ENONET, EOPNOTSUPP and more (`net/ipv4/icmp.c`,
/// `net/ipv6/icmp.c`), and routes and firewalls have theirs. Hence all are, but those of a
/// descriptor that is no socket.
pub(crate) fn is_of_one_packet(e: &io::Error) -> bool {
    let unusable = [Errno::EBADF, Errno::ENOTSOCK].map(|errno| errno as i32);
    e.raw_os_error().is_some_and(|raw| !unusable.contains(&raw))
}

/// Packets that were sent on and then rejected on their way, by the number of the error.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rejections(Arc<Mutex<BTreeMap<i32, u64>>>);

impl Rejections {
    /// Takes what came instead of a packet: counts a rejection, and fails when no packet can ever
    /// come.
    pub(crate) fn take(&self, e: io::Error) -> io::Result<()> {
        match e.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(()),
            _ if is_of_one_packet(&e) => {
                self.count(&e);
                Ok(())
            }
            _ => Err(e),
        }
    }

    /// Counts the packet that an error is about.
    pub(crate) fn count(&self, e: &io::Error) {
        if let Some(raw) = e.raw_os_error() {
            let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            *counts.entry(raw).or_default() += 1;
        }
    }

    /// How many there were, by the name of the error.
    pub(crate) fn by_error(&self) -> BTreeMap<String, u64> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let named = |(raw, count): (&i32, &u64)| (format!("{:?}", Errno::from_raw(*raw)), *count);
        counts.iter().map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unusable_socket_is_fatal_and_all_else_is_counted_by_name() {
        let rejections = Rejections::default();
        let take = |errno: Errno| rejections.take(errno.into());
        for errno in [Errno::EAGAIN, Errno::EINTR] {
            take(errno).unwrap();
        }
        assert!(rejections.by_error().is_empty());
        let of_one = [
            Errno::EMSGSIZE,
            Errno::EACCES,
            Errno::ENOPROTOOPT,
            Errno::EPROTO,
            Errno::EHOSTDOWN,
            Errno::ENONET,
            Errno::EOPNOTSUPP,
            Errno::ECONNREFUSED,
            Errno::ENETUNREACH,
            Errno::EHOSTUNREACH,
            Errno::EPERM,
            Errno::ENOBUFS,
            Errno::ENOMEM,
        ];
        for errno in of_one {
            take(errno).unwrap();
        }
        take(Errno::EMSGSIZE).unwrap();
        let counts = rejections.by_error();
        assert_eq!(counts.len(), of_one.len(), "{counts:?}");
        assert_eq!((counts["EMSGSIZE"], counts["EPROTO"]), (2, 1));
        for errno in [Errno::EBADF, Errno::ENOTSOCK] {
            assert!(take(errno).is_err(), "{errno}");
        }
    }
}
