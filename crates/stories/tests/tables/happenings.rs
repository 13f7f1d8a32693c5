//! Everything that sets a run off, and where its answer belongs.

use std::time::Duration;

use fro_sim::{Exchange, FaultKind, Switch};
use fro_stories::{Mention, REPO, Sim};
use serde_json::{Value, json};

/// The pull request of octo/garden.
pub(crate) const PULL: u64 = 2;

/// One kind of event.
#[derive(Clone, Copy)]
pub(crate) struct Happening {
    /// The event and its action.
    pub(crate) name: &'static str,
    /// Where the answer goes.
    pub(crate) place: &'static str,
    /// The route by which it is written.
    pub(crate) route: &'static str,
    /// Lets it happen.
    pub(crate) begin: for<'a> fn(&'a Sim, &str) -> Mention<'a>,
}

/// What is asked, and what comes of it.
#[derive(Clone, Copy)]
pub(crate) struct Request {
    pub(crate) text: &'static str,
    /// What the model says, if it is asked.
    pub(crate) model: &'static str,
    /// What is in the answer.
    pub(crate) answer: &'static str,
}

/// A request for the engine.
pub(crate) const REQUEST: Request =
    Request { text: "@fro-bot which seal?", model: "It is the seal.", answer: "\nIt is the seal.\n" };
/// A request that needs no engine, for tables with hundreds of cells.
pub(crate) const HELP: Request =
    Request { text: "@fro-bot help", model: "Nobody asks.", answer: "| `@fro-bot help` | show this table |" };

/// What writes a comment in a conversation.
pub(crate) const COMMENT: &str = "POST /repos/{owner}/{repo}/issues/{number}/comments";
/// What replies in a review thread.
pub(crate) const REPLY: &str = "POST /repos/{owner}/{repo}/pulls/{number}/comments/{comment}/replies";
/// What writes in a discussion, and asks for nearly everything.
pub(crate) const GRAPHQL: &str = "POST /graphql";
/// No route: the runner's own file.
pub(crate) const PAGE: &str = "";

/// A request to GitHub in a run that goes well.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) route: &'static str,
    /// How often the route was asked before: GraphQL is one route for many questions.
    pub(crate) earlier: usize,
    pub(crate) is_write: bool,
}

impl Call {
    /// Returns the call as people read it.
    pub(crate) fn name(&self) -> String {
        match self.earlier {
            0 => self.route.to_owned(),
            n => format!("{}, call {}", self.route, n + 1),
        }
    }

    /// Makes the world misbehave from this call on.
    pub(crate) fn arm(&self, sim: &Sim, kind: FaultKind) -> Switch {
        let faults = sim.world().faults();
        if self.earlier > 0 {
            faults.on(self.route, FaultKind::Delay(Duration::ZERO)).times(self.earlier);
        }
        faults.on(self.route, kind)
    }
}

/// Returns the calls that came after the first so many.
pub(crate) fn calls(sim: &Sim, from: usize) -> Vec<Call> {
    let (routes, traffic) = (sim.world().calls(), sim.world().traffic());
    assert_eq!(routes.len(), traffic.len(), "every request has its route");
    let routes: Vec<&'static str> = routes.into_iter().skip(from).map(|route| &*route.leak()).collect();
    let is_write = |exchange: &Exchange| match exchange.path.as_str() {
        "/graphql" => exchange.request.contains("mutation"),
        _ => exchange.method != "GET",
    };
    let writes = traffic.iter().skip(from).map(is_write);
    let call = |(at, is_write)| {
        let route: &'static str = routes[at];
        Call { route, earlier: routes[..at].iter().filter(|earlier| **earlier == route).count(), is_write }
    };
    writes.enumerate().map(call).collect()
}

