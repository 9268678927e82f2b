//! Whom TLS trusts, and what is told when it does not.

mod verifier;

use std::path::Path;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, ClientConfig, Error, RootCertStore};

use self::verifier::{Verifier, is_of_an_authority};
use super::fault::Class;

/// TLS 1.2 and 1.3 that trusts the authorities in the file `ca` (PEM), or without it those of this machine.
/// A server may show a certificate of the file as its own.
///
/// Every connection makes a whole handshake: one configuration serves all users, and a session that one of
/// them began is not resumed by another.
///
/// # Errors
/// One line: the file cannot be read or holds no certificate; this machine trusts no authority.
pub fn client_config(ca: Option<&Path>) -> Result<Arc<ClientConfig>, String> {
    let (roots, named) = match ca {
        Some(path) => roots_of(path)?,
        None => (roots_of_machine()?, Vec::new()),
    };
    let unusable = |error: &dyn std::error::Error| format!("TLS cannot be used: {error}");
    let provider = Arc::new(ring::default_provider());
    let verifier =
        Verifier::new(roots, named, Arc::clone(&provider)).map_err(|error| unusable(&error))?;
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error))?;
    let mut config = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// The class of a failure of TLS.
pub fn class_of(error: &Error) -> Class {
    let Error::InvalidCertificate(problem) = error else {
        return Class::Tls;
    };
    match problem {
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => Class::TlsExpired,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Class::TlsName
        }
        CertificateError::UnknownIssuer => Class::TlsAuthority,
        _ if is_of_an_authority(error) => Class::TlsAuthority,
        _ => Class::Tls,
    }
}

/// What is wrong, in words.
pub fn words_of(error: &Error) -> String {
    if is_of_an_authority(error) {
        return "the server shows a certificate of an authority as its own, which `ca` does not \
                name"
            .into();
    }
    error.to_string()
}

/// The authorities of a file, and their certificates as they stand there.
fn roots_of(path: &Path) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), String> {
    let shown = path.display();
    let pem = std::fs::read(path)
        .map_err(|error| format!("cannot read {shown}: {error}; give a file of certificates"))?;
    let (mut roots, mut named) = (RootCertStore::empty(), Vec::new());
    for (index, certificate) in CertificateDer::pem_slice_iter(&pem).enumerate() {
        let wrong = |reason: &str| {
            let number = index + 1;
            format!("certificate {number} in {shown} cannot be used: {reason}")
        };
        // What the parser says of PEM may quote the file, which may be a key by mistake.
        let certificate = certificate.map_err(|_| wrong("it is malformed or torn"))?;
        roots
            .add(certificate.clone())
            .map_err(|error| wrong(&error.to_string()))?;
        named.push(certificate);
    }
    if roots.is_empty() {
        return Err(format!(
            "{shown} holds no certificate in PEM (-----BEGIN CERTIFICATE-----); \
             give a file of certificates"
        ));
    }
    Ok((roots, named))
}

fn roots_of_machine() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first();
        let why = why.map(|error| format!(" ({error})")).unwrap_or_default();
        return Err(format!(
            "this machine trusts no authority{why}; install ca-certificates or give `ca`"
        ));
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use rustls::AlertDescription;

    use super::*;

    /// A file that goes when it is dropped.
    struct File(PathBuf);

    impl File {
        fn new(name: &str, content: &str) -> Self {
            let name = format!("loadstone-trust-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, content).expect("a temporary file");
            Self(path)
        }
    }

    impl Drop for File {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn certificate(name: &str) -> String {
        let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]);
        made.expect("a certificate").cert.pem()
    }

    #[test]
    fn a_file_may_hold_several_certificates() {
        let (one, two) = (certificate("one.example"), certificate("two.example"));
        let file = File::new("several", &format!("# ours\n{one}\n{two}"));
        assert_eq!(roots_of(&file.0).expect("certificates").0.len(), 2);
        let config = client_config(Some(&file.0)).expect("a configuration");
        assert_eq!(config.alpn_protocols, [b"http/1.1"]);
    }

    #[test]
    fn a_file_that_cannot_be_used_is_told_in_one_line() {
        let key = "-----BEGIN PRIVATE KEY-----\naGlkZGVu\n-----END PRIVATE KEY-----\n";
        let wrong = "-----BEGIN CERTIFICATE-----\naGlkZGVu\n-----END CERTIFICATE-----\n";
        let torn = "-----BEGIN CERTIFICATE-----\naGlk";
        for (name, content, expected) in [
            ("empty", "", "holds no certificate"),
            ("text", "hidden", "holds no certificate"),
            ("key", key, "holds no certificate"),
            ("wrong", wrong, "certificate 1 in"),
            ("torn", torn, "certificate 1 in"),
        ] {
            let file = File::new(name, content);
            let problem = client_config(Some(&file.0)).expect_err(name);
            assert!(problem.contains(expected), "{name}: {problem}");
            assert!(
                problem.contains(file.0.to_str().expect("text")),
                "{problem}"
            );
            assert!(
                !problem.contains('\n') && !problem.contains("hidden"),
                "{problem}"
            );
        }
        let missing = Path::new("no-such-folder/ca.pem");
        let problem = client_config(Some(missing)).expect_err("missing");
        assert!(
            problem.starts_with("cannot read no-such-folder/ca.pem: "),
            "{problem}"
        );
    }

    #[test]
    fn what_is_wrong_with_a_certificate_has_a_class() {
        for (problem, class) in [
            (CertificateError::Expired, Class::TlsExpired),
            (CertificateError::NotValidYet, Class::TlsExpired),
            (CertificateError::NotValidForName, Class::TlsName),
            (CertificateError::UnknownIssuer, Class::TlsAuthority),
            (CertificateError::Revoked, Class::Tls),
            (CertificateError::BadSignature, Class::Tls),
        ] {
            assert_eq!(class_of(&Error::InvalidCertificate(problem)), class);
        }
        let alert = Error::AlertReceived(AlertDescription::HandshakeFailure);
        assert_eq!(class_of(&alert), Class::Tls);
    }
}
