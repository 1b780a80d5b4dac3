//! A certificate that an endpoint makes for itself.

use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};

/// A certificate and its key.
#[derive(Clone, Debug)]
pub struct SelfSigned {
    /// The certificate, PEM.
    pub certificate: String,
    /// The certificate's private key, PEM.
    pub key: String,
}

impl SelfSigned {
    /// A new one for `names`: host names or addresses. Ed25519, whose signatures are all of one
    /// size, so that handshakes are too.
    ///
    /// # Errors
    /// When a name is neither, or there is no randomness.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Result<Self, rcgen::Error> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let key = KeyPair::generate_for(&PKCS_ED25519)?;
        let certificate = CertificateParams::new(names)?.self_signed(&key)?;
        Ok(Self {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }
}
