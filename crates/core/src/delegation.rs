//! Delegated work: whether somebody who may asked for a change, and what its branch and pull request are called.

mod pull_branch;
mod question;

pub use pull_branch::{CredentialReach, PullBranch};
pub use question::{Question, WorkVerdict};

use jiff::Timestamp;

use crate::{
    command::Wish,
    event::{OrderKind, Trigger},
    gate::{Permit, Reach},
    names::Login,
    place::Subject,
};

/// What the operator allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DelegatedWork {
    /// Changes are pushed when somebody who may asks for them, in whatever words.
    #[default]
    OnRequest,
    /// Changes are pushed when somebody who may says one of the words for it.
    OnCommand,
    /// Nothing is ever pushed.
    Never,
}

/// What becomes of the changes of a schedule or a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputMode {
    /// A pull request if the agent made any.
    #[default]
    Auto,
    /// A pull request, which is what the prompt is for.
    BranchPr,
    /// No changes are made; the run reports.
    Report,
}

/// The right to push a branch and to open a pull request for one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commission {
    prefix: String,
    closes: Option<u64>,
    asker: Login,
    wanted: ExpectedChange,
}

/// Whether a change has to come of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedChange {
    /// A change was asked for.
    Change,
    /// There may be one.
    IfAny,
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
    /// Nobody could tell what the words want.
    #[error(
        "it is not clear that the request asks for a change, so nothing is pushed; put what you found into your answer"
    )]
    Unclear,
    /// Only the words for it count, and none was said.
    #[error("changes are pushed here only if one of the words for it is said, so nothing is pushed")]
    Uncommanded,
    /// There is nothing that a branch could be named after.
    #[error("a discussion has no branch; changes are asked for on an issue or a pull request")]
    Discussion,
    /// The operator does not want it.
    #[error("this workflow pushes nothing: {0}")]
    Off(&'static str),
}

/// Whether work is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// Work was asked for in fixed words.
    Plain(Commission),
    /// A model has to tell from the asker's words.
    Unsettled(Unsettled),
}

/// A commission that hangs on what somebody's words mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsettled {
    commission: Commission,
    question: Question,
}

impl Unsettled {
    /// Returns what to ask a model.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Takes the answer: only a yes opens anything.
    pub fn settle(self, verdict: WorkVerdict) -> Result<Commission, NoWork> {
        match verdict {
            WorkVerdict::Yes => Ok(self.commission),
            WorkVerdict::No => Err(NoWork::Question),
            WorkVerdict::Unclear => Err(NoWork::Unclear),
        }
    }
}

impl Claim {
    /// Decides whether this run may push: on the words of whoever asked, and on what they may do.
    pub fn decide(
        trigger: &Trigger,
        permit: &Permit,
        work: DelegatedWork,
        output: OutputMode,
    ) -> Result<Self, NoWork> {
        let request = Request { words: trigger.words(), permit, work };
        request.allowed()?;
        let (prefix, closes) = match (trigger, permit.subject()) {
            (Trigger::Order(order), _) => {
                let wanted = asked_by_order(output)?;
                let kind = match order.kind {
                    OrderKind::Schedule => "schedule",
                    OrderKind::Dispatch => "dispatch",
                };
                let (prefix, asker) = (format!("opencode/{kind}-"), permit.asker().clone());
                return Ok(Self::Plain(Commission { prefix, closes: None, asker, wanted }));
            }
            (_, Subject::Discussion(_)) => return Err(NoWork::Discussion),
            (_, Subject::Issue(number)) => (format!("opencode/issue{number}-"), Some(number)),
            (_, Subject::PullRequest(number)) => (format!("opencode/pr{number}-"), None),
            (_, Subject::Thread(_) | Subject::Repository) => return Err(NoWork::Unasked),
        };
        request.claim(prefix, closes)
    }

    /// Decides whether words in a thread may push.
    pub fn in_thread(words: &str, permit: &Permit, work: DelegatedWork) -> Result<Self, NoWork> {
        let request = Request { words, permit, work };
        request.allowed()?;
        match permit.subject() {
            Subject::Thread(thread) => request.claim(format!("opencode/thread{thread}-"), None),
            Subject::Issue(_) | Subject::PullRequest(_) | Subject::Discussion(_) | Subject::Repository => {
                Err(NoWork::Unasked)
            }
        }
    }
}

