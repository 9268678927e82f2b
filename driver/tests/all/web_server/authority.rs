//! An authority of a test, the certificates of its servers, and servers without one.

use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;

use crate::scratch::Folder;

/// An authority that issues certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: Folder,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let folder = Folder::new("authority");
        let own = params.self_signed(&key).expect("a certificate");
        std::fs::write(folder.join("ca.pem"), own.pem()).expect("a file");
        Self {
            issuer: Issuer::new(params, key),
            folder,
        }
    }

    /// The file with its own certificate.
    pub fn file(&self) -> PathBuf {
        self.folder.join("ca.pem")
    }

    /// What a server needs that is known by `name` until the end of a year.
    pub fn server(&self, name: &str, last_year: i32) -> Arc<ServerConfig> {
        let key = KeyPair::generate().expect("a key");
        let params = params(name, last_year);
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        config(&certificate, &key)
    }
}

/// A server that has issued its certificate itself.
pub struct SelfSigned {
    pub config: Arc<ServerConfig>,
    folder: Folder,
}

impl SelfSigned {
    /// One that is known by `name` until the end of a year. Its certificate may be that of an authority, as
    /// `openssl req -x509` makes it.
    pub fn new(name: &str, last_year: i32, is_authority: bool) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = params(name, last_year);
        if is_authority {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        }
        let certificate = params.self_signed(&key).expect("a certificate");
        let folder = Folder::new("self-signed");
        std::fs::write(folder.join("ca.pem"), certificate.pem()).expect("a file");
        Self {
            config: config(&certificate, &key),
            folder,
        }
    }

    /// The file with its certificate.
    pub fn file(&self) -> PathBuf {
        self.folder.join("ca.pem")
    }
}

fn params(name: &str, last_year: i32) -> CertificateParams {
    let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(last_year, 12, 31);
    params
}

fn config(certificate: &Certificate, key: &KeyPair) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        );
    Arc::new(config.expect("a configuration"))
}
