//! Keys, tags and cookies, all of keyed BLAKE3.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use lowtide_cc::units::{Duration, Time};

/// Bytes of a tag.
pub(crate) const TAG: usize = 16;
/// Bytes of a nonce.
pub(crate) const NONCE: usize = 16;
/// Bytes of a cookie.
pub(crate) const COOKIE: usize = 8 + TAG;

/// How long an address may take from its challenge to its start.
pub(crate) const COOKIE_LIFE: Duration = Duration::from_secs(10);

pub(crate) type Nonce = [u8; NONCE];
pub(crate) type Cookie = [u8; COOKIE];

/// A secret; not shown by `Debug`.
#[derive(Clone)]
pub(crate) struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    fn hash(&self, parts: &[&[u8]]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in parts {
            hasher.update(part);
        }
        hasher.finalize()
    }

    /// A key for one purpose.
    pub(crate) fn derive(&self, purpose: &str, parts: &[&[u8]]) -> Self {
        let inner = Self(*self.hash(&[purpose.as_bytes(), b"\0"]).as_bytes());
        Self(*inner.hash(parts).as_bytes())
    }

    pub(crate) fn tag(&self, message: &[u8]) -> [u8; TAG] {
        let hash = blake3::keyed_hash(&self.0, message);
        let mut tag = [0; TAG];
        tag.copy_from_slice(&hash.as_bytes()[..TAG]);
        tag
    }

    /// Whether a tag is right, in a time that says nothing about it.
    pub(crate) fn fits(&self, message: &[u8], tag: &[u8]) -> bool {
        let mut whole = [0; 32];
        if tag.len() != TAG {
            return false;
        }
        let hash = blake3::keyed_hash(&self.0, message);
        whole[..TAG].copy_from_slice(tag);
        whole[TAG..].copy_from_slice(&hash.as_bytes()[TAG..]);
        // The comparison of `Hash` takes the same time for all.
        hash == blake3::Hash::from_bytes(whole)
    }

    /// Something that nobody without the key can say of a number.
    pub(crate) fn proof(&self, number: u32) -> u64 {
        let hash = blake3::keyed_hash(&self.0, &number.to_le_bytes());
        u64::from_le_bytes(std::array::from_fn(|n| hash.as_bytes()[n]))
    }

    /// What shows that an address receives: of it, of the time, and of the client's nonce.
    pub(crate) fn cookie(&self, now: Time, from: SocketAddr, nonce: &Nonce) -> Cookie {
        let at = now.as_nanos().to_le_bytes();
        let mut cookie = [0; COOKIE];
        cookie[..8].copy_from_slice(&at);
        cookie[8..].copy_from_slice(&self.tag(&cookie_message(&at, from, nonce)));
        cookie
    }

    /// Whether a cookie is of this address and nonce, and not too old.
    pub(crate) fn accepts(
        &self,
        now: Time,
        from: SocketAddr,
        nonce: &Nonce,
        cookie: &Cookie,
    ) -> bool {
        let (at, tag) = cookie.split_at(8);
        let made = Time::from_nanos(u64::from_le_bytes(std::array::from_fn(|n| at[n])));
        made <= now
            && now.since(made) <= COOKIE_LIFE
            && self.fits(&cookie_message(at, from, nonce), tag)
    }
}

fn cookie_message(at: &[u8], from: SocketAddr, nonce: &Nonce) -> Vec<u8> {
    let mut message = Vec::with_capacity(64);
    message.extend_from_slice(at);
    match from.ip().to_canonical() {
        IpAddr::V4(ip) => message.extend_from_slice(&ip.octets()),
        IpAddr::V6(ip) => message.extend_from_slice(&ip.octets()),
    }
    message.extend_from_slice(&from.port().to_le_bytes());
    message.extend_from_slice(nonce);
    message
}

/// A secret that both ends know, or none.
#[derive(Clone, Debug)]
pub struct Token(Key);

impl Token {
    /// The least characters of a secret: what an attacker sees on the way lets it try secrets at home.
    pub const LEAST: usize = 16;

    /// No secret: whoever receives at its address may record.
    #[must_use]
    pub fn none() -> Self {
        Self(Key::new(blake3::derive_key("lowtide record 1 token", b"")))
    }

    /// A secret; `None` where it is shorter than [`Token::LEAST`].
    #[must_use]
    pub fn of(secret: &str) -> Option<Self> {
        let bytes = secret.trim().as_bytes();
        let key = || Key::new(blake3::derive_key("lowtide record 1 token", bytes));
        (bytes.len() >= Self::LEAST).then(|| Self(key()))
    }

    pub(crate) fn key(&self) -> &Key {
        &self.0
    }

    /// The keys of a session, of what the server and of what the client sends.
    pub(crate) fn session(&self, client: &Nonce, server: &Nonce) -> [Key; 2] {
        ["from server", "from client"].map(|end| self.0.derive(end, &[client, server]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_of_one_address_one_nonce_and_ten_seconds() {
        let key = Key::new([7; 32]);
        let at = Time::from_nanos(5_000_000_000);
        let here: SocketAddr = "192.0.2.1:4000".parse().unwrap();
        let cookie = key.cookie(at, here, &[1; NONCE]);
        assert!(key.accepts(at + COOKIE_LIFE, here, &[1; NONCE], &cookie));
        let later = at + COOKIE_LIFE + Duration::from_millis(1);
        assert!(!key.accepts(later, here, &[1; NONCE], &cookie));
        assert!(!key.accepts(Time::ZERO, here, &[1; NONCE], &cookie));
        for there in ["192.0.2.1:4001", "192.0.2.2:4000"] {
            assert!(!key.accepts(at, there.parse().unwrap(), &[1; NONCE], &cookie));
        }
        assert!(!key.accepts(at, here, &[2; NONCE], &cookie));
        let mut forged = cookie;
        forged[0] ^= 1;
        assert!(!key.accepts(at, here, &[1; NONCE], &forged));
        assert!(!Key::new([8; 32]).accepts(at, here, &[1; NONCE], &cookie));
    }

    #[test]
    fn short_secrets_are_refused_and_different_ones_make_different_keys() {
        assert!(Token::of("fifteen letters").is_none());
        let keys = |secret: &str| {
            let token = Token::of(secret).unwrap();
            let keys = token.session(&[1; NONCE], &[2; NONCE]);
            keys.map(|key| key.tag(b"x"))
        };
        let [server, client] = keys("sixteen letters!");
        assert_ne!(client, server);
        assert_ne!(client, keys("sixteen letters?")[1]);
    }
}
