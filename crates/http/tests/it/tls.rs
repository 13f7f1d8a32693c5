//! Who is trusted, and what stands in between.

use std::sync::Arc;

use fro_core::Fault;
use fro_http::{Client, ClientSettings, Proxy, Roots};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::net::TcpListener;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer},
};

use crate::server::{Server, answer};

/// Starts an HTTPS server for `localhost`; returns its address and the certificate that vouches for it.
async fn https() -> (String, String) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    let server = Server::playing([answer(200, &[], "covered"), answer(200, &[], "covered")]).await;
    tokio::spawn(async move {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        for connection in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            if let Ok(stream) = acceptor.accept(stream).await {
                server.serve(connection, stream).await;
            }
        }
    });
    (url, cert.pem())
}

#[tokio::test]
async fn a_stranger_is_not_trusted_but_one_whom_we_were_told_of_is() {
    let (url, pem) = https().await;
    let stranger =
        Client::new(ClientSettings { roots: Roots::System, ..ClientSettings::loopback() }).unwrap();
    let error = stranger.get(&url).send().await.unwrap_err();
    let what = format!("GET {url}: no connection: invalid peer certificate: UnknownIssuer");
    let hint = "name the certificate authority that vouches for this server";
    assert_eq!((error.fault(), error.retryable()), (Fault::yours(what, hint), false));

    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, pem).unwrap();
    for roots in [Roots::System, Roots::None] {
        let settings =
            ClientSettings { roots, extra_ca: vec![file.path().to_owned()], ..ClientSettings::loopback() };
        let told = Client::new(settings).unwrap();
        assert_eq!(told.get(&url).send().await.unwrap().bytes(), b"covered");
    }
}

#[test]
fn an_authority_that_is_none_is_named() {
    let empty = tempfile::NamedTempFile::new().unwrap();
    for path in [empty.path().to_owned(), "/no/such/file.pem".into()] {
        let settings = ClientSettings { extra_ca: vec![path.clone()], ..ClientSettings::loopback() };
        let error = Client::new(settings).unwrap_err();
        let what = format!("cannot read the certificate authority `{}`", path.display());
        assert_eq!(error.fault(), Fault::yours(what, "name a readable file with certificates in PEM form"));
    }
}

#[tokio::test]
async fn a_proxy_is_used_but_for_the_hosts_it_is_not_for() {
    let proxy = Server::playing([answer(200, &[], "by proxy")]).await;
    let direct = Server::playing([answer(200, &[], "direct")]).await;
    let proxied = Proxy::Url { url: proxy.url.clone(), except: "127.0.0.1".to_owned() };
    let client = Client::new(ClientSettings { proxy: proxied, ..ClientSettings::loopback() }).unwrap();

    assert_eq!(client.get("http://garden.example/x").send().await.unwrap().bytes(), b"by proxy");
    assert_eq!(client.get(&direct.url).send().await.unwrap().bytes(), b"direct");
    assert_eq!(proxy.lines(), ["GET http://garden.example/x HTTP/1.1"]);
}
