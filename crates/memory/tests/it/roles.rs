//! Who we are to a bucket when nobody gives us keys: the role of the machine or of its container.

use std::{convert::Infallible, fs};

use bytes::Bytes;
use fro_core::Secret;
use fro_memory::{Head, S3Settings, Store};
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::{net::TcpListener, runtime::Runtime};

use crate::bucket::{
    Bucket,
    server::{KEY, SECRET},
};

const POD_TOKEN: &str = "the-token-of-the-pod";

/// A machine that hands out the credentials of its role, as EC2 and EKS do.
struct Machine {
    _runtime: Runtime,
    address: String,
}

impl Machine {
    fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0))).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let serve =
                    http1::Builder::new().serve_connection(TokioIo::new(socket), service_fn(hand_out));
                tokio::spawn(serve);
            }
        });
        Self { _runtime: runtime, address }
    }
}

async fn hand_out(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let credentials = json!({
        "AccessKeyId": KEY, "SecretAccessKey": SECRET, "Token": "for-this-hour", "Expiration": "2999-01-01T00:00:00Z",
        "Code": "Success", "Type": "AWS-HMAC", "LastUpdated": "2026-01-01T00:00:00Z",
    });
    let (status, body) = match (request.method().as_str(), request.uri().path()) {
        ("PUT", "/latest/api/token") => (200, "of-the-machine".to_owned()),
        ("GET", "/latest/meta-data/iam/security-credentials/") => (200, "gardener".to_owned()),
        ("GET", "/latest/meta-data/iam/security-credentials/gardener")
            if header("x-aws-ec2-metadata-token") == Some("of-the-machine") =>
        {
            (200, credentials.to_string())
        }
        ("GET", "/pod") if header("authorization") == Some(POD_TOKEN) => (200, credentials.to_string()),
        _ => (403, String::new()),
    };
    Ok(Response::builder().status(status).body(Full::from(body)).unwrap())
}

/// Uses a bucket with what these variables lead to, and returns the session token that was sent along.
fn token_sent(variables: &[(&str, &str)]) -> String {
    let bucket = Bucket::open();
    let credentials = variables.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value)));
    let settings = S3Settings { credentials: credentials.collect(), ..bucket.settings("roles") };
    let store = Store::s3(&settings).unwrap();
    let head = Head::new("anything");
    store.advance(None, &head).unwrap();
    assert_eq!(store.head().unwrap(), Some(head));
    let seen = bucket.seen();
    let write = seen.iter().find(|seen| seen.line.starts_with("PUT")).unwrap();
    write.headers.get("x-amz-security-token").unwrap().to_str().unwrap().to_owned()
}

#[test]
fn the_machine_s_role_opens_a_bucket() {
    let machine = Machine::start();
    assert_eq!(token_sent(&[("AWS_METADATA_ENDPOINT", &machine.address)]), "for-this-hour");
}

#[test]
fn a_container_s_role_opens_a_bucket() {
    let machine = Machine::start();
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), POD_TOKEN).unwrap();
    let sent = token_sent(&[
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &format!("{}/pod", machine.address)),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", file.path().to_str().unwrap()),
    ]);
    assert_eq!(sent, "for-this-hour");
}
