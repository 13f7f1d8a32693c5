//! What the agent is told of earlier sessions. Their words are quoted with the trust of whoever set them off.

use std::fmt::Write as _;

use jiff::Timestamp;

use crate::{
    budget::Bounded,
    fence,
    names::Login,
    remembered::{EarlierRun, Excerpt, Message, Remembered},
    say::summary::counted,
    trust::{Spoken, Trust},
};

/// How a note of the harness begins.
pub(crate) const NOTE: &str = "Note of the harness, nothing to answer:";

/// Bytes of one message, of one place, of a title and of a whole answer.
const MESSAGE: usize = 4_000;
const PLACE: usize = 600;
const TITLE: usize = 120;
const WHOLE: usize = 40_000;

/// Returns sessions as a list.
pub fn list(sessions: &Bounded<Vec<Remembered>>, skipped: u32) -> String {
    if sessions.value().is_empty() {
        return "There are no earlier sessions.".to_owned();
    }
    let mut text = String::new();
    for session in sessions.value() {
        let _ = writeln!(text, "- {}", line(session));
    }
    if sessions.cut() > 0 {
        let next = skipped as usize + sessions.value().len();
        let _ = writeln!(text, "\n{} more; go on with `skip: {next}`.", sessions.cut());
    }
    text
}

/// Says why a session was found: which words it has in common with the question.
pub fn because(shared: &[String]) -> String {
    let shared: Vec<_> = shared.iter().map(|word| format!("`{}`", fence::inline(word))).collect();
    format!("which has these words too: {}", shared.join(", "))
}

/// Returns what a session is called: by the title of its subject, or by how the order begins.
pub fn title(about: &str, subject_title: &str, words: &str) -> String {
    let first = words.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let named = if subject_title.trim().is_empty() { first } else { subject_title };
    let named = fence::one_line(Bounded::text(named.trim(), TITLE).value());
    if named.is_empty() { about.to_owned() } else { format!("{named} ({about})") }
}

/// Returns the sessions that were found.
pub fn search(query: &str, places: &[Excerpt]) -> String {
    if places.is_empty() {
        return format!("Nothing was said about `{}` in earlier sessions.", fence::inline(query));
    }
    let mut text = String::new();
    for place in places {
        let words = quoted(&place.session.id, place.session.trust, &place.text, PLACE);
        let _ = write!(text, "{}, {}\n{words}\n\n", line(&place.session), because(&place.shared));
    }
    text.push_str("`session_read` shows the whole of a session.");
    text
}

/// Returns a part of a session, as far as it fits.
pub fn read(session: &Remembered, messages: &[Message], skipped: u32) -> String {
    let mut text = format!("{}\n\n", line(session));
    let mut shown = 0;
    for message in messages {
        let words = quoted(&message.role, session.trust, &message.text, MESSAGE);
        if shown > 0 && text.len() + words.len() > WHOLE {
            break;
        }
        let _ = write!(text, "{}, {}:\n{words}\n\n", fence::inline(&message.role), time(message.at));
        shown += 1;
    }
    match skipped + shown {
        last if last < session.messages => {
            let _ = write!(text, "{} more messages; go on with `skip: {last}`.", session.messages - last);
        }
        _ => text.push_str("That is all of it."),
    }
    text
}

/// Returns what is known of a session.
pub fn info(session: &Remembered, past: &[EarlierRun]) -> String {
    let mut text = format!("{}\n\n- Began {}\n", line(session), time(session.created));
    let _ = writeln!(text, "- Cost ${:.4}", session.cost);
    if session.is_archived {
        text.push_str("- Closed: it is not continued\n");
    }
    for run in past {
        let _ = writeln!(text, "- {}", ran(run));
    }
    text
}

/// Returns a run as one line, which calls nobody.
pub(super) fn ran(run: &EarlierRun) -> String {
    let (event, actor) = (fence::inline(&run.event), fence::inline(&run.actor));
    let came: Vec<_> = [&run.outcome].into_iter().chain(&run.links).map(|text| fence::inline(text)).collect();
    format!("{}: `{event}` for `{actor}`, {}", time(run.ended), came.join(", "))
}

