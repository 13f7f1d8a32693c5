//! Answers `help`, `status`, `forget` and `stop` without the engine.

use fro_agent::Agent;
use fro_core::{
    Fault, Reach,
    conversation::outcome::{Trouble, Turn},
    say::{command::CommandReply, subject_status},
};

use crate::{answer::Request, publish::Answer};

/// Brings what the answer needs.
pub(crate) async fn prepare(agent: &mut Agent<'_>, reply: &CommandReply) {
    match reply {
        CommandReply::Words(_) | CommandReply::Stop => {}
        CommandReply::Status | CommandReply::Forget => agent.recall().await,
    }
}

/// Returns the answer.
pub(crate) async fn answer(request: &Request<'_>, agent: &mut Agent<'_>, reply: &CommandReply) -> Answer {
    let answered = match reply {
        CommandReply::Words(words) => Ok(words.clone()),
        CommandReply::Status => {
            agent.subject_status(request.permit).await.map(|status| subject_status::describe(&status))
        }
        CommandReply::Forget => forget(request, agent).await,
        CommandReply::Stop => return stopped(request).await,
    };
    match answered {
        Ok(words) => Answer::new(Turn::answered(words)),
        Err(why) => Answer {
            broke: Some(Fault::ours(format!(
                "the memory of {} cannot be used: {why}",
                request.permit.subject().mark()
            ))),
            ..Answer::new(Turn::failed(Trouble::Memory))
        },
    }
}

async fn stopped(request: &Request<'_>) -> Answer {
    match request.venue.stopped().await {
        Ok(words) => Answer::new(Turn::answered(words)),
        Err(fault) => Answer::context_unreadable(fault),
    }
}

async fn forget(request: &Request<'_>, agent: &mut Agent<'_>) -> Result<String, String> {
    match request.permit.reach() {
        Reach::Work => agent.forget(request.permit).await.map(subject_status::forgotten),
        Reach::Answer | Reach::ReadOnly => Ok(subject_status::NOT_YOURS_TO_FORGET.to_owned()),
    }
}
