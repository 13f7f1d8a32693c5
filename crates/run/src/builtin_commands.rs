//! Answers `help`, `status`, `forget` and `stop` without the engine.

use fro_agent::Agent;
use fro_core::{
    Fault, Reach,
    conversation::outcome::{Trouble, Turn},
    say::{command::CommandReply, standing},
};

use crate::{answer::Asked, publish::Said};

/// Brings what the answer needs.
pub(crate) async fn prepare(agent: &mut Agent<'_>, reply: &CommandReply) {
    match reply {
        CommandReply::Words(_) | CommandReply::Stop => {}
        CommandReply::Status | CommandReply::Forget => agent.recall().await,
    }
}

/// Returns the answer.
pub(crate) async fn answer(asked: &Asked<'_>, agent: &mut Agent<'_>, reply: &CommandReply) -> Said {
    let answered = match reply {
        CommandReply::Words(words) => Ok(words.clone()),
        CommandReply::Status => {
            agent.standing(asked.permit).await.map(|standing| standing::status(&standing))
        }
        CommandReply::Forget => forget(asked, agent).await,
        CommandReply::Stop => return stopped(asked).await,
    };
    match answered {
        Ok(words) => Said::new(Turn::answered(words)),
        Err(why) => Said {
            broke: Some(Fault::ours(format!(
                "the memory of {} cannot be used: {why}",
                asked.permit.subject().mark()
            ))),
            ..Said::new(Turn::failed(Trouble::Memory))
        },
    }
}

async fn stopped(asked: &Asked<'_>) -> Said {
    match asked.venue.stopped().await {
        Ok(words) => Said::new(Turn::answered(words)),
        Err(fault) => Said::unread(fault),
    }
}

async fn forget(asked: &Asked<'_>, agent: &mut Agent<'_>) -> Result<String, String> {
    match asked.permit.reach() {
        Reach::Work => agent.forget(asked.permit).await.map(standing::forgotten),
        Reach::Answer | Reach::ReadOnly => Ok(standing::NOT_YOURS_TO_FORGET.to_owned()),
    }
}
