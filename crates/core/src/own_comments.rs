//! Which comments are ours: those that an earlier attempt of a run left, and those that a newer answer outdates.
//!
//! A comment is ours if our account wrote it and it opens with our marker. Either alone can be somebody else's.

use crate::{
    names::Login,
    place::{NodeId, Target},
    say::marker::Marker,
};

/// What an earlier attempt of a run left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Earlier {
    /// Its answer.
    pub answer: Option<Target>,
    /// Its run summary, if that stands apart.
    pub summary: Option<Target>,
    /// What it showed while it worked, if it did not come to an answer.
    pub progress: Option<Target>,
}

impl Earlier {
    /// Finds it among comments, each with its author, its text and its place.
    pub fn find<'a>(
        comments: impl Iterator<Item = (Option<&'a Login>, &'a str, &'a Target)>,
        own: &Login,
        marker: &Marker,
    ) -> Self {
        let mut earlier = Self::default();
        let (of_summary, of_progress) = (marker.of_summary(), marker.of_progress());
        for (author, body, target) in comments {
            if is_own(author, body, own, marker) {
                earlier.answer.get_or_insert_with(|| target.clone());
            } else if is_own(author, body, own, &of_summary) {
                earlier.summary.get_or_insert_with(|| target.clone());
            } else if is_own(author, body, own, &of_progress) {
                earlier.progress.get_or_insert_with(|| target.clone());
            }
        }
        earlier
    }

    /// Returns the comment that the answer takes the place of, if there is one.
    pub fn replaced(&self) -> Option<&Target> {
        self.answer.as_ref().or(self.progress.as_ref())
    }
}

/// Tells whether a comment is what this run says under this marker.
pub fn is_own(author: Option<&Login>, body: &str, own: &Login, marker: &Marker) -> bool {
    is_by(author, own) && marker.opens(body)
}

/// A comment or a review on a pull request.
#[derive(Debug, Clone, Copy)]
pub struct PullComment<'a> {
    /// The very thing.
    pub id: &'a NodeId,
    /// Who wrote it, if the account still exists.
    pub author: Option<&'a Login>,
    /// What it says.
    pub body: &'a str,
    /// Whether it is folded away.
    pub folded: bool,
}

/// Returns which of our answers to earlier commits are to be folded, now that `head` is the newest.
///
/// Who asked for a review keeps it in sight. Nothing is folded before there is an answer to the newest commit: a run
/// that was slower than the one after it must not fold the newer answer.
pub fn outdated<'a>(head: &str, own: &Login, comments: &[PullComment<'a>]) -> Vec<&'a NodeId> {
    let ours = comments.iter().filter(|comment| is_by(comment.author, own));
    let marked: Vec<_> = ours.filter_map(|comment| Some((comment, Marker::read(comment.body)?))).collect();
    let is_newest = |marker: &Marker| marker.reviewed().is_some_and(|about| about.head == head);
    if !marked.iter().any(|(_, marker)| is_newest(marker)) {
        return Vec::new();
    }
    let is_outdated =
        |marker: &Marker| marker.reviewed().is_some_and(|about| !about.asked && about.head != head);
    let outdated = marked.iter().filter(|(comment, marker)| !comment.folded && is_outdated(marker));
    outdated.map(|(comment, _)| comment.id).collect()
}

fn is_by(author: Option<&Login>, own: &Login) -> bool {
    author.is_some_and(|author| author.is_same_identity(own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::tests::a_mention;

    const ANSWER: &str = "<!-- fro-bot run=42 event=comment-99 -->\nIt is the tap.";
    const SUMMARY: &str = "<!-- fro-bot run=42 event=comment-99 part=summary -->\n| Event |";
    const PROGRESS: &str = "<!-- fro-bot run=42 event=comment-99 part=progress -->\n- [ ] Look";

    #[test]
    fn what_an_earlier_attempt_left_is_ours_by_author_and_by_marker() {
        let check = |comments: &[(Option<&str>, &str)], expect: [Option<u64>; 3]| {
            let authors: Vec<_> = comments.iter().map(|(author, _)| author.map(Login::new)).collect();
            let targets: Vec<_> = (1..).map(Target::Comment).take(comments.len()).collect();
            let all = comments.iter().zip(&authors).zip(&targets);
            let all = all.map(|(((_, body), author), target)| (author.as_ref(), *body, target));
            let found = Earlier::find(all, &Login::new("fro-bot[bot]"), &Marker::new("42", &a_mention()));
            let [answer, summary, progress] = expect.map(|id| id.map(Target::Comment));
            assert_eq!(found, Earlier { answer, summary, progress }, "{comments:?}");
        };
        let ours = Some("fro-bot[bot]");
        check(&[], [None; 3]);
        check(&[(Some("maya"), "why?"), (ours, ANSWER), (ours, SUMMARY)], [Some(2), Some(3), None]);
        check(&[(ours, PROGRESS), (Some("mallory"), PROGRESS)], [None, None, Some(1)]);
        check(&[(ours, ANSWER), (ours, ANSWER)], [Some(1), None, None]);
        check(&[(Some("mallory"), ANSWER), (None, ANSWER)], [None; 3]);
        check(&[(ours, &ANSWER.replace("run=42", "run=41"))], [None; 3]);
        check(&[(ours, &format!("> {ANSWER}"))], [None; 3]);
    }

    #[test]
    fn answers_to_earlier_commits_are_folded_once_the_newest_has_one() {
        let check = |comments: &[(&str, &str, bool)], expect: &[usize]| {
            let bodies: Vec<_> = comments
                .iter()
                .map(|(_, event, _)| format!("<!-- fro-bot run=1 event={event} -->\nLooks good."))
                .collect();
            let authors: Vec<_> = comments.iter().map(|(author, ..)| Login::new(*author)).collect();
            let ids: Vec<_> = (0..comments.len()).map(|n| NodeId::new(format!("N{n}"))).collect();
            let shown: Vec<_> = (0..comments.len())
                .map(|n| PullComment {
                    id: &ids[n],
                    author: Some(&authors[n]),
                    body: &bodies[n],
                    folded: comments[n].2,
                })
                .collect();
            let expect: Vec<_> = expect.iter().map(|n| &ids[*n]).collect();
            assert_eq!(outdated("bbb", &Login::new("fro-bot"), &shown), expect, "{comments:?}");
        };
        let (old, new) = (("fro-bot", "pull-2-aaa", false), ("fro-bot", "pull-2-bbb", false));
        check(&[old, new], &[0]);
        check(&[old, old, new, new], &[0, 1]);
        check(&[old], &[]);
        check(&[old, ("mallory", "pull-2-bbb", false)], &[]);
        check(&[("mallory", "pull-2-aaa", false), new], &[]);
        check(&[("fro-bot", "pull-2-aaa", true), new], &[]);
        check(&[("fro-bot", "pull-2-requested-aaa", false), ("fro-bot", "comment-99", false), new], &[]);
    }
}
