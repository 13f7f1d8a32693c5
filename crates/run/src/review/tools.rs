//! The reviewer's tools at work: every call is decided by the rules of `review`, with what is collected so far.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use fro_agent::{Arguments, ToolList, Tools};
use fro_core::{
    Anchor, Redactor,
    tool_call::{ToolCard, ToolReply, ToolSet},
};
use fro_review::{
    Diff,
    finding::Pass,
    passes::{self, Briefing, Do, Heard, Passes},
    review::{Review, Settled},
    tools::{self, ReviewCall},
    touched,
};
use futures::future::{BoxFuture, ready};
use serde_json::{Map, Value};

/// What the tools of one review work on.
#[derive(Debug)]
pub(crate) struct ReviewTools {
    inside: Mutex<Progressing>,
    /// What the changed files say in the commit that is looked at.
    texts: BTreeMap<String, String>,
    redactor: Redactor,
}

/// One of a review's sets of tools.
struct OneSet {
    set: ToolSet,
    review: Arc<ReviewTools>,
}

impl Tools for OneSet {
    fn name(&self) -> &str {
        self.set.name()
    }

    fn call(&self, tool: &str, arguments: Arguments) -> BoxFuture<'_, Result<String, String>> {
        let answered = self.review.call(self.set, tool, arguments);
        Box::pin(ready(answered))
    }
}

#[derive(Debug)]
struct Progressing {
    review: Review,
    briefing: Briefing,
    work: Work,
}

/// What the model is at.
#[derive(Debug)]
enum Work {
    /// All passes, one after the other.
    Passes(Passes),
    /// One thread in which somebody replied.
    Reply { thread: u64, reminded: bool },
}

impl ReviewTools {
    /// Begins a review of everything, and returns what is asked first.
    pub(crate) fn of_passes(
        review: Review,
        briefing: Briefing,
        texts: BTreeMap<String, String>,
        redactor: Redactor,
    ) -> (Self, Do) {
        let (passes, first) = Passes::begin(&briefing);
        let inside = Mutex::new(Progressing { review, briefing, work: Work::Passes(passes) });
        (Self { inside, texts, redactor }, first)
    }

    /// Takes up one thread, and nothing else.
    pub(crate) fn of_reply(
        review: Review,
        thread: u64,
        briefing: Briefing,
        texts: BTreeMap<String, String>,
        redactor: Redactor,
    ) -> Self {
        let work = Work::Reply { thread, reminded: false };
        Self { inside: Mutex::new(Progressing { review, briefing, work }), texts, redactor }
    }

    /// Returns the sets as the model is offered them.
    pub(crate) fn lists() -> Vec<ToolList> {
        let list = |set: ToolSet| ToolList { name: set.name().to_owned(), tools: Self::cards(set) };
        ToolSet::OF_REVIEWS.map(list).into()
    }

    /// Returns the sets as they serve the session of this review.
    pub(crate) fn sets(review: &Arc<Self>) -> Vec<Arc<dyn Tools>> {
        let serve = |set| -> Arc<dyn Tools> { Arc::new(OneSet { set, review: Arc::clone(review) }) };
        ToolSet::OF_REVIEWS.map(serve).into()
    }

    /// Returns the tools of a set as the model is offered them.
    fn cards(set: ToolSet) -> Vec<ToolCard> {
        match set {
            ToolSet::Github => tools::github(),
            ToolSet::Submit => tools::submit(),
            ToolSet::Session | ToolSet::Answer | ToolSet::Files => Vec::new(),
        }
    }

    /// Answers a call; a refusal says why.
    fn call(&self, set: ToolSet, tool: &str, arguments: Map<String, Value>) -> Result<String, String> {
        // Before anything is sealed: a block that is redacted later would not count any more.
        let arguments = arguments.into_iter().map(|(name, value)| (name, self.cleaned(value))).collect();
        let call = ReviewCall::read(&format!("{}_{tool}", set.name()), arguments)?;
        let mut inside = self.inside();
        let pass = match (&inside.work, &call) {
            (Work::Passes(passes), ReviewCall::Submit(submit)) => {
                passes.check(submit.pass_number).map_err(|wrong| wrong.to_string())?;
                passes.now()
            }
            (Work::Passes(passes), _) => passes.now(),
            (Work::Reply { thread, .. }, ReviewCall::Reply(reply))
                if reply.thread_id.trim() != thread.to_string() =>
            {
                return Err(format!("this is about thread {thread} alone"));
            }
            (Work::Reply { .. }, ReviewCall::RunState | ReviewCall::Reply(_)) => Pass::Diff,
            (
                Work::Reply { thread, .. },
                ReviewCall::Post(_) | ReviewCall::Resolve(_) | ReviewCall::Submit(_),
            ) => {
                return Err(format!(
                    "this is no review: only the reply in thread {thread} is to be answered"
                ));
            }
        };
        let touched = match &call {
            ReviewCall::Post(post) => self.touched(&post.anchor()),
            ReviewCall::RunState | ReviewCall::Reply(_) | ReviewCall::Resolve(_) | ReviewCall::Submit(_) => 0,
        };
        let Progressing { review, briefing, work } = &mut *inside;
        let reply = review.call(pass, &call, touched);
        if let (Work::Passes(passes), ReviewCall::Submit(submit)) = (work, call) {
            passes.heard(Heard::Submitted { pass: submit.pass_number, summary: submit.summary }, briefing);
        }
        match reply {
            ToolReply::Said(said) => Ok(said),
            ToolReply::Failed(why) => Err(why),
            ToolReply::Tools(_) => Err("nothing was said".to_owned()),
        }
    }

    /// Tells that the model stopped talking, and returns what is next.
    pub(crate) fn turn_ended(&self, stopped: Option<String>) -> Do {
        let Progressing { review, briefing, work } = &mut *self.inside();
        let heard = stopped.map_or(Heard::TurnEnded, |why| Heard::Stopped { why });
        match (work, heard) {
            (Work::Passes(passes), heard) => passes.heard(heard, briefing),
            (Work::Reply { .. }, _) if review.has_deeds() => Do::Finish,
            (Work::Reply { reminded, thread }, Heard::TurnEnded) if !*reminded => {
                *reminded = true;
                Do::Ask(passes::reply_reminder(&thread.to_string()))
            }
            (Work::Reply { .. }, Heard::Stopped { why }) => Do::GiveUp { pass: Pass::Diff, why },
            (Work::Reply { .. }, Heard::TurnEnded | Heard::Submitted { .. }) => {
                Do::GiveUp { pass: Pass::Diff, why: "the reply was never answered".to_owned() }
            }
        }
    }

    /// Ends the review with what was collected.
    pub(crate) fn settle(&self) -> Settled {
        self.inside().review.clone().settle()
    }

    /// Returns the whole change.
    pub(crate) fn diff(&self) -> Diff {
        self.inside().review.diff().clone()
    }

    /// Returns what the changed files say.
    pub(crate) fn texts(&self) -> BTreeMap<String, String> {
        self.texts.clone()
    }

    /// Returns how many lines the function around a place has.
    pub(crate) fn touched(&self, anchor: &Anchor) -> usize {
        let text = self.texts.get(&anchor.path);
        text.and_then(|text| touched::function_around(text, anchor.line)).unwrap_or_default()
    }

    fn cleaned(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redactor.clean(&text).as_str().to_owned()),
            Value::Array(values) => values.into_iter().map(|value| self.cleaned(value)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(name, value)| (name, self.cleaned(value))).collect())
            }
            other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
        }
    }

    fn inside(&self) -> MutexGuard<'_, Progressing> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
