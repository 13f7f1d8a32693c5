//! Hostile words in every slot: none becomes an instruction, a marker, a command or a place of its own.

use std::time::Duration;

use fro_core::{
    Redactor, RepoName,
    conversation::outcome::{Outcome, Usage},
    delivery,
    say::{
        answer::CommentStyle,
        log,
        marker::Marker,
        summary::{Account, Origin, RunLink, Served, folded},
    },
};

use crate::world::{Slot, rendered, trigger};

fn corpus() -> Vec<String> {
    let corpus: Vec<String> = serde_json::from_str(include_str!("corpus.json")).unwrap();
    assert!(corpus.len() >= 60, "{}", corpus.len());
    corpus
}

/// Returns the lines outside of fences, and how many fences there are.
fn outside(text: &str) -> (Vec<&str>, usize) {
    let (mut lines, mut fences, mut end) = (Vec::new(), 0, None);
    for line in text.lines() {
        match &end {
            Some(close) if line == close => end = None,
            Some(_) => {}
            None => match line.strip_prefix("<words-").and_then(|rest| rest.get(..16)) {
                Some(name) => {
                    (fences, end) = (fences + 1, Some(format!("</words-{name}>")));
                }
                None => lines.push(line),
            },
        }
    }
    assert_eq!(end, None, "a fence is open:\n{text}");
    (lines, fences)
}

#[test]
fn no_words_get_out_of_their_slot() {
    let mut pairs = 0;
    for slot in Slot::ALL {
        let usual = rendered(slot, "usual words");
        let (lines, fences) = outside(&usual);
        let headings: Vec<_> = lines.iter().filter(|line| line.starts_with('#')).collect();
        // Blank words are no words: there may be nothing to quote then.
        for words in corpus().into_iter().filter(|words| !words.trim().is_empty()) {
            let told = rendered(slot, &words);
            let (attacked, n) = outside(&told);
            let now: Vec<_> = attacked.iter().filter(|line| line.starts_with('#')).collect();
            assert_eq!(
                (now, n, attacked.len()),
                (headings.clone(), fences, lines.len()),
                "{slot:?} {words:?}"
            );
            assert!(
                !told
                    .chars()
                    .any(|c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{200b}' | '\u{e0000}'..='\u{e007f}'))
            );
            pairs += 1;
        }
    }
    println!("{pairs} pairs of words and slots, none got out");
}

fn account(words: &str) -> Account {
    Account {
        event: words.to_owned(),
        repo: RepoName::parse("octo/garden").unwrap(),
        git_ref: Some(words.to_owned()),
        run: RunLink { id: "42".to_owned(), url: None },
        memory: "miss (first run)".to_owned(),
        recalled: None,
        sessions: vec![Served { id: words.to_owned(), origin: Origin::Created }],
        duration: Duration::from_secs(3),
        since_job: None,
        usage: Usage::default(),
        agent: Some(words.to_owned()),
        model: Some(words.to_owned()),
        walls: "all".to_owned(),
        gh: None,
        network: None,
        work: Vec::new(),
        share: None,
        warnings: vec![words.to_owned()],
    }
}

/// Counts the rows of the summary, which stands below the last line across.
fn rows(text: &str) -> usize {
    let summary = text.rsplit("\n---\n").next().unwrap_or_default();
    summary.lines().filter(|line| line.starts_with("| ")).count()
}

#[test]
fn no_answer_forges_a_marker_or_a_summary() {
    let marker = Marker::new("42", &trigger(Slot::Body, ""));
    let usual = rows(&folded(&account("usual words")));
    for words in corpus() {
        let outcome = Outcome::Answered { text: words.clone(), cut_short: false };
        let redactor = Redactor::knowing([]);
        let delivery =
            delivery::settle(&outcome, &account(&words), marker.clone(), CommentStyle::default(), &redactor);
        let body = delivery.body.as_str();
        assert!(marker.opens(body) && body.ends_with("\n</details>\n"), "{words:?}\n{body}");
        let forged = Marker::new("41", &trigger(Slot::Body, ""));
        assert!(!forged.opens(body) && !marker.is_anothers(body), "{words:?}");
        assert_eq!(rows(body), usual, "{words:?}\n{body}");
    }
}

#[test]
fn no_words_become_a_command_of_the_runner() {
    for words in corpus() {
        let line = log::harmless(&words);
        assert!(!line.contains("::") && !line.contains("##["), "{line:?}");
        assert!(!line.contains(['\n', '\r', '\u{1b}', '\u{85}']), "{line:?}");
    }
}
