//! A text in which somebody may be mentioned.

#![no_main]

use fro_core::{Login, Redactor, attachment, mention, say::log};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let own = Login::new("fro-bot");
    let request = mention::request(&text, &own);
    assert_eq!(mention::addresses(&text, &own), request.is_some());
    assert!(request.is_none() || text.to_lowercase().contains("@fro-bot"));
    drop(attachment::find(&text, "https://github.com"));
    let line = log::harmless(&text);
    assert!(!line.contains("::") && !line.contains("##[") && line.lines().count() <= 1, "{line:?}");
    assert!(Redactor::knowing([]).clean(&text).as_str().len() <= 10 * text.len() + 10);
});
