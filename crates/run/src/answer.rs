//! From the permit to the receipt: acknowledge, prepare, ask the engine, deliver.

use fro_core::{
    Fault, Permit, Trigger,
    conversation::outcome::{Outcome, Trouble, Turn},
    prompt,
    say::{self, marker::Marker},
};
use fro_github::GitHub;

use crate::{
    Ending,
    acknowledge::Acknowledgement,
    builtin_commands, fold,
    hydrate::{self, Hydrated},
    network,
    occasion::Occasion,
    process::Process,
    progress::{Progress, Tell},
    publish::Said,
    settings::Settings,
    workplace::Workplace,
};

/// A request that may be answered.
pub(crate) struct Asked<'a> {
    pub(crate) process: &'a Process,
    pub(crate) occasion: &'a Occasion,
    pub(crate) tell: Tell<'a>,
    pub(crate) trigger: &'a Trigger,
    pub(crate) permit: &'a Permit,
    pub(crate) github: &'a GitHub,
}

impl<'a> Asked<'a> {
    /// Returns what the operator says.
    pub(crate) fn settings(&self) -> &'a Settings {
        &self.process.settings
    }
}

/// Answers once. Whatever breaks after the 👀 is told in the one comment, and the run fails with it.
pub(crate) async fn once(
    asked: &Asked<'_>,
    acknowledgement: &mut Acknowledgement<'_>,
    workplace: &mut Workplace,
) -> Result<Ending, Fault> {
    let marker = Marker::new(&asked.occasion.run.id, asked.trigger);
    let reply = say::command::reply(asked.permit.said(), asked.permit.name(), asked.permit.work_words());
    let prepare = async {
        match &reply {
            Some(reply) => {
                builtin_commands::prepare(asked, workplace, reply).await;
                Ok(())
            }
            None => workplace.prepare(asked).await,
        }
    };
    let ((), hydrated, prepared) = tokio::join!(
        acknowledgement.begin(),
        hydrate::hydrate(asked.github, asked.trigger, asked.permit, &marker, asked.tell),
        prepare,
    );
    let said = match (hydrated, prepared) {
        (Ok(hydrated), Ok(())) => match reply {
            Some(reply) => {
                Said { earlier: hydrated.earlier, ..builtin_commands::answer(asked, workplace, reply).await }
            }
            None => converse(asked, workplace, hydrated).await,
        },
        (Err(fault), _) => Said { broke: Some(fault), ..Said::new(Turn::failed(Trouble::NoContext)) },
        (Ok(hydrated), Err(fault)) => Said {
            earlier: hydrated.earlier,
            broke: Some(fault),
            ..Said::new(Turn::failed(Trouble::NotStarted))
        },
    };
    let handover = workplace.hand_over(asked).await;
    workplace.share(asked).await;
    let turn = Turn { outcome: said.turn.outcome.noted(&handover.notes), ..said.turn };
    let said = Said { turn, ..said };
    let receipt = said.give(asked, workplace, &marker, handover).await?;
    (asked.tell)(Progress::Delivered { url: receipt.url.clone() });
    if let Outcome::Answered { .. } = said.turn.outcome {
        fold::outdated(asked.github, asked.trigger, asked.permit, asked.tell).await;
    }
    workplace.write_back(asked, &said.turn, &receipt).await;
    match (said.broke, &said.turn.outcome) {
        (Some(fault), _) => Err(fault),
        (None, Outcome::Answered { .. }) => Ok(Ending::Answered(receipt)),
        (None, Outcome::Refused { .. } | Outcome::OutOfTime { .. } | Outcome::Failed { .. }) => {
            Ok(Ending::ToldFailure(receipt))
        }
    }
}

/// Puts the request to the engine.
async fn converse(asked: &Asked<'_>, workplace: &mut Workplace, hydrated: Hydrated) -> Said {
    let mut prompt =
        prompt::compose(asked.trigger, asked.permit, &hydrated.context, &asked.settings().wishes);
    if let Some(reminder) = workplace.remember(asked, &hydrated.context, asked.trigger.words()).await {
        prompt = prompt.reminding(reminder);
    }
    workplace.note(hydrated.warnings);
    let prompt = prompt.with_work(&workplace.workbench());
    let prompt = prompt.with_network(&network::reachable(asked.settings(), asked.permit));
    match workplace.converse(asked, &prompt, hydrated.files).await {
        Ok(Turn { outcome, usage }) => {
            let (outcome, remarks) = match workplace.drafts().last() {
                Some(draft) => (outcome.with_draft(draft.body), draft.comments),
                None => (outcome, Vec::new()),
            };
            let people = hydrated.context.people(asked.permit);
            let commit = hydrated.context.change.map(|change| change.head_oid);
            Said { remarks, commit, people, earlier: hydrated.earlier, ..Said::new(Turn { outcome, usage }) }
        }
        Err(fault) => Said {
            earlier: hydrated.earlier,
            broke: Some(fault),
            ..Said::new(Turn::failed(Trouble::NotStarted))
        },
    }
}
