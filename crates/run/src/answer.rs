//! From the permit to the receipt: acknowledge, prepare, ask the engine, deliver.

use std::time::Duration;

use fro_core::{
    Fault, Permit, Redactor, Spot, Trigger,
    conversation::outcome::{Outcome, Trouble, Turn},
    delivery, prompt,
    say::{self, marker::Marker, summary::Account},
};
use fro_github::GitHub;
use jiff::Timestamp;

use crate::{
    Ending,
    acknowledge::Acknowledgement,
    deliver,
    hydrate::{self, Hydrated},
    news::{News, Tell},
    settings::{Settings, model},
    workplace::Workplace,
};

/// A request that may be answered.
pub(crate) struct Asked<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) tell: Tell<'a>,
    pub(crate) trigger: &'a Trigger,
    pub(crate) permit: &'a Permit,
    pub(crate) github: &'a GitHub,
}

/// Answers once. Whatever breaks after the 👀 is told in the one comment, and the run fails with it.
pub(crate) async fn once(
    asked: &Asked<'_>,
    acknowledgement: &mut Acknowledgement<'_>,
    workplace: &mut Workplace,
) -> Result<Ending, Fault> {
    let marker = Marker::new(&asked.settings.run.id, asked.trigger);
    let words = say::command::answer(asked.permit.said(), asked.permit.name());
    let prepare = async {
        match words {
            Some(_) => Ok(()),
            None => workplace.prepare(asked.settings, asked.tell).await,
        }
    };
    let ((), hydrated, prepared) = tokio::join!(
        acknowledgement.begin(),
        hydrate::hydrate(asked.github, asked.permit, &marker, asked.tell),
        prepare,
    );
    let (turn, earlier, broke) = match (hydrated, prepared) {
        (Ok(hydrated), Ok(())) => match words {
            Some(words) => (Turn::answered(words), hydrated.earlier, None),
            None => converse(asked, workplace, hydrated).await,
        },
        (Err(fault), _) => (Turn::failed(Trouble::NoContext), None, Some(fault)),
        (Ok(hydrated), Err(fault)) => (Turn::failed(Trouble::NotStarted), hydrated.earlier, Some(fault)),
    };

    let redactor = Redactor::knowing(asked.settings.secrets());
    let account = account(asked, workplace, &turn);
    let delivery = delivery::settle(&turn.outcome, &account, marker, &redactor, asked.settings.seed);
    let receipt = deliver::once(asked.github, asked.permit, &delivery, earlier, asked.settings).await?;
    (asked.tell)(News::Delivered { url: receipt.url.clone() });
    workplace.write_back(asked, &turn, &receipt).await;
    match (broke, &turn.outcome) {
        (Some(fault), _) => Err(fault),
        (None, Outcome::Answered { .. }) => Ok(Ending::Answered(receipt)),
        (None, Outcome::Refused { .. } | Outcome::OutOfTime { .. } | Outcome::Failed { .. }) => {
            Ok(Ending::ToldFailure(receipt))
        }
    }
}

/// Puts the request to the engine.
async fn converse(
    asked: &Asked<'_>,
    workplace: &mut Workplace,
    hydrated: Hydrated,
) -> (Turn, Option<Spot>, Option<Fault>) {
    let mut prompt = prompt::compose(asked.trigger, asked.permit, &hydrated.context, &asked.settings.wishes);
    if let Some(reminder) = workplace.remember(asked, &hydrated.context).await {
        prompt = prompt.reminding(reminder);
    }
    match workplace.converse(asked, &prompt).await {
        Ok(Turn { outcome, usage }) => {
            let outcome = match workplace.drafts().last() {
                Some(draft) => outcome.with_draft(draft.body),
                None => outcome,
            };
            (Turn { outcome, usage }, hydrated.earlier, None)
        }
        Err(fault) => (Turn::failed(Trouble::NotStarted), hydrated.earlier, Some(fault)),
    }
}

fn account(asked: &Asked<'_>, workplace: &Workplace, turn: &Turn) -> Account {
    let settings = asked.settings;
    let took = Timestamp::now().duration_since(settings.began);
    Account {
        event: asked.trigger.event_name().to_owned(),
        repo: asked.permit.repo().clone(),
        git_ref: settings.git_ref.clone(),
        run: settings.run.clone(),
        memory: workplace.memory(),
        recalled: workplace.recalled(),
        sessions: workplace.sessions(),
        duration: Duration::try_from(took).unwrap_or_default(),
        usage: turn.usage,
        agent: workplace.agent(),
        model: model(settings),
        walls: workplace.walls(),
        warnings: workplace.warnings(),
    }
}
