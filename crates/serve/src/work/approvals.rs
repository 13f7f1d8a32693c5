//! Asks people in the thread for what the engine wants leave for, and takes their answer back to the engine.

use std::time::Duration;

use fro_agent::{AskPolicy, HumanReply, People, PeopleRequest};
use fro_core::{
    Redactor,
    chat::{Approvals, Deed, Notify, say},
    conversation::heard::{Ask, AskKind},
};
use jiff::Timestamp;
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    time::sleep,
};

use super::Worker;
use crate::store::{Error, approvals::Verdict, queue::Claimed};

/// The requests of one engine.
pub(super) type Requests = UnboundedReceiver<PeopleRequest>;

/// Returns whom the engine asks, and where that is heard: nobody, where the channel lets it ask for nothing.
pub(super) fn people(approvals: Approvals) -> (Option<People>, Option<Requests>) {
    let policy = match approvals {
        Approvals::Nothing => return (None, None),
        Approvals::Rules => AskPolicy::Rules,
        Approvals::Changes => AskPolicy::Changes,
    };
    let (requests, heard) = unbounded_channel();
    (Some(People { policy, requests }), Some(heard))
}

/// Puts requests to people, one after the other. It ends only if the turn is not ours any more.
pub(super) async fn ask_all(
    worker: &Worker,
    claimed: &Claimed,
    redactor: &Redactor,
    requests: &mut Option<Requests>,
) -> Error {
    let Some(requests) = requests else { return std::future::pending().await };
    while let Some(PeopleRequest { ask, word }) = requests.recv().await {
        let said = match ask_people(worker, claimed, redactor, &ask).await {
            Ok(said) => said,
            Err(error @ Error::Stale { .. }) => return error,
            Err(error) => {
                tracing::warn!("nobody can be asked: {}", error.fault().what());
                HumanReply::No
            }
        };
        // The engine may have ended meanwhile.
        drop(word.send(said));
    }
    std::future::pending().await
}

async fn ask_people(
    worker: &Worker,
    claimed: &Claimed,
    redactor: &Redactor,
    ask: &Ask,
) -> Result<HumanReply, Error> {
    let (store, thread) = (&worker.store, claimed.turn.thread);
    let ask = Ask { about: redactor.clean(&ask.about).as_str().to_owned(), ..ask.clone() };
    let deadline = Timestamp::now().saturating_add(worker.approval_time).unwrap_or(Timestamp::MAX);
    let text = say::asks(&ask, deadline);
    let request = store.request(claimed.lease, &ask.id, &text, deadline).await?;
    let deed = Deed::Say {
        channel: thread,
        text,
        reply_to: None,
        buttons: say::leave_buttons(&ask, request.id),
        menu: say::answers(&ask, request.id),
        file: None,
        handed: Vec::new(),
        notify: Notify::Yes,
    };
    store.post(thread, &deed, Timestamp::now()).await?;
    loop {
        sleep(worker.pace.min(Duration::from_secs(1))).await;
        match store.verdict(request.id, Timestamp::now()).await? {
            Verdict::Open => {}
            Verdict::Decided { answer, .. } => return Ok(word(&ask, answer)),
            Verdict::Expired => {
                store.post(thread, &Deed::say(thread, say::unanswered()), Timestamp::now()).await?;
                return Ok(HumanReply::No);
            }
        }
    }
}

/// Reads what was clicked or chosen; whatever was not offered is a no.
fn word(ask: &Ask, answer: String) -> HumanReply {
    match (ask.kind, answer.as_str()) {
        (AskKind::Permission, "once") => HumanReply::Once,
        (AskKind::Permission, "always") => HumanReply::Always,
        (AskKind::Question, _) if ask.choices.contains(&answer) => HumanReply::Chosen(answer),
        (AskKind::Permission | AskKind::Question, _) => HumanReply::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_offered_is_a_yes() {
        let ask = |kind| {
            let (about, choices) = (String::new(), vec!["A".to_owned()]);
            Ask { id: "per_1".to_owned(), kind, about, choices }
        };
        let said = |kind, answer: &str| word(&ask(kind), answer.to_owned());
        assert_eq!(said(AskKind::Permission, "once"), HumanReply::Once);
        assert_eq!(said(AskKind::Permission, "always"), HumanReply::Always);
        assert_eq!(said(AskKind::Question, "A"), HumanReply::Chosen("A".to_owned()));
        for (kind, answer) in [
            (AskKind::Permission, "reject"),
            (AskKind::Permission, "A"),
            (AskKind::Question, "once"),
            (AskKind::Question, "reject"),
        ] {
            assert_eq!(said(kind, answer), HumanReply::No, "{kind:?} {answer}");
        }
    }
}
