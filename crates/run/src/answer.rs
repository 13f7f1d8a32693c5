//! From the permit to the receipt: acknowledge, prepare, ask the engine, deliver.

use std::time::Duration;

use fro_core::{
    Anchor, Fault, Permit, Redactor, Spot, Trigger,
    conversation::outcome::{Outcome, Trouble, Turn},
    delivery,
    draft::InlineComment,
    prompt,
    say::{self, marker::Marker, summary::Account},
};
use fro_github::GitHub;
use fro_review::Layout;
use jiff::Timestamp;

use crate::{
    Ending, Receipt,
    acknowledge::Acknowledgement,
    deliver,
    handover::Handover,
    hydrate::{self, Hydrated},
    news::{News, Tell},
    remarks,
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
            None => workplace.prepare(asked).await,
        }
    };
    let ((), hydrated, prepared) = tokio::join!(
        acknowledgement.begin(),
        hydrate::hydrate(asked.github, asked.trigger, asked.permit, &marker, asked.tell),
        prepare,
    );
    let said = match (hydrated, prepared) {
        (Ok(hydrated), Ok(())) => match words {
            Some(words) => Said { earlier: hydrated.earlier, ..Said::new(Turn::answered(words)) },
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
    let turn = Turn { outcome: said.turn.outcome.noted(&handover.notes), ..said.turn };
    let said = Said { turn, ..said };
    let receipt = tell(asked, workplace, &said, (&marker, handover)).await?;
    (asked.tell)(News::Delivered { url: receipt.url.clone() });
    workplace.write_back(asked, &said.turn, &receipt).await;
    match (said.broke, &said.turn.outcome) {
        (Some(fault), _) => Err(fault),
        (None, Outcome::Answered { .. }) => Ok(Ending::Answered(receipt)),
        (None, Outcome::Refused { .. } | Outcome::OutOfTime { .. } | Outcome::Failed { .. }) => {
            Ok(Ending::ToldFailure(receipt))
        }
    }
}

/// What there is to tell.
struct Said {
    turn: Turn,
    /// Remarks that belong beside the code, and the commit that they are about.
    remarks: Vec<InlineComment>,
    commit: Option<String>,
    /// Our answer, if an earlier attempt left one.
    earlier: Option<Spot>,
    broke: Option<Fault>,
}

impl Said {
    fn new(turn: Turn) -> Self {
        Self { turn, remarks: Vec::new(), commit: None, earlier: None, broke: None }
    }
}

/// Delivers it: as a review if there are remarks that can stand beside the code, else as one text.
async fn tell(
    asked: &Asked<'_>,
    workplace: &Workplace,
    said: &Said,
    (marker, handover): (&Marker, Handover),
) -> Result<Receipt, Fault> {
    let (github, permit, settings) = (asked.github, asked.permit, asked.settings);
    let redactor = Redactor::knowing(settings.secrets());
    let account = account(asked, workplace, &said.turn, handover);
    let settle = |below: &[(Anchor, String)]| {
        let outcome = said.turn.outcome.clone().and(&say::remarks::listed(below));
        delivery::settle(&outcome, &account, marker.clone(), &redactor, settings.seed)
    };
    let placed =
        remarks::place(github, permit, &said.remarks, said.commit.clone(), said.earlier.as_ref()).await;
    let delivery = settle(&placed.layout.below);
    if let Some(receipt) = remarks::deliver(github, permit, &delivery, &placed, &redactor).await? {
        return Ok(receipt);
    }
    let delivery = settle(&Layout::below(&said.remarks).below);
    deliver::once(github, permit, &delivery, said.earlier.clone(), settings).await
}

/// Puts the request to the engine.
async fn converse(asked: &Asked<'_>, workplace: &mut Workplace, hydrated: Hydrated) -> Said {
    let mut prompt = prompt::compose(asked.trigger, asked.permit, &hydrated.context, &asked.settings.wishes);
    if let Some(reminder) = workplace.remember(asked, &hydrated.context).await {
        prompt = prompt.reminding(reminder);
    }
    workplace.note(hydrated.warnings);
    let prompt = prompt.with_work(&workplace.workbench());
    match workplace.converse(asked, &prompt, hydrated.files).await {
        Ok(Turn { outcome, usage }) => {
            let (outcome, remarks) = match workplace.drafts().last() {
                Some(draft) => (outcome.with_draft(draft.body), draft.comments),
                None => (outcome, Vec::new()),
            };
            let commit = hydrated.context.change.map(|change| change.head_oid);
            Said { remarks, commit, earlier: hydrated.earlier, ..Said::new(Turn { outcome, usage }) }
        }
        Err(fault) => Said {
            earlier: hydrated.earlier,
            broke: Some(fault),
            ..Said::new(Turn::failed(Trouble::NotStarted))
        },
    }
}

fn account(asked: &Asked<'_>, workplace: &Workplace, turn: &Turn, handover: Handover) -> Account {
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
        work: handover.links,
        warnings: [workplace.warnings(), handover.warnings].concat(),
    }
}
