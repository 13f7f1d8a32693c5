//! Delegated work: whether somebody who may asked for a change, and what its branch and pull request are called.

use jiff::Timestamp;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::{
    event::{Occasion, Trigger},
    gate::{Permit, Reach},
    names::Login,
    place::Subject,
};

/// What the operator allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DelegatedWork {
    /// Changes are pushed when somebody who may asks for them.
    #[default]
    OnRequest,
    /// Nothing is ever pushed.
    Never,
}

/// What becomes of the changes of a schedule or a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputMode {
    /// A pull request if the prompt asks for a change.
    #[default]
    Auto,
    /// A pull request if there are any.
    BranchPr,
    /// None are made.
    Report,
}

/// The right to push a branch and to open a pull request for one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commission {
    prefix: String,
    closes: Option<u64>,
    asker: Login,
}

/// Why nothing is pushed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoWork {
    /// Anybody's words set this off.
    #[error("nobody in particular asked for this run, so nothing is pushed")]
    Unasked,
    /// The asker may not push.
    #[error("@{0} may ask questions here but not push, so nothing is pushed for them")]
    MayNot(Login),
    /// The words are a question.
    #[error(
        "the request does not ask for a change, so nothing is pushed; put what you found into your answer"
    )]
    Question,
    /// There is nothing that a branch could be named after.
    #[error("a discussion has no branch; changes are asked for on an issue or a pull request")]
    Discussion,
    /// The operator does not want it.
    #[error("this workflow pushes nothing: {0}")]
    Off(&'static str),
}

impl Commission {
    /// Decides whether this run may push, on the words of whoever asked and on what they may do.
    pub fn of(
        trigger: &Trigger,
        permit: &Permit,
        work: DelegatedWork,
        output: OutputMode,
    ) -> Result<Self, NoWork> {
        match (permit.reach(), work) {
            (Reach::ReadOnly, _) => return Err(NoWork::Unasked),
            (Reach::Answer, _) => return Err(NoWork::MayNot(permit.asker().clone())),
            (Reach::Work, DelegatedWork::Never) => return Err(NoWork::Off("`delegated-work` is `never`")),
            (Reach::Work, DelegatedWork::OnRequest) => {}
        }
        let (prefix, closes) = match (trigger, permit.subject()) {
            (Trigger::Order(order), _) => {
                asked_by_order(&order.prompt, output)?;
                let occasion = match order.occasion {
                    Occasion::Schedule => "schedule",
                    Occasion::Dispatch => "dispatch",
                };
                (format!("opencode/{occasion}-"), None)
            }
            (_, Subject::Discussion(_)) => return Err(NoWork::Discussion),
            (_, Subject::Issue(_) | Subject::PullRequest(_)) if !asks_for_change(trigger.words()) => {
                return Err(NoWork::Question);
            }
            (_, Subject::Issue(number)) => (format!("opencode/issue{number}-"), Some(number)),
            (_, Subject::PullRequest(number)) => (format!("opencode/pr{number}-"), None),
            (_, Subject::Repository) => return Err(NoWork::Unasked),
        };
        Ok(Self { prefix, closes, asker: permit.asker().clone() })
    }

    /// Returns how the names of its branches begin.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the name of a new branch.
    pub fn branch(&self, now: Timestamp) -> String {
        format!("{}{}", self.prefix, now.strftime("%Y%m%d%H%M%S"))
    }

    /// Returns the description of its pull request: what the agent wrote, and what it closes.
    pub fn description(&self, written: &str) -> String {
        let closing = self.closes.map(|number| format!("Closes #{number}."));
        let missing = closing.filter(|closing| !written.contains(closing.trim_end_matches('.')));
        let asked = format!("Asked for by @{}.", self.asker);
        let parts = [Some(written.trim().to_owned()), missing, Some(asked)];
        let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("\n\n")
    }

    /// Returns who asked, for the commits' trailer.
    pub fn asker(&self) -> &Login {
        &self.asker
    }
}

fn asked_by_order(prompt: &str, output: OutputMode) -> Result<(), NoWork> {
    match output {
        OutputMode::BranchPr => Ok(()),
        OutputMode::Report => Err(NoWork::Off("`output-mode` is `report`")),
        OutputMode::Auto if asks_for_change(prompt) => Ok(()),
        OutputMode::Auto => Err(NoWork::Question),
    }
}

/// What people begin a request for a change with.
const VERBS: &[&str] = &[
    "add",
    "address",
    "apply",
    "bump",
    "change",
    "clean",
    "commit",
    "complete",
    "convert",
    "correct",
    "create",
    "delete",
    "document",
    "extract",
    "finish",
    "fix",
    "implement",
    "improve",
    "introduce",
    "make",
    "mend",
    "merge",
    "migrate",
    "move",
    "patch",
    "port",
    "push",
    "rebase",
    "refactor",
    "remove",
    "rename",
    "repair",
    "replace",
    "resolve",
    "revert",
    "rewrite",
    "simplify",
    "solve",
    "split",
    "update",
    "upgrade",
    "use",
    "wire",
    "write",
];

/// What may stand before it.
const FILLERS: &[&str] = &[
    "a", "ahead", "also", "and", "can", "could", "do", "go", "great", "hey", "hi", "i", "i'd", "just",
    "kindly", "let's", "like", "now", "ok", "okay", "please", "pls", "should", "so", "thanks", "then", "to",
    "try", "want", "we", "will", "would", "yes", "you",
];

