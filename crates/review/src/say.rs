//! What is written into a pull request: findings, and replies in their threads, each with its block.
//!
//! The model's words are made harmless first: no suggestion that can be committed, no block of their own, nothing left
//! open that would swallow what stands below, and never more than a comment can hold.

mod whole;

use fro_core::{
    Anchor, Bounded, Login, fence,
    say::{published::published, whole::closed},
};
use ring::digest;
use serde_json::{Value, json};
pub use whole::{Tally, outside_told, unread_listed, unsaid_listed, withdrawn_listed};

use crate::{
    Place,
    coverage::Look,
    finding::{Finding, Score},
    markdown,
    rmcoc::{self, Fields},
    scoring::Elevation,
    seal::Seal,
    state::{ESCALATED_MARKER, RESOLVED_MARKER, Status},
};

/// Bytes of what people read. GitHub takes 65,536 characters with everything, and a backtick in a block takes six.
const BODY: usize = 34_000;
/// Bytes of the one sentence.
const SENTENCE: usize = 500;
/// Bytes of the reasons.
const REASONS: usize = 4_000;

/// What a reply of ours does to its thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The code was changed.
    Fixed {
        /// The file whose change fixed it; none if the finding's own lines were changed.
        path: Option<String>,
    },
    /// The reply convinced.
    Conceded,
    /// The reply did not convince, and nobody stands above the developer.
    DeveloperDecides,
    /// The reply did not convince.
    Upheld,
    /// The second reply did not convince either: people decide.
    Escalated {
        /// Who is asked, as they are mentioned: `octocat`, `octo/reviewers`.
        to: Vec<String>,
    },
    /// It did not convince, and people were asked already.
    LeftToPeople,
}

impl Verdict {
    /// Returns the status of the thread afterwards.
    pub fn status(&self) -> Status {
        match self {
            Self::Fixed { .. } | Self::Conceded | Self::DeveloperDecides => Status::Resolved,
            Self::Upheld => Status::Disputed,
            Self::Escalated { .. } | Self::LeftToPeople => Status::Escalated,
        }
    }

    /// Tells whether the point was given up, so that it is not made again.
    pub fn concedes(&self) -> bool {
        match self {
            Self::Conceded | Self::DeveloperDecides => true,
            Self::Fixed { .. } | Self::Upheld | Self::Escalated { .. } | Self::LeftToPeople => false,
        }
    }
}

/// Whether GitHub's own thread was resolved before the reply was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// It was. Always before the reply: a reply that says so and a thread that is open means that somebody opened it.
    Closed,
    /// It was not, because we may not, or because it stays open.
    LeftOpen,
}

/// Names a finding by what it says, where, and of which commit: what comes back after a fix is another finding.
pub fn finding_id(finding: &Finding, commit: &str) -> String {
    let named = (&finding.anchor, &finding.finding, commit);
    let hash = digest::digest(&digest::SHA256, &serde_json::to_vec(&named).unwrap_or_default());
    data_encoding::HEXLOWER.encode(&hash.as_ref()[..8])
}

/// Writes a finding as a comment. One that has to stand beside other lines than its own (`Place` is not its lines) says
/// in its block what it is about.
pub fn comment(seal: &Seal, finding: &Finding, place: &Place, look: &Look) -> String {
    let mut fields = json!({
        "finding": cut(&finding.finding, SENTENCE),
        "assessment": cut(&finding.assessment, REASONS),
        "score": finding.score,
        "id": finding_id(finding, &look.commit),
        "kind": finding.kind,
        "pass": finding.pass,
        "given": finding.given,
    });
    match place {
        Place::Lines(_) => {}
        Place::Near(_) | Place::File { .. } | Place::Summary => {
            let path = cut(&finding.anchor.path, SENTENCE);
            fields["about"] = json!(Anchor { path, ..finding.anchor.clone() });
        }
    }
    stamp(&mut fields, look);
    with_block(&finding.body, seal, &fields)
}

/// What is said in a thread of ours.
#[derive(Debug, Clone, Copy)]
pub struct ThreadWord<'a> {
    /// What becomes of the thread.
    pub verdict: &'a Verdict,
    /// Whether it was resolved before.
    pub closing: Closing,
    /// What people read.
    pub body: &'a str,
    /// The newest reply of others that it takes into account: what was written meanwhile is still to be judged.
    pub heard: Option<u64>,
}

