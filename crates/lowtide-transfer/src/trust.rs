//! Which servers a client trusts.
//!
//! `serve` makes its own certificate, which nobody can check. A measurement sends zeros, so that any
//! server will do unless the user names a certificate.

use std::path::Path;
use std::sync::Arc;

use lowtide_lab::files;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use s2n_quic::provider::tls::rustls::Client;

use crate::Error;
use crate::protocol::ALPN;

/// A client that trusts the certificate in `file`, or else any.
pub(crate) fn client(file: Option<&Path>) -> Result<Client, Error> {
    let Some(file) = file else {
        return any().map_err(|e| Error::Failed(format!("TLS: {e}")));
    };
    let failed = |e: &dyn std::fmt::Display| Error::Input(format!("{}: {e}", file.display()));
    let pem = files::read(file, files::CERTIFICATE)
        .and_then(|pem| files::text(file, pem))
        .map_err(Error::input)?;
    let builder = Client::builder()
        .with_certificate(pem)
        .map_err(|e| failed(&e))?;
    let builder = builder
        .with_application_protocols([ALPN].into_iter())
        .map_err(|e| failed(&e))?;
    builder.build().map_err(|e| failed(&e))
}

/// A client that trusts any server, for zeros.
///
/// # Errors
/// When the cryptography has no TLS 1.3.
pub fn any() -> Result<Client, rustls::Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyServer(provider)))
        .with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(Client::from(config))
}

/// Checks that the server owns the certificate it shows, but not whose that is.
#[derive(Debug)]
struct AnyServer(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
