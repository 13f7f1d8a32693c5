//! A model's answer as it passes the proxy, cut into pieces anywhere: it is charged once, whatever it says.

#![no_main]

#[expect(dead_code, reason = "the proxy uses the rest")]
#[path = "../../crates/boundary/src/models/meter.rs"]
mod meter;

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use meter::{Listening, Meter, Price};

fuzz_target!(|data: &[u8]| {
    let Some((size, bytes)) = data.split_first() else { return };
    let meter = Arc::new(Meter::new(Some(1.0)));
    let price = Price::read(&serde_json::json!({ "input": 1, "output": 2 }));
    let mut listening = Listening::new(&meter, price, bytes.len());
    bytes.chunks(usize::from(*size).max(1)).for_each(|piece| listening.hear(piece));
    drop(listening);
    let spent = meter.spent();
    assert!(spent.calls == 1 && spent.cost >= 0.0, "{spent:?}");
});