/// Returns the note that ends a run in its session, for whoever searches later.
pub fn written_back(about: &str, past: &EarlierRun) -> String {
    let mut text = format!(
        "{NOTE} the run for `{}` on {} by @{} ended {}: {}.",
        fence::inline(&past.event),
        fence::inline(about),
        fence::inline(&past.actor),
        time(past.ended),
        fence::inline(&past.outcome),
    );
    for link in &past.links {
        let _ = write!(text, "\nAnswer: {}", fence::inline(link));
    }
    text
}

/// Says what was recalled into a prompt, and what the agent asked for itself.
pub fn recalled(places: usize, searches: u32, reads: u32) -> String {
    let times = |n: u32| if n == 1 { "once".to_owned() } else { format!("{n} times") };
    let told = match places {
        0 => "nothing of earlier sessions".to_owned(),
        1 => "1 earlier session".to_owned(),
        many => format!("{many} earlier sessions"),
    };
    match (searches, reads) {
        (0, 0) => told,
        (searches, 0) => format!("{told}; the agent searched {}", times(searches)),
        (0, reads) => format!("{told}; the agent read {}", times(reads)),
        (searches, reads) => {
            format!("{told}; the agent searched {} and read {}", times(searches), times(reads))
        }
    }
}

/// Says that there is no such session, or none to be told of.
pub fn unknown(id: &str) -> String {
    format!("there is no session `{}`; `session_list` shows which there are", fence::inline(id))
}

/// Returns a session as one line.
pub(crate) fn line(session: &Remembered) -> String {
    let about = session.about.as_deref().map(|about| format!(" · {}", fence::inline(about)));
    let doubt = match session.trust {
        Trust::Stranger => " · low trust: set off by a stranger's words",
        Trust::Maintainer | Trust::Operator | Trust::Harness => "",
    };
    format!(
        "{} · {}{} · {} · `{}`{doubt}",
        fence::inline(&session.id),
        time(session.updated),
        about.unwrap_or_default(),
        counted(session.messages, "message"),
        fence::inline(Bounded::text(&session.title, 200).value()),
    )
}

/// Quotes words of a session, so that they inform and do not instruct.
pub(crate) fn quoted(who: &str, trust: Trust, text: &str, most: usize) -> String {
    let text = Bounded::text(text, most).noted();
    fence::fenced(&Spoken { who: Login::new(who), trust, text })
}

