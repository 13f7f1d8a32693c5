//! Bytes of any kind: readers refuse what they do not understand and never panic.
//!
//! `PROPTEST_CASES` says how many are tried; the longer tier tries for about a minute.

use fro_core::{
    Login, Redactor, RepoName, attachment,
    event::{self, Event},
    mention,
    say::{log, marker::Marker},
};
use proptest::prelude::*;

use crate::world::{Slot, rendered, trigger};

fn read(name: &str, payload: String) {
    let repo = RepoName::parse("octo/garden").unwrap();
    let event = Event { name: name.to_owned(), payload, repo, actor: Login::new("maya"), prompt: None };
    drop(event::read(&event));
}

/// A payload that is nearly right: one of its values is something else.
fn nearly() -> impl Strategy<Value = String> {
    let odd = prop_oneof![
        Just("null".to_owned()),
        Just("{}".to_owned()),
        Just("[]".to_owned()),
        Just("-1".to_owned()),
        Just("1e400".to_owned()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
    ];
    (odd, 0..6_usize).prop_map(|(odd, at)| {
        let mut values = ["\"created\"", "1", "\"@fro-bot\"", "{\"login\":\"m\"}", "7", "\"octo/garden\""];
        values[at] = &odd;
        let [action, id, body, user, number, repo] = values;
        format!(
            "{{\"action\":{action},\"comment\":{{\"id\":{id},\"body\":{body},\"user\":{user}}},\
             \"issue\":{{\"number\":{number}}},\"repository\":{{\"full_name\":{repo}}}}}"
        )
    })
}

proptest! {
    #[test]
    fn a_payload_of_any_kind_is_read_or_refused(bytes in any::<Vec<u8>>(), nearly in nearly()) {
        for name in ["issue_comment", "issues", "pull_request", "discussion", "discussion_comment", "schedule"] {
            read(name, String::from_utf8_lossy(&bytes).into_owned());
            read(name, nearly.clone());
        }
    }

    #[test]
    fn a_text_of_any_kind_is_looked_through(text in any::<String>()) {
        let own = Login::new("fro-bot");
        let called = mention::addresses(&text, &own);
        prop_assert_eq!(mention::request(&text, &own).is_some(), called);
        drop(attachment::find(&text, "https://github.com"));
        let marker = Marker::new(&text, &trigger(Slot::Body, &text));
        prop_assert_eq!(marker.opens(&text), text.starts_with(&marker.to_string()));
        let further_down = format!("x{text}");
        prop_assert!(!marker.is_anothers(&further_down));
        prop_assert!(!log::harmless(&text).contains("::"));
        let clean = Redactor::knowing([]).clean(&text);
        prop_assert!(clean.as_str().len() <= text.len() + 10 * clean.found());
    }

    #[test]
    fn any_words_stay_in_their_fence(text in any::<String>()) {
        let told = rendered(Slot::Comment, &text);
        prop_assert_eq!(told.matches("\n## Task\n").count(), 1);
    }
}
