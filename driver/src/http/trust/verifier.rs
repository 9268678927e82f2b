//! How the certificate of a server is checked.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{VerifierBuilderError, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// Checks as rustls does, with one exception, which `openssl req -x509` makes common: a server may show the
/// certificate of an authority as its own if the user has named that very certificate. Its time and its name
/// are checked like those of any other. Browsers, curl and OpenSSL take it, too.
#[derive(Debug)]
pub struct Verifier {
    usual: Arc<WebPkiServerVerifier>,
    /// Certificates that the user has named.
    named: Vec<CertificateDer<'static>>,
}

impl Verifier {
    /// One that trusts what `roots` have issued, and the certificates that are `named` themselves.
    ///
    /// # Errors
    /// That there are no roots.
    pub fn new(
        roots: RootCertStore,
        named: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, VerifierBuilderError> {
        let roots = Arc::new(roots);
        let usual = WebPkiServerVerifier::builder_with_provider(roots, provider).build()?;
        Ok(Self { usual, named })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let usual = &self.usual;
        let checked =
            usual.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match checked {
            // webpki looks at the time before it looks whose certificate it is; the name is left to check.
            Err(error) if is_of_an_authority(&error) && self.named.contains(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            checked => checked,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}

/// Whether a server shows the certificate of an authority as its own. rustls has no kind for that: webpki's
/// own error is within.
pub fn is_of_an_authority(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(other)) = error else {
        return false;
    };
    matches!(
        other.0.downcast_ref(),
        Some(webpki::Error::CaUsedAsEndEntity)
    )
}