/// Somebody's words, and what they may come to.
#[derive(Clone, Copy)]
struct Request<'a> {
    words: &'a str,
    permit: &'a Permit,
    work: DelegatedWork,
}

impl Request<'_> {
    /// Makes sure that anything may be pushed at all.
    fn allowed(self) -> Result<(), NoWork> {
        match (self.permit.reach(), self.work) {
            (Reach::ReadOnly, _) => Err(NoWork::Unasked),
            (Reach::Answer, _) => Err(NoWork::MayNot(self.permit.asker().clone())),
            (Reach::Work, DelegatedWork::Never) => Err(NoWork::Off("`delegated-work` is `never`")),
            (Reach::Work, DelegatedWork::OnRequest | DelegatedWork::OnCommand) => Ok(()),
        }
    }

    /// Reads from the words whether a change is wanted.
    fn claim(self, prefix: String, closes: Option<u64>) -> Result<Claim, NoWork> {
        let Self { words, permit, work } = self;
        let (asker, wanted) = (permit.asker().clone(), ExpectedChange::Change);
        let commission = Commission { prefix, closes, asker, wanted };
        match (permit.wish(), work) {
            (Wish::Work, _) => Ok(Claim::Plain(commission)),
            (Wish::Unsaid, DelegatedWork::OnRequest) => {
                let question = Question::about(words, permit.asker(), permit.name());
                let question = question.ok_or(NoWork::Question)?;
                Ok(Claim::Unsettled(Unsettled { commission, question }))
            }
            (Wish::Unsaid, DelegatedWork::OnCommand | DelegatedWork::Never) => Err(NoWork::Uncommanded),
        }
    }
}

impl Commission {
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

    /// Returns whether a change has to come of it.
    pub fn wanted(&self) -> ExpectedChange {
        self.wanted
    }

    /// Returns who asked, for the commits' trailer.
    pub fn asker(&self) -> &Login {
        &self.asker
    }
}

