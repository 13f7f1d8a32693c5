//! Ten runs at once through a bucket that somebody else serves: `many_runs ENDPOINT BUCKET`.
//!
//! `scripts/moto` starts a server with the semantics of AWS and runs this against it.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a trial that fails has nothing to say")]
#![expect(dead_code, reason = "the engine's side of the tests can do more than is needed here")]

#[path = "../tests/it/contract.rs"]
mod contract;
#[path = "../tests/it/engine.rs"]
mod engine;
#[path = "../tests/it/many.rs"]
mod many;

use std::{cell::Cell, env, process, time::Instant};

use fro_core::Secret;
use fro_memory::{Encryption, Endpoint, Patience, S3Settings, Store};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [endpoint, bucket] = arguments.as_slice() else { panic!("usage: many_runs ENDPOINT BUCKET") };
    let open = |prefix: &str| {
        let keys = [("AWS_ACCESS_KEY_ID", "trial"), ("AWS_SECRET_ACCESS_KEY", "trial-secret")];
        let settings = S3Settings {
            bucket: bucket.clone(),
            region: "us-east-1".to_owned(),
            endpoint: Endpoint::Insecure(endpoint.clone()),
            prefix: format!("{}/{prefix}", process::id()),
            encryption: Encryption::S3,
            expected_owner: Some("123456789012".to_owned()),
            credentials: keys.map(|(name, value)| (name.to_owned(), Secret::new(value))).into(),
            extra_ca: Vec::new(),
            patience: Patience::default(),
        };
        Store::s3(&settings).unwrap()
    };
    let number = Cell::new(0);
    let begun = Instant::now();
    contract::holds(|| {
        number.set(number.get() + 1);
        open(&format!("contract-{}", number.get()))
    });
    println!("the contract holds: {:.1} s", begun.elapsed().as_secs_f32());
    let begun = Instant::now();
    many::go_well(10, open);
    println!("ten runs at once: nothing lost, {:.1} s", begun.elapsed().as_secs_f32());
}
