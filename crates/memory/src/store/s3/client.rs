//! How a bucket is reached: address, credentials, encryption and owner.

use std::{error, path::PathBuf, str::FromStr as _, sync::Arc};

use fro_core::Secret;
use object_store::{
    BackoffConfig, Certificate, ClientOptions, HeaderMap, HeaderValue, RetryConfig,
    aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut},
    client::{HttpError, HttpErrorKind},
};

use crate::{
    error::{Error, Refusal},
    store::{Patience, Place},
};

/// The variables that may say who we are; no other setting of the bucket is taken from the environment.
const CREDENTIALS: [&str; 12] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_ENDPOINT_URL_STS",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_IMDSV1_FALLBACK",
    "AWS_METADATA_ENDPOINT",
];

/// Which bucket, and how to use it.
#[derive(Debug, Clone)]
pub struct S3Settings {
    /// Its name.
    pub bucket: String,
    /// Its region, such as `eu-central-1`.
    pub region: String,
    /// Where it answers.
    pub endpoint: Endpoint,
    /// What every key of this memory begins with, such as `fro-bot/octo/garden`.
    pub prefix: String,
    /// How it encrypts what it holds.
    pub encryption: Encryption,
    /// The account that must own it; sent and signed with every request but listing.
    pub expected_owner: Option<String>,
    /// The `AWS_…` variables that say who we are: keys, a role with a web identity, a container's role. Without any of
    /// them the machine's own role is asked for.
    pub credentials: Vec<(String, Secret)>,
    /// Files with further certificate authorities (PEM).
    pub extra_ca: Vec<PathBuf>,
    /// How long it may take.
    pub patience: Patience,
}

impl S3Settings {
    /// Returns everything in these settings that must never be seen.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        let keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
        let known = self.credentials.iter().filter(move |(name, _)| keys.contains(&name.as_str()));
        known.map(|(_, value)| value)
    }
}

/// Where a bucket answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// At AWS.
    Aws,
    /// At this `https://` address, with the bucket in the path.
    Custom(String),
    /// At this address, with or without encryption on the way.
    Insecure(String),
}

/// How a bucket encrypts what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Encryption {
    /// As the bucket is set up.
    AsTheBucket,
    /// With keys of S3 (`AES256`).
    S3,
    /// With this key of the key service (`aws:kms`).
    Kms(String),
}

/// Returns a client for objects and one for lists.
pub(super) fn clients(settings: &S3Settings) -> Result<(AmazonS3, AmazonS3), Error> {
    fro_http::provide_tls();
    let wrong = |why: &dyn ToString| Error::Settings { place: Place::S3, why: why.to_string() };
    let plain = options(settings)?;
    let mut named = plain.clone();
    if let Some(owner) = &settings.expected_owner {
        let owner = HeaderValue::from_str(owner).map_err(|error| wrong(&error))?;
        named = named.with_default_headers(HeaderMap::from_iter([(
            "x-amz-expected-bucket-owner".parse().map_err(|_| wrong(&"no header"))?,
            owner,
        )]));
    }
    let build = |builder: AmazonS3Builder| builder.build().map_err(|error| wrong(&error));
    let plain = build(builder(settings)?.with_client_options(plain))?;
    // Both are the same somebody, so a role is taken on once.
    let credentials = Arc::clone(plain.credentials());
    let named = build(builder(settings)?.with_client_options(named).with_credentials(credentials))?;
    Ok((named, plain))
}

fn options(settings: &S3Settings) -> Result<ClientOptions, Error> {
    let patience = &settings.patience;
    let is_open = matches!(settings.endpoint, Endpoint::Insecure(_));
    let mut options = ClientOptions::new()
        .with_connect_timeout(patience.connect)
        .with_read_timeout(patience.answer)
        .with_timeout(patience.answer * 8)
        .with_allow_http(is_open);
    for path in &settings.extra_ca {
        let wrong =
            |why: String| Error::Settings { place: Place::S3, why: format!("{}: {why}", path.display()) };
        let pem = fs_err::read(path)?;
        let found = Certificate::from_pem_bundle(&pem).map_err(|error| wrong(error.to_string()))?;
        options = found.into_iter().fold(options, ClientOptions::with_root_certificate);
    }
    Ok(options)
}

fn builder(settings: &S3Settings) -> Result<AmazonS3Builder, Error> {
    let pauses = &settings.patience.pauses;
    let retry = RetryConfig {
        max_retries: pauses.len(),
        retry_timeout: pauses.iter().sum::<std::time::Duration>() + settings.patience.answer,
        backoff: BackoffConfig {
            init_backoff: pauses.first().copied().unwrap_or_default(),
            max_backoff: pauses.last().copied().unwrap_or_default(),
            base: 2.0,
        },
    };
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&settings.bucket)
        .with_region(&settings.region)
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        .with_retry(retry);
    builder = match &settings.endpoint {
        Endpoint::Aws => builder,
        Endpoint::Custom(url) if !url.starts_with("https://") => {
            let why =
                format!("its endpoint `{url}` is not https, and `s3-allow-insecure-endpoint` is not set");
            return Err(Error::Settings { place: Place::S3, why });
        }
        Endpoint::Custom(url) | Endpoint::Insecure(url) => builder.with_endpoint(url.trim_end_matches('/')),
    };
    builder = match &settings.encryption {
        Encryption::AsTheBucket => builder,
        Encryption::S3 => with_text(builder, "aws_server_side_encryption", "AES256"),
        Encryption::Kms(key) => builder.with_sse_kms_encryption(key),
    };
    for (name, value) in &settings.credentials {
        if CREDENTIALS.contains(&name.as_str()) {
            builder = with_text(builder, &name.to_ascii_lowercase(), value.expose());
        }
    }
    Ok(builder)
}

fn with_text(builder: AmazonS3Builder, name: &str, value: &str) -> AmazonS3Builder {
    match AmazonS3ConfigKey::from_str(name) {
        Ok(key) => builder.with_config(key, value),
        Err(_) => builder,
    }
}

/// Sorts what the client says.
pub(super) fn trouble(deed: &'static str) -> impl Fn(object_store::Error) -> Error {
    move |error| {
        let why = match &error {
            object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
                Refusal::Denied
            }
            error if is_silent(error) => Refusal::Unreachable,
            _ => Refusal::Failing,
        };
        Error::Remote { deed: format!("{deed} in {}", Place::S3), why, source: Some(error.into()) }
    }
}

/// Tells whether there was no answer at all.
fn is_silent(error: &object_store::Error) -> bool {
    let mut cause: Option<&(dyn error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<HttpError>() {
            return matches!(error.kind(), HttpErrorKind::Connect | HttpErrorKind::Timeout);
        }
        cause = error.source();
    }
    false
}
