//! One run, from the event to the receipt.
//!
//! Nothing is asked of the network before the event itself says that it may be for us, nothing is written
//! without a `Permit`, and whatever happens after the 👀 ends in exactly one comment or in a failed run.

mod acknowledge;
mod answer;
mod attach;
mod builtin_commands;
mod deliver;
mod facts;
mod fold;
mod hydrate;
mod inline_comments;
mod occasion;
mod post;
mod process;
mod progress;
mod publish;
mod repo_settings;
mod review;
mod settings;
mod share;
mod step_summary;

pub use occasion::Occasion;
pub use post::Left;
pub use process::Process;
pub use progress::{Progress, Tell};
pub use repo_settings::{REPO_SETTINGS, repo_settings};
pub use review::{ReviewStatus, Reviewed};
pub use settings::{Card, ReviewSettings, Settings, ShareSettings, Sharing};

use fro_agent::Agent;
use fro_core::{
    Decision, Fault, Permit, Trigger,
    event::{self, Reading},
    gate::{self, ReviewWish, SkipReason},
    remembered::Audience,
};
use fro_github::GitHub;

use crate::{acknowledge::Acknowledgement, answer::Asked};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// There was nothing to do.
    Skipped(SkipReason),
    /// The answer was posted.
    Answered(Receipt),
    /// A comment was posted that says what went wrong.
    ToldFailure(Receipt),
    /// A pull request was looked at, with or without a word.
    Reviewed(Reviewed),
    /// Somebody stopped the run.
    Interrupted,
}

/// The proof of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Where people read it.
    pub url: String,
}

/// What came of looking at an event.
pub enum Admission {
    /// It is over already.
    Ended(Ending),
    /// It is to be answered.
    Admitted(Box<Admitted>),
}

/// An event that is to be answered.
pub struct Admitted {
    trigger: Trigger,
    permit: Permit,
    github: GitHub,
    file: Option<String>,
    audience: Option<Audience>,
}

/// Decides whether an event is answered. `interrupt` ends when somebody asks the run to stop.
pub async fn admit(
    process: &Process,
    occasion: &Occasion,
    tell: Tell<'_>,
    interrupt: impl Future<Output = ()>,
) -> Result<Admission, Fault> {
    let skip = |reason: SkipReason| {
        tell(Progress::Skipped(reason.clone()));
        Ok(Admission::Ended(Ending::Skipped(reason)))
    };
    let policy = &process.policy;
    let trigger = match event::read(&occasion.event)? {
        Reading::Trigger(trigger) => trigger,
        Reading::Skip(reason) => return skip(reason),
    };
    if let Err(reason) = gate::glance(&trigger, policy) {
        return skip(reason);
    }
    let github = process.github(trigger.repo())?;
    let questions = async {
        let facts = facts::gather(&github, &trigger, policy, occasion);
        tokio::join!(facts, repo_settings(&github), facts::audience(&github, occasion))
    };
    let (facts, file, audience) = tokio::select! {
        answers = questions => answers,
        () = interrupt => return Ok(Admission::Ended(Ending::Interrupted)),
    };
    match gate::decide(&trigger, &facts?, policy) {
        Decision::Run(permit) => {
            let (permit, file) = (*permit, file?);
            Ok(Admission::Admitted(Box::new(Admitted { trigger, permit, github, file, audience })))
        }
        Decision::Skip(reason) => skip(reason),
    }
}

impl Admitted {
    /// Returns the text of the settings that live with the repository, for whoever made those of the process.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Answers once. `interrupt` ends when somebody asks the run to stop.
    pub async fn answer(
        &self,
        process: &Process,
        occasion: &Occasion,
        tell: Tell<'_>,
        interrupt: impl Future<Output = ()>,
    ) -> Result<Ending, Fault> {
        let Self { trigger, permit, github, .. } = self;
        let occasion = &Occasion { audience: self.audience, ..occasion.clone() };
        tell(Progress::Permitted(permit.clone()));
        tell(Progress::Model(process.agent.settings.model()));
        let job = occasion.job(process, trigger, permit);
        let steps = |step| tell(Progress::Agent(step));
        let mut agent = Agent::open(&process.agent, &job, &steps)?;
        let wish = ReviewWish::of(trigger, &process.policy);
        let mut acknowledgement = Acknowledgement::of(github, permit, tell, wish);
        let asked = Asked { process, occasion, job: &job, tell, trigger, permit, github };
        let work = async {
            match wish {
                Some(wish) => Box::pin(review::once(&asked, wish, &mut acknowledgement, &mut agent)).await,
                None => Box::pin(answer::once(&asked, &mut acknowledgement, &mut agent)).await,
            }
        };
        let ended = tokio::select! {
            ended = work => ended,
            () = interrupt => Ok(Ending::Interrupted),
        };
        let (finished, ()) = tokio::join!(agent.finish(), acknowledgement.end(&ended));
        step_summary::memory(process, occasion, finished.kept.as_ref());
        finished.cleaned.and(ended)
    }
}
