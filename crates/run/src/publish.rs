//! Publishes the answer: as a review if it has remarks that fit beside the code, else as one comment; and accounts for the run.

use std::time::Duration;

use fro_agent::{Agent, Handover, MemoryCalls, Session};
use fro_core::{
    Anchor, Delivery, Fault, Login, Redactor,
    conversation::outcome::{Trouble, Turn},
    delivery,
    draft::InlineComment,
    gate::Role,
    own_comments::Earlier,
    say::{
        self,
        answer::CommentStyle,
        marker::Marker,
        published::published,
        summary::{Account, Origin, Served, Share},
    },
};
use fro_review::{Layout, say::harmless};
use jiff::Timestamp;

use crate::{
    answer::Request,
    ending::Receipt,
    progress::Progress,
    venue::{self, Write},
};

/// What there is to tell.
pub(crate) struct Answer {
    pub(crate) turn: Turn,
    /// Remarks that belong beside the code, and the commit that they are about.
    pub(crate) remarks: Vec<InlineComment>,
    pub(crate) commit: Option<String>,
    /// Who may be called by name.
    pub(crate) people: Vec<Login>,
    /// What an earlier attempt left.
    pub(crate) earlier: Earlier,
    pub(crate) broke: Option<Fault>,
}

impl Answer {
    pub(crate) fn new(turn: Turn) -> Self {
        Self {
            turn,
            remarks: Vec::new(),
            commit: None,
            people: Vec::new(),
            earlier: Earlier::default(),
            broke: None,
        }
    }

    /// Says that the conversation could not be read.
    pub(crate) fn context_unreadable(fault: Fault) -> Self {
        Self { broke: Some(fault), ..Self::new(Turn::failed(Trouble::NoContext)) }
    }

    /// Says that the engine could not even be asked.
    pub(crate) fn not_started(fault: Fault, earlier: Earlier) -> Self {
        Self { earlier, broke: Some(fault), ..Self::new(Turn::failed(Trouble::NotStarted)) }
    }

    /// Gives it to whom it is for, and puts what it took on the run's page.
    pub(crate) async fn publish(
        &self,
        request: &Request<'_>,
        account: Account,
        marker: &Marker,
    ) -> Result<Receipt, Fault> {
        let (occasion, redactor) = (request.occasion, request.process.redactor());
        let look = CommentStyle { summary: request.process.summary, seed: occasion.seed };
        let sanitize = sanitizer(request.process.policy.role);
        let settle = |below: &[(Anchor, String)]| {
            let outcome = self.turn.outcome.clone().and(&say::remarks::listed(below));
            let outcome = outcome.reworded(|words| sanitize(words, &self.people));
            delivery::settle(&outcome, &account, marker.clone(), look, redactor)
        };
        let (delivery, delivered) = self.deliver(request, settle, redactor).await;
        (request.tell)(Progress::Accounted { duration: account.duration, usage: account.usage });
        venue::account(occasion, request.permit, (&account, redactor), (&delivery, &delivered));
        let receipt = delivered?;
        if let Some(delivery) = &delivery.apart() {
            let earlier = self.earlier.summary.as_ref();
            request.venue.publish(&[Write::Summary { delivery, earlier }]).await?;
        }
        Ok(receipt)
    }

    /// Delivers it: as a review if there are remarks that can stand beside the code, else as one text.
    async fn deliver(
        &self,
        request: &Request<'_>,
        settle: impl Fn(&[(Anchor, String)]) -> Delivery,
        redactor: &Redactor,
    ) -> (Delivery, Result<Receipt, Fault>) {
        let (venue, earlier, people) = (request.venue, self.earlier.answer.as_ref(), self.people.as_slice());
        let sanitize = sanitizer(request.process.policy.role);
        let placed = venue.place(&self.remarks, self.commit.as_deref(), earlier).await;
        if !placed.layout.beside.is_empty() {
            let delivery = settle(&placed.layout.below);
            let remarks = Write::Remarks { delivery: &delivery, placed: &placed, redactor, people, sanitize };
            if let Some(delivered) = venue.publish(&[remarks]).await.transpose() {
                if let (Ok(_), Some(progress)) = (&delivered, &self.earlier.progress) {
                    venue.remove_progress(progress).await;
                }
                return (delivery, delivered);
            }
        }
        let delivery = settle(&Layout::below(&self.remarks).below);
        let delivered =
            venue.publish(&[Write::Answer { delivery: &delivery, earlier: self.earlier.replaced() }]).await;
        let unsaid = || Fault::ours("the answer was not written");
        (delivery, delivered.and_then(|receipt| receipt.ok_or_else(unsaid)))
    }
}

/// Makes words of the model fit to leave, where these people may be called.
pub(crate) type Sanitize = fn(&str, &[Login]) -> String;

/// Returns what holds for us here: a reviewer's words can be committed by nobody and decide about no thread.
fn sanitizer(role: Role) -> Sanitize {
    match role {
        Role::Agent => published,
        Role::Reviewer => |words, people| harmless(&published(words, people)),
    }
}

/// Accounts for a run: what it had, what it took and what came of it.
pub(crate) fn account(
    request: &Request<'_>,
    (agent, session): (&Agent<'_>, Option<&Session<'_>>),
    (turn, handover, share): (&Turn, Handover, Option<Share>),
) -> Account {
    let occasion = request.occasion;
    let now = Timestamp::now();
    let took = |began: Timestamp| Duration::try_from(now.duration_since(began)).unwrap_or_default();
    let noted = session.map(|session| session.warnings().to_vec()).unwrap_or_default();
    Account {
        event: request.trigger.event_name().to_owned(),
        repo: request.permit.repo().clone(),
        git_ref: occasion.git_ref.clone(),
        run: occasion.run.clone(),
        memory: agent.memory(),
        recalled: session.map(|session| {
            let MemoryCalls { searches, reads } = session.memory_calls();
            say::sessions::recalled(session.recalled().len(), searches, reads)
        }),
        sessions: served(agent, session),
        duration: took(occasion.began),
        since_job: occasion.job_began.map(took),
        usage: turn.usage,
        // Who was not asked did not answer with any model.
        model: session.and_then(|_| request.process.agent.settings.model()),
        agent: session.map(|session| session.agent().to_owned()),
        walls: agent.walls(),
        gh: agent.gh(),
        network: agent.network(),
        work: handover.links,
        share,
        warnings: [agent.warnings(), noted, handover.warnings].concat(),
    }
}

/// Returns the engine's sessions that served the run.
fn served(agent: &Agent<'_>, session: Option<&Session<'_>>) -> Vec<Served> {
    let continued = session.and_then(Session::continued);
    let origin = |id: &str| if continued == Some(id) { Origin::Continued } else { Origin::Created };
    agent.sessions().into_iter().map(|id| Served { origin: origin(&id), id }).collect()
}