/// Writes a reply in a thread.
pub fn reply(seal: &Seal, finding_id: &str, word: &ThreadWord<'_>, look: &Look) -> String {
    let ThreadWord { verdict, closing, body, heard } = *word;
    let mut fields = json!({
        "status": verdict.status(),
        "id": finding_id,
        "conceded": verdict.concedes(),
        "closed": closing == Closing::Closed,
    });
    if let Verdict::Fixed { path: Some(path) } = verdict {
        fields["fixed_in"] = json!(cut(path, REASONS));
    }
    if let Some(heard) = heard {
        fields["heard"] = json!(heard);
    }
    stamp(&mut fields, look);
    with_block(&with_verdict(verdict, body), seal, &fields)
}

/// Tells the findings that count only together, as one.
pub fn together(elevation: &Elevation, findings: &[Finding]) -> Option<Finding> {
    let members: Vec<&Finding> = elevation.members.iter().filter_map(|at| findings.get(*at)).collect();
    let worst = members.iter().rev().max_by_key(|finding| finding.score)?;
    let lines = members.iter().map(|member| {
        format!(
            "- `{}`: {}",
            fence::inline(&member.anchor.to_string()),
            fence::one_line(&cut(&member.finding, SENTENCE))
        )
    });
    let kind = elevation.kind.name();
    let finding = format!("{} small findings of one kind ({kind}) {TOGETHER}", members.len());
    let body = format!(
        "None of these is worth a comment of its own; together they are.\n\n{}",
        lines.collect::<Vec<_>>().join("\n")
    );
    let assessment =
        format!("The highest of them is scored {}; so many of one kind point to a habit.", worst.score);
    Some(Finding {
        score: elevation.score,
        given: worst.given,
        finding,
        assessment,
        body,
        ..(*worst).clone()
    })
}

/// What the sentence about small findings ends with.
const TOGETHER: &str = "that count together";

/// Tells whether a finding is one of several small ones.
pub(crate) fn is_together(finding: &str) -> bool {
    finding.ends_with(TOGETHER)
}

/// Makes the model's words fit to stand in a comment.
pub fn harmless(body: &str) -> String {
    let body = Bounded::text(&rmcoc::removed(&markdown::without_suggestions(body)), BODY).noted();
    markdown::without_suggestions(&closed(&body))
}

/// Makes a comment fit to leave, where these people may be called. Its own block stays as it was sealed.
///
/// What is taken out of the words may make a suggestion of what stood around it, so they are made harmless once more.
pub fn fit_to_leave(comment: &str, people: &[Login]) -> String {
    let (words, block) =
        comment.rsplit_once(OWN_BLOCK).map_or((comment, None), |(words, block)| (words, Some(block)));
    let words = harmless(&published(words, people));
    block.map_or(words.clone(), |block| format!("{words}{OWN_BLOCK}{block}"))
}

/// Returns the words of a comment alone.
pub(crate) fn without_block(comment: &str) -> String {
    comment.rsplit_once(OWN_BLOCK).map_or(comment, |(words, _)| words).to_owned()
}

/// What stands between the words of a comment and the block that we wrote.
const OWN_BLOCK: &str = "\n\n---\n\n```rmcoc\n";

fn stamp(fields: &mut Value, look: &Look) {
    if let Some(fields) = fields.as_object_mut() {
        look.write(fields);
    }
}

fn with_block(body: &str, seal: &Seal, fields: &Value) -> String {
    let fields: Fields = fields.as_object().cloned().unwrap_or_default();
    let block = rmcoc::written(&seal.sealed(fields));
    format!("{}\n\n---\n\n{block}", harmless(body))
}

fn with_verdict(verdict: &Verdict, body: &str) -> String {
    match verdict {
        Verdict::Fixed { .. } | Verdict::Conceded => format!("{RESOLVED_MARKER}\n\n{body}"),
        Verdict::DeveloperDecides => format!(
            "{RESOLVED_MARKER}\n\n{body}\n\nI still see it differently, but nobody else reviews this pull request: your \
             word counts."
        ),
        Verdict::Upheld | Verdict::LeftToPeople => body.to_owned(),
        Verdict::Escalated { to } => {
            let asked: Vec<String> = to.iter().map(|name| format!("@{}", fence::inline(name))).collect();
            let asked = if asked.is_empty() { "Whoever merges this".to_owned() } else { asked.join(", ") };
            format!(
                "{ESCALATED_MARKER}\n\n{body}\n\n{asked}: we do not agree here, please decide. Resolve the thread if it does not matter."
            )
        }
    }
}

fn cut(text: &str, limit: usize) -> String {
    Bounded::text(text, limit).value().clone()
}

/// Says how bad something is, for lists.
pub fn rated(score: Score, finding: &str) -> String {
    format!("{score}/10 {}", fence::one_line(&cut(finding, SENTENCE)))
}

#[cfg(test)]
mod tests;
