//! One run, from the event to the receipt.
//!
//! Nothing is asked of the network before the event itself says that it may be for us, nothing is written
//! without a `Permit`, and whatever happens after the 👀 ends in exactly one comment or in a failed run.

mod admit;
mod answer;
mod builtin_commands;
mod ending;
mod occasion;
mod post;
mod process;
mod progress;
mod publish;
mod result;
mod review;
mod settings;
mod share;
mod venue;

pub use admit::{Admission, Admitted, admit};
pub use ending::{Ending, Receipt};
pub use occasion::Occasion;
pub use post::KilledRun;
pub use process::Process;
pub use progress::{Progress, Tell};
pub use result::OutputSchema;
pub use review::{Change, Commits, LocalClone, LocalReview, ReviewStatus, Reviewed, review_local_clone};
pub use settings::{
    Card, CheckRuns, ProgressPlace, ReviewSettings, RunOptions, Settings, ShareSettings, Sharing, WebSettings,
};
pub use venue::{REPO_SETTINGS, repo_settings};

use fro_agent::{Agent, Step};
use fro_core::{
    Fault, Task,
    conversation::{heard::Heard, todo::TodoList},
};
use tokio::sync::watch;

use crate::{answer::Request, venue::Acknowledgement};

impl Admitted {
    /// Answers once. `interrupt` ends when somebody asks the run to stop.
    pub async fn answer(
        &self,
        process: &Process,
        occasion: &Occasion,
        tell: Tell<'_>,
        interrupt: impl Future<Output = ()>,
    ) -> Result<Ending, Fault> {
        let Self { trigger, permit, task, .. } = self;
        let occasion = &Occasion { audience: self.audience, ..occasion.clone() };
        tell(Progress::Permitted(permit.clone()));
        tell(Progress::Model(process.agent.settings.model()));
        let job = occasion.job(process, trigger, permit);
        let todos = watch::Sender::new(TodoList::default());
        let steps = |step| forward_step(step, &todos, tell);
        let mut agent = Agent::open(&process.agent, &job, &steps)?;
        let venue = self.host.venue(permit, occasion, tell);
        let mut acknowledgement = venue.acknowledgement(task.visibility());
        let request = Request { process, occasion, job: &job, tell, trigger, permit, venue, todos: &todos };
        let ended = tokio::select! {
            ended = perform(task, &request, (&mut acknowledgement, &mut agent)) => ended,
            () = interrupt => Ok(Ending::Interrupted),
            by = venue.wait_for_stop() => {
                tell(Progress::Stopped { by });
                Ok(Ending::Stopped)
            }
        };
        if !matches!(ended, Ok(Ending::Answered(_) | Ending::ToldFailure(_) | Ending::Reviewed(_))) {
            venue.end_progress(process, &request.marker()).await;
        }
        let (finished, ()) = tokio::join!(agent.finish(), acknowledgement.end(&ended));
        venue::memory(process, occasion, finished.kept.as_ref());
        if let (Some(keeping), Ok(Ending::Answered(_) | Ending::ToldFailure(_))) = (&finished.kept, &ended) {
            venue.amend(&request, &fro_agent::save_trouble(keeping)).await;
        }
        finished.cleaned.and(ended)
    }
}

/// Does what the request is for, up to what people read of it.
async fn perform(
    task: &Task,
    request: &Request<'_>,
    (acknowledgement, agent): (&mut Acknowledgement<'_>, &mut Agent<'_>),
) -> Result<Ending, Fault> {
    // Each is a large future of which only one is needed.
    match task {
        Task::Answer => Box::pin(answer::by_agent(request, acknowledgement, agent)).await,
        Task::BuiltInCommand(reply) => {
            Box::pin(answer::without_engine(request, reply, acknowledgement, agent)).await
        }
        Task::Review(wish) => Box::pin(review::review_pull(request, *wish, acknowledgement, agent)).await,
    }
}

/// Tells of a step, and keeps the agent's list of things to do for whoever shows it.
fn forward_step(step: Step, todos: &watch::Sender<TodoList>, tell: Tell<'_>) {
    if let Step::Heard(Heard::TodoChanged(list)) = &step {
        todos.send_replace(list.clone());
    }
    tell(Progress::Agent(step));
}

#[cfg(test)]
mod tests;
