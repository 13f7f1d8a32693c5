//! What a run left where people read it, wherever that is.

use fro_sim::state::{Comment, Issue, ReviewThread, State};
use fro_stories::{REPO, Sim};

/// Something that the bot wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Posted {
    /// Such as `comment on #1`.
    pub(crate) place: String,
    pub(crate) body: String,
}

/// Returns everything that the bot wrote, in every place where it could.
pub(crate) fn posted(sim: &Sim) -> Vec<Posted> {
    let mut all = sim.world().state(|state| {
        let repo = state.repo(REPO).expect("the garden is there");
        repo.issues.iter().flat_map(on_issue).chain(in_discussions(state)).collect::<Vec<_>>()
    });
    let page = sim.run_page();
    if !page.is_empty() {
        all.push(Posted { place: "run page".to_owned(), body: page });
    }
    all
}

fn on_issue(issue: &Issue) -> Vec<Posted> {
    let number = issue.number;
    let mut all = own(&issue.comments, &format!("comment on #{number}"));
    let Some(pull) = &issue.pull else { return all };
    let reviews = pull.reviews.iter().filter(|review| review.author == "fro-bot");
    all.extend(
        reviews.map(|review| Posted { place: format!("review of #{number}"), body: review.body.clone() }),
    );
    let in_threads = |thread: &ReviewThread| own(&thread.comments, &format!("thread of #{number}"));
    all.extend(pull.threads.iter().flat_map(in_threads));
    all
}

fn in_discussions(state: &State) -> Vec<Posted> {
    let discussions = state.repo(REPO).map_or(&[][..], |repo| &repo.discussions);
    let all = discussions.iter().flat_map(|discussion| {
        let tops = discussion.comments.iter().map(|top| top.comment.clone()).collect::<Vec<_>>();
        let replies = discussion.comments.iter().flat_map(|top| top.replies.clone()).collect::<Vec<_>>();
        [own(&tops, "in a discussion"), own(&replies, "below a comment")].concat()
    });
    all.collect()
}

fn own(comments: &[Comment], place: &str) -> Vec<Posted> {
    let own = comments.iter().filter(|comment| comment.author == "fro-bot");
    own.map(|comment| Posted { place: place.to_owned(), body: comment.body.clone() }).collect()
}