pub(super) fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a session about the leaking hose.
    pub(crate) fn a_session(trust: Trust) -> Remembered {
        Remembered {
            id: "ses_1".to_owned(),
            title: "issue #7 of octo/garden".to_owned(),
            about: Some("octo/garden#7".to_owned()),
            created: Timestamp::UNIX_EPOCH,
            updated: Timestamp::from_second(86_400).unwrap(),
            messages: 3,
            cost: 0.0123,
            trust,
            is_archived: false,
        }
    }

    fn said(text: &str) -> Message {
        Message { role: "assistant".to_owned(), at: Timestamp::UNIX_EPOCH, text: text.to_owned() }
    }

    #[test]
    fn sessions_are_listed_with_their_trust() {
        let sessions = vec![a_session(Trust::Maintainer), a_session(Trust::Stranger)];
        let bounded = Bounded::first(sessions, 2).and_missing(4);
        insta::assert_snapshot!(list(&bounded, 2), @"
        - ses_1 · 1970-01-02 00:00 UTC · octo/garden#7 · 3 messages · `issue #7 of octo/garden`
        - ses_1 · 1970-01-02 00:00 UTC · octo/garden#7 · 3 messages · `issue #7 of octo/garden` · low trust: set off by a stranger's words

        4 more; go on with `skip: 4`.
        ");
        assert_eq!(list(&Bounded::first(Vec::new(), 2), 0), "There are no earlier sessions.");
    }

    #[test]
    fn places_are_quoted() {
        let place = Excerpt {
            session: a_session(Trust::Stranger),
            text: "the hose leaks".to_owned(),
            shared: vec!["hose".to_owned()],
        };
        insta::assert_snapshot!(search("hose", &[place]), @r#"
        ses_1 · 1970-01-02 00:00 UTC · octo/garden#7 · 3 messages · `issue #7 of octo/garden` · low trust: set off by a stranger's words, which has these words too: `hose`
        <words-a16508dbf7535341 from="ses_1" trust="stranger">
        the hose leaks
        </words-a16508dbf7535341>

        `session_read` shows the whole of a session.
        "#);
        assert_eq!(search("`hose`", &[]), "Nothing was said about `'hose'` in earlier sessions.");
    }

    #[test]
    fn a_session_is_called_by_its_subject() {
        let check = |subject: &str, words: &str, expect: &str| {
            assert_eq!(title("octo/garden#7", subject, words), expect);
        };
        check("The floor\nis wet", "@fro-bot why?", "The floor is wet (octo/garden#7)");
        check("", "\nWater the beds.\nAll of them.", "Water the beds. (octo/garden#7)");
        check("", "", "octo/garden#7");
        assert!(title("octo/garden#7", &"x".repeat(900), "").len() < 150);
    }

    #[test]
    fn a_session_is_read_as_far_as_it_fits() {
        let session = Remembered { messages: 30, ..a_session(Trust::Maintainer) };
        let messages = vec![said(&"x".repeat(5_000)); 30];
        let text = read(&session, &messages, 0);
        assert!(text.len() < 42_000 && text.contains("[… 1000 bytes left out]"), "{}", text.len());
        assert!(text.ends_with("21 more messages; go on with `skip: 9`."), "{}", &text[text.len() - 60..]);
        let text = read(&session, &messages[..3], 27);
        assert!(text.ends_with("That is all of it."));
    }

    #[test]
    fn what_is_known_of_a_session_reads_like_this() {
        let past = EarlierRun {
            ended: Timestamp::from_second(86_400).unwrap(),
            event: "issue_comment".to_owned(),
            actor: "maya".to_owned(),
            outcome: "answered".to_owned(),
            links: vec!["https://github.com/octo/garden/issues/7#issuecomment-1".to_owned()],
        };
        let session = Remembered { is_archived: true, ..a_session(Trust::Maintainer) };
        insta::assert_snapshot!(info(&session, &[past]), @"
        ses_1 · 1970-01-02 00:00 UTC · octo/garden#7 · 3 messages · `issue #7 of octo/garden`

        - Began 1970-01-01 00:00 UTC
        - Cost $0.0123
        - Closed: it is not continued
        - 1970-01-02 00:00 UTC: `issue_comment` for `maya`, answered, https://github.com/octo/garden/issues/7#issuecomment-1
        ");
    }

    #[test]
    fn a_run_is_written_back_with_its_answer() {
        let past = EarlierRun {
            ended: Timestamp::UNIX_EPOCH,
            event: "issue_comment".to_owned(),
            actor: "maya".to_owned(),
            outcome: "answered, $0.0123, 7 s".to_owned(),
            links: vec!["https://github.com/octo/garden/issues/7#issuecomment-1".to_owned()],
        };
        insta::assert_snapshot!(written_back("octo/garden#7", &past), @"
        Note of the harness, nothing to answer: the run for `issue_comment` on octo/garden#7 by @maya ended 1970-01-01 00:00 UTC: answered, $0.0123, 7 s.
        Answer: https://github.com/octo/garden/issues/7#issuecomment-1
        ");
    }

    #[test]
    fn what_was_recalled_reads_naturally() {
        let told = [recalled(0, 0, 0), recalled(1, 1, 0), recalled(3, 0, 2), recalled(2, 2, 1)];
        insta::assert_snapshot!(told.join("\n"), @"
        nothing of earlier sessions
        1 earlier session; the agent searched once
        3 earlier sessions; the agent read 2 times
        2 earlier sessions; the agent searched 2 times and read once
        ");
    }
}
