//! A comment that may open with a marker, and a run's id that goes into one.

#![no_main]

use fro_core::{
    Login, RepoName, Trigger,
    event::{self, Event, Reading},
    say::marker::Marker,
};
use libfuzzer_sys::fuzz_target;

const COMMENT: &str = r#"{"action":"created","comment":{"id":99,"body":"@fro-bot","user":{"login":"maya"}},
    "issue":{"number":1},"repository":{"full_name":"octo/garden"}}"#;

fn trigger() -> Trigger {
    let event = Event {
        name: "issue_comment".to_owned(),
        payload: COMMENT.to_owned(),
        repo: RepoName::parse("octo/garden").expect("this is a repository's name"),
        actor: Login::new("maya"),
        prompt: None,
    };
    match event::read(&event) {
        Ok(Reading::Trigger(trigger)) => trigger,
        other => panic!("no trigger: {other:?}"),
    }
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (run, body) = text.split_once('\0').unwrap_or(("42", &text));
    let marker = Marker::new(run, &trigger());
    let written = marker.to_string();
    assert_eq!((written.lines().count(), written.matches("-->").count()), (1, 1), "{written}");
    assert_eq!(marker.opens(body), body.starts_with(&written));
    assert!(marker.opens(&format!("{written}\n{body}")));
    assert!(!(marker.opens(body) && marker.is_anothers(body)), "{body:?}");
    assert!(!marker.is_anothers(&format!("x{body}")));
});