/// All kinds of events that are answered.
pub(crate) const ALL: [Happening; 15] = [
    Happening::new("issue_comment on an issue", "comment on #1", COMMENT, |sim, text| comment(sim, 1, text)),
    Happening::new("issue_comment on a pull request", "comment on #2", COMMENT, |sim, text| {
        comment(sim, PULL, text)
    }),
    Happening::new("pull_request_review_comment", "thread of #2", REPLY, review_comment),
    Happening::new("issues opened", "comment on #1", COMMENT, |sim, _| {
        sim.event("issues", &sim.world().issue_event(REPO, 1, "opened", "mallory"), 0)
    }),
    Happening::new("issues edited", "comment on #3", COMMENT, |sim, text| {
        sim.world().change(|state| text.clone_into(&mut state.issue_mut(REPO, 3).unwrap().body));
        sim.event("issues", &sim.world().issue_event(REPO, 3, "edited", "maya"), 0)
    }),
    Happening::new("pull_request opened", "comment on #2", COMMENT, |sim, _| pull(sim, "opened")),
    Happening::new("pull_request synchronize", "comment on #2", COMMENT, |sim, _| pull(sim, "synchronize")),
    Happening::new("pull_request reopened", "comment on #2", COMMENT, |sim, _| pull(sim, "reopened")),
    Happening::new("pull_request ready_for_review", "comment on #2", COMMENT, |sim, _| {
        pull(sim, "ready_for_review")
    }),
    Happening::new("pull_request review_requested", "comment on #2", COMMENT, |sim, _| {
        let mut event = sim.world().pull_event(REPO, PULL, "review_requested", "maya");
        event["requested_reviewer"] = json!({ "login": "fro-bot" });
        sim.event("pull_request", &event, 0)
    }),
    Happening::new("pull_request_target opened", "comment on #2", COMMENT, |sim, _| {
        sim.event("pull_request_target", &sim.world().pull_event(REPO, PULL, "opened", "mallory"), 0)
    }),
    Happening::new("discussion created", "in a discussion", GRAPHQL, |sim, text| {
        let begin = |state: &mut fro_sim::state::State| state.begin_discussion(REPO, "maya", "Ideas", text);
        let number = sim.world().change(begin).unwrap();
        sim.event("discussion", &sim.world().discussion_event(REPO, number), 0)
    }),
    Happening::new("discussion_comment created", "below a comment", GRAPHQL, |sim, text| {
        let comment = sim.world().change(|state| {
            let number = state.begin_discussion(REPO, "octo", "Ideas", "What shall we grow?").unwrap();
            state.discuss(REPO, number, "maya", text).unwrap()
        });
        sim.event("discussion_comment", &sim.world().discussion_comment_event(REPO, comment), 0)
    }),
    Happening::new("schedule", "run page", PAGE, |sim, text| order(sim, "schedule", text)),
    Happening::new("workflow_dispatch", "run page", PAGE, |sim, text| order(sim, "workflow_dispatch", text)),
];

impl Happening {
    const fn new(
        name: &'static str,
        place: &'static str,
        route: &'static str,
        begin: for<'a> fn(&'a Sim, &str) -> Mention<'a>,
    ) -> Self {
        Self { name, place, route, begin }
    }
}

fn comment<'a>(sim: &'a Sim, number: u64, text: &str) -> Mention<'a> {
    let comment = sim.world().write_comment(REPO, number, "maya", text);
    sim.event("issue_comment", &sim.world().comment_event(REPO, comment), comment)
}

fn review_comment<'a>(sim: &'a Sim, text: &str) -> Mention<'a> {
    let comment = sim.world().change(|state| state.begin_thread(REPO, PULL, "maya", text).unwrap());
    sim.event("pull_request_review_comment", &sim.world().review_comment_event(REPO, comment), comment)
}

fn pull<'a>(sim: &'a Sim, action: &str) -> Mention<'a> {
    sim.event("pull_request", &sim.world().pull_event(REPO, PULL, action, "maya"), 0)
}

fn order<'a>(sim: &'a Sim, name: &str, text: &str) -> Mention<'a> {
    let event: Value = json!({ "schedule": "0 6 * * *" });
    sim.event(name, &event, 0).with("prompt", text)
}
