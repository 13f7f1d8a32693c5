//! Answers one of our words without the engine: by heart, from what is remembered, or by forgetting it.

use fro_core::{
    Fault, Reach,
    conversation::outcome::{Trouble, Turn},
    say::{command::Reply, standing},
};

use crate::{answer::Asked, publish::Said, workplace::Workplace};

/// Brings what the answer needs.
pub(crate) async fn prepare(asked: &Asked<'_>, workplace: &mut Workplace, reply: &Reply) {
    match reply {
        Reply::Words(_) => {}
        Reply::Status | Reply::Forget => workplace.recall(asked.tell).await,
    }
}

/// Returns the answer.
pub(crate) async fn answer(asked: &Asked<'_>, workplace: &mut Workplace, reply: Reply) -> Said {
    let answered = match reply {
        Reply::Words(words) => Ok(words),
        Reply::Status => workplace.standing(asked).await.map(|standing| standing::status(&standing)),
        Reply::Forget => forget(asked, workplace).await,
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

async fn forget(asked: &Asked<'_>, workplace: &mut Workplace) -> Result<String, String> {
    match asked.permit.reach() {
        Reach::Work => workplace.forget(asked).await.map(standing::forgotten),
        Reach::Answer | Reach::ReadOnly => Ok(standing::NOT_YOURS_TO_FORGET.to_owned()),
    }
}