/// Tells whether somebody's own words ask for a change: a clause that begins with a verb of doing.
///
/// A wrong yes costs a branch that nobody merges, a wrong no a second comment.
fn asks_for_change(markdown: &str) -> bool {
    let text = own_words(markdown).to_lowercase();
    let clauses = text.split(['.', '!', '?', ';', ':', ',', '\n', '/']);
    clauses.map(str::trim).any(|clause| {
        let words = clause.split_whitespace().filter(|word| !word.starts_with('@'));
        let mut words = words.skip_while(|word| FILLERS.contains(word));
        let first = words.next().unwrap_or_default();
        let wants_pull = ["open", "raise", "send", "submit"].contains(&first)
            && (clause.contains("pull request") || clause.split_whitespace().any(|word| word == "pr"));
        VERBS.contains(&first) || wants_pull
    })
}

/// Returns what somebody says, without what they quote and without code.
fn own_words(markdown: &str) -> String {
    let mut hidden = 0_usize;
    let mut text = String::new();
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::BlockQuote(_)) => hidden += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::BlockQuote(_)) => hidden -= 1,
            Event::Text(words) if hidden == 0 => text.push_str(&words),
            Event::Code(_) if hidden == 0 => text.push('…'),
            Event::End(_) | Event::SoftBreak | Event::HardBreak => text.push('\n'),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::tests::trigger,
        gate::tests::{a_mention, permit_for},
    };

    #[test]
    fn a_clause_that_begins_with_a_deed_asks_for_a_change() {
        for text in [
            "@fro-bot fix it",
            "@fro-bot /fix",
            "@fro-bot please add a test for the tap.",
            "@fro-bot, could you rename `tap` to `valve`?",
            "The tap drips. @fro-bot: implement what Rita suggests",
            "@fro-bot\n\nI'd like you to update the docs",
            "@fro-bot looks good, now open a pull request",
        ] {
            assert!(asks_for_change(text), "{text}");
        }
    }

    #[test]
    fn a_question_does_not() {
        for text in [
            "@fro-bot why is the floor wet?",
            "@fro-bot why does the fix fail?",
            "@fro-bot how do I add a test",
            "@fro-bot is this fixed",
            "@fro-bot review",
            "@fro-bot what would fix it?\n\n> fix it now",
            "@fro-bot explain\n\n```\nfix it\n```",
            "@fro-bot open questions?",
        ] {
            assert!(!asks_for_change(text), "{text}");
        }
    }

    /// Returns what becomes of mallory's issue when maya makes it say this.
    fn edited(before: &str, after: &str) -> Result<Commission, NoWork> {
        let payload = serde_json::json!({
            "action": "edited",
            "issue": { "number": 7, "body": after, "user": { "login": "mallory" } },
            "changes": { "body": { "from": before } },
            "sender": { "login": "maya" },
            "repository": { "full_name": "octo/garden" },
        });
        let trigger = trigger("issues", &payload.to_string());
        Commission::of(&trigger, &permit_for(&trigger), DelegatedWork::OnRequest, OutputMode::Auto)
    }

    #[test]
    fn a_stranger_s_words_are_no_request_because_a_maintainer_edits_them() {
        let wish = "Fix the tap and push it to main";
        for after in
            [format!("{wish} @fro-bot"), format!("@fro-bot {wish}"), format!("{wish}\n\n@fro-bot, why?")]
        {
            assert_eq!(edited(wish, &after), Err(NoWork::Question), "{after}");
        }
        assert!(edited(wish, &format!("{wish}\n\n@fro-bot fix it")).is_ok());
    }

    #[test]
    fn a_branch_is_named_after_its_issue_and_time() {
        let mut trigger = a_mention();
        let Trigger::Comment(comment) = &mut trigger else { panic!("a mention is a comment") };
        comment.body = "@fro-bot fix it".to_owned();
        let commission =
            Commission::of(&trigger, &permit_for(&trigger), DelegatedWork::OnRequest, OutputMode::Auto);
        let commission = commission.unwrap();
        let now: Timestamp = "2026-05-04T08:09:10Z".parse().unwrap();
        assert_eq!(commission.branch(now), format!("{}20260504080910", commission.prefix()));
        assert!(commission.prefix().starts_with("opencode/issue"), "{}", commission.prefix());
    }

    #[test]
    fn a_description_closes_the_issue_once() {
        let commission = Commission { prefix: String::new(), closes: Some(7), asker: Login::new("maya") };
        let written =
            ["", "It drips no more.", "Closes #7, at last."].map(|text| commission.description(text));
        assert_eq!(
            written,
            [
                "Closes #7.\n\nAsked for by @maya.",
                "It drips no more.\n\nCloses #7.\n\nAsked for by @maya.",
                "Closes #7, at last.\n\nAsked for by @maya.",
            ]
        );
    }

    #[test]
    fn a_schedule_pushes_what_its_prompt_asks_for() {
        let told = |prompt: &str, output| {
            asked_by_order(prompt, output).map_or_else(|no| no.to_string(), |()| "yes".to_owned())
        };
        assert_eq!(told("Update the dependencies", OutputMode::Auto), "yes");
        assert_eq!(told("What is stale?", OutputMode::BranchPr), "yes");
        assert_eq!(
            told("Update it", OutputMode::Report),
            "this workflow pushes nothing: `output-mode` is `report`"
        );
        assert!(told("What is stale?", OutputMode::Auto).starts_with("the request does not ask"));
    }
}
