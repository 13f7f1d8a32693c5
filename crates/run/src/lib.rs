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
pub use post::Left;
pub use process::Process;
pub use progress::{Progress, Tell};
pub use result::OutputSchema;
pub use review::{Change, Commits, Here, Looked, ReviewStatus, Reviewed, look_here};
pub use settings::{
    Card, CheckRuns, ProgressPlace, ReviewSettings, Settings, ShareSettings, Sharing, WebSettings,
};
pub use venue::{REPO_SETTINGS, repo_settings};

use fro_agent::{Agent, Step};
use fro_core::{
    Fault, Task,
    conversation::{heard::Heard, todo::TodoList},
};
use tokio::sync::watch;

use crate::answer::Asked;

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
        let steps = |step| hear(step, &todos, tell);
        let mut agent = Agent::open(&process.agent, &job, &steps)?;
        let venue = self.host.venue(permit, occasion, tell);
        let mut seen = venue.acknowledgement(task.manner());
        let asked = Asked { process, occasion, job: &job, tell, trigger, permit, venue, todos: &todos };
        let work = async {
            match task {
                Task::Answer => Box::pin(answer::by_agent(&asked, &mut seen, &mut agent)).await,
                Task::BuiltInCommand(reply) => {
                    Box::pin(answer::without_engine(&asked, reply, &mut seen, &mut agent)).await
                }
                Task::Review(wish) => Box::pin(review::once(&asked, *wish, &mut seen, &mut agent)).await,
            }
        };
        let ended = tokio::select! {
            ended = work => ended,
            () = interrupt => Ok(Ending::Interrupted),
            by = venue.stop_said() => {
                tell(Progress::Stopped { by });
                Ok(Ending::Stopped)
            }
        };
        if !matches!(ended, Ok(Ending::Answered(_) | Ending::ToldFailure(_) | Ending::Reviewed(_))) {
            venue.end_progress(process, &asked.marker()).await;
        }
        let (finished, ()) = tokio::join!(agent.finish(), seen.end(&ended));
        venue::memory(process, occasion, finished.kept.as_ref());
        if let (Some(keeping), Ok(Ending::Answered(_) | Ending::ToldFailure(_))) = (&finished.kept, &ended) {
            venue.amend(&asked, &fro_agent::save_trouble(keeping)).await;
        }
        finished.cleaned.and(ended)
    }
}

/// Tells of a step, and keeps the agent's list of things to do for whoever shows it.
fn hear(step: Step, todos: &watch::Sender<TodoList>, tell: Tell<'_>) {
    if let Step::Heard(Heard::TodoChanged(list)) = &step {
        todos.send_replace(list.clone());
    }
    tell(Progress::Agent(step));
}

#[cfg(test)]
mod tests;