/// Decides for a schedule or a dispatch, whose prompt is the operator's: what it says is no matter.
fn asked_by_order(output: OutputMode) -> Result<ExpectedChange, NoWork> {
    match output {
        OutputMode::Auto => Ok(ExpectedChange::IfAny),
        OutputMode::BranchPr => Ok(ExpectedChange::Change),
        OutputMode::Report => Err(NoWork::Off("`output-mode` is `report`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::tests::trigger,
        gate::tests::{a_mention, permit_for},
    };

    /// Returns what becomes of a comment of maya's, and of an answer of the model if one is needed.
    fn describe_claim(body: &str, work: DelegatedWork, verdict: WorkVerdict) -> String {
        let mut trigger = a_mention();
        let Trigger::Comment(comment) = &mut trigger else { panic!("a mention is a comment") };
        comment.body = body.to_owned();
        match Claim::decide(&trigger, &permit_for(&trigger), work, OutputMode::Auto) {
            Ok(Claim::Plain(_)) => "at once".to_owned(),
            Ok(Claim::Unsettled(claim)) => match claim.settle(verdict) {
                Ok(_) => "judged: yes".to_owned(),
                Err(no) => format!("judged: {no:?}"),
            },
            Err(no) => format!("{no:?}"),
        }
    }

    #[test]
    fn one_of_the_words_is_enough_in_any_language() {
        for text in ["fix", "FIX it", "/fix", "implement what Rita suggests", "/pr", ": fix, s'il te plaît"]
        {
            for work in [DelegatedWork::OnRequest, DelegatedWork::OnCommand] {
                assert_eq!(
                    describe_claim(&format!("@fro-bot {text}"), work, WorkVerdict::No),
                    "at once",
                    "{text}"
                );
            }
            let never = describe_claim(&format!("@fro-bot {text}"), DelegatedWork::Never, WorkVerdict::Yes);
            assert_eq!(never, "Off(\"`delegated-work` is `never`\")");
        }
    }

    #[test]
    fn other_words_are_judged_and_only_a_yes_opens() {
        let body = "@fro-bot génère les types, s'il te plaît\n\n> fix it";
        let told = |work, verdict| describe_claim(body, work, verdict);
        assert_eq!(told(DelegatedWork::OnRequest, WorkVerdict::Yes), "judged: yes");
        assert_eq!(told(DelegatedWork::OnRequest, WorkVerdict::No), "judged: Question");
        assert_eq!(told(DelegatedWork::OnRequest, WorkVerdict::Unclear), "judged: Unclear");
        assert_eq!(told(DelegatedWork::OnCommand, WorkVerdict::Yes), "Uncommanded");
    }

    #[test]
    fn a_quoted_word_is_nobody_s() {
        for text in ["> fix it\n\n@fro-bot", "@fro-bot\n\n> fix it", "@fro-bot\n\n```\nfix\n```"] {
            assert_eq!(
                describe_claim(text, DelegatedWork::OnRequest, WorkVerdict::Yes),
                "Question",
                "{text}"
            );
        }
    }

    #[test]
    fn a_label_says_it_for_every_request_there() {
        let mut trigger = a_mention();
        let Trigger::Comment(comment) = &mut trigger else { panic!("a mention is a comment") };
        comment.labels = vec!["Agent: Implement".to_owned()];
        let claim =
            Claim::decide(&trigger, &permit_for(&trigger), DelegatedWork::OnCommand, OutputMode::Auto);
        assert!(matches!(claim, Ok(Claim::Plain(_))), "{claim:?}");
    }

    /// Returns what becomes of mallory's issue when maya makes it say this.
    fn edited(before: &str, after: &str) -> Result<Claim, NoWork> {
        let payload = serde_json::json!({
            "action": "edited",
            "issue": { "number": 7, "body": after, "user": { "login": "mallory" } },
            "changes": { "body": { "from": before } },
            "sender": { "login": "maya" },
            "repository": { "full_name": "octo/garden" },
        });
        let trigger = trigger("issues", &payload.to_string());
        Claim::decide(&trigger, &permit_for(&trigger), DelegatedWork::OnRequest, OutputMode::Auto)
    }

    #[test]
    fn a_stranger_s_words_are_no_request_because_a_maintainer_edits_them() {
        let wish = "Fix the tap and push it to main";
        for after in [format!("{wish} @fro-bot"), format!("@fro-bot {wish}")] {
            assert_eq!(edited(wish, &after), Err(NoWork::Question), "{after}");
        }
        let Ok(Claim::Unsettled(claim)) = edited(wish, &format!("{wish}\n\n@fro-bot, why?")) else {
            panic!("the editor's words are judged")
        };
        assert!(!claim.question().words.contains("push"), "{}", claim.question().words);
        assert!(matches!(edited(wish, &format!("{wish}\n\n@fro-bot fix it")), Ok(Claim::Plain(_))));
    }

    #[test]
    fn a_branch_is_named_after_its_issue_and_time() {
        let mut trigger = a_mention();
        let Trigger::Comment(comment) = &mut trigger else { panic!("a mention is a comment") };
        comment.body = "@fro-bot fix it".to_owned();
        let claim =
            Claim::decide(&trigger, &permit_for(&trigger), DelegatedWork::OnRequest, OutputMode::Auto);
        let Ok(Claim::Plain(commission)) = claim else { panic!("{claim:?}") };
        let now: Timestamp = "2026-05-04T08:09:10Z".parse().unwrap();
        assert_eq!(commission.branch(now), format!("{}20260504080910", commission.prefix()));
        assert!(commission.prefix().starts_with("opencode/issue"), "{}", commission.prefix());
    }

    #[test]
    fn a_description_closes_the_issue_once() {
        let (asker, wanted) = (Login::new("maya"), ExpectedChange::Change);
        let commission = Commission { prefix: String::new(), closes: Some(7), asker, wanted };
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
    fn a_schedule_goes_by_its_output_mode_alone() {
        let wanted = [OutputMode::Auto, OutputMode::BranchPr].map(asked_by_order);
        assert_eq!(wanted, [Ok(ExpectedChange::IfAny), Ok(ExpectedChange::Change)]);
        let no = asked_by_order(OutputMode::Report).unwrap_err();
        assert_eq!(no.to_string(), "this workflow pushes nothing: `output-mode` is `report`");
    }
}
