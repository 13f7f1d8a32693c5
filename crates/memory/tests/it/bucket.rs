//! A bucket as a store of the memory.

#[expect(dead_code, reason = "whole runs need more of it")]
pub(crate) mod server;

pub(crate) use server::{Bucket, Fault, files};

use std::time::Duration;

use fro_core::Secret;
use fro_memory::{Encryption, Endpoint, Patience, S3Settings, Store};

use server::{BUCKET, KEY, SECRET};

impl Bucket {
    /// Returns settings for a memory under this prefix.
    pub(crate) fn settings(&self, prefix: &str) -> S3Settings {
        S3Settings {
            bucket: BUCKET.to_owned(),
            region: "us-east-1".to_owned(),
            endpoint: Endpoint::Insecure(self.endpoint().to_owned()),
            prefix: prefix.to_owned(),
            encryption: Encryption::AsTheBucket,
            expected_owner: None,
            credentials: credentials(SECRET),
            extra_ca: Vec::new(),
            patience: Patience {
                connect: Duration::from_secs(20),
                lookup: Duration::from_mins(1),
                answer: Duration::from_mins(1),
                pauses: vec![Duration::from_millis(5); 2],
                settle: Duration::from_mins(1),
            },
        }
    }

    pub(crate) fn store(&self, prefix: &str) -> Store {
        Store::s3(&self.settings(prefix)).unwrap()
    }

    /// Returns a store that loses its patience soon.
    pub(crate) fn hasty_store(&self, prefix: &str) -> Store {
        let answer = Duration::from_secs(5);
        let patience = Patience { answer, pauses: Vec::new(), ..self.settings(prefix).patience };
        Store::s3(&S3Settings { patience, ..self.settings(prefix) }).unwrap()
    }
}

pub(crate) fn credentials(secret: &str) -> Vec<(String, Secret)> {
    let pairs = [("AWS_ACCESS_KEY_ID", KEY), ("AWS_SECRET_ACCESS_KEY", secret)];
    pairs.map(|(name, value)| (name.to_owned(), Secret::new(value))).into()
}
