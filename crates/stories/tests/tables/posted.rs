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
    // Every run accounts for itself on its page; an answer there has its marker first.
    if page.starts_with("<!-- fro-bot ") {
        all.push(Posted { place: "run page".to_owned(), body: page });
    }
    all
}

/// Returns the reactions and labels that the bot left, wherever.
pub(crate) fn marks(sim: &Sim) -> Vec<String> {
    sim.world().state(|state| {
        let repo = state.repo(REPO).expect("the garden is there");
        let comments = repo.issues.iter().flat_map(|issue| &issue.comments);
        let pulls = repo.issues.iter().filter_map(|issue| issue.pull.as_ref());
        let comments =
            comments.chain(pulls.flat_map(|pull| &pull.threads).flat_map(|thread| &thread.comments));
        let discussed = repo.discussions.iter().flat_map(|discussion| &discussion.comments);
        let discussed = discussed.flat_map(|top| std::iter::once(&top.comment).chain(&top.replies));
        let on_comments = comments.chain(discussed).flat_map(|comment| &comment.reactions);
        let on_issues = repo.issues.iter().flat_map(|issue| &issue.reactions);
        let on_discussions = repo.discussions.iter().flat_map(|discussion| &discussion.reactions);
        let reactions = on_comments.chain(on_issues).chain(on_discussions);
        let own = reactions.filter(|reaction| reaction.author == "fro-bot");
        let labels = repo.issues.iter().flat_map(|issue| &issue.labels);
        let labels = labels.chain(repo.discussions.iter().flat_map(|discussion| &discussion.labels));
        let labels = labels.filter(|label| label.contains("agent"));
        own.map(|reaction| reaction.content.word().to_owned()).chain(labels.cloned()).collect()
    })
}

fn on_issue(issue: &Issue) -> Vec<Posted> {
    let number = issue.number;
    let mut all = own(&issue.comments, &format!("comment on #{number}"));
    let Some(pull) = &issue.pull else { return all };
    // A review that says nothing itself only carries a remark or a reply.
    let speaking = || pull.reviews.iter().filter(|review| !review.body.is_empty());
    let reviews = speaking().filter(|review| review.author == "fro-bot");
    all.extend(
        reviews.map(|review| Posted { place: format!("review of #{number}"), body: review.body.clone() }),
    );
    // What came with a review that says something is a part of it.
    let carried = |comment: &Comment| !speaking().any(|review| Some(review.id) == comment.review);
    let alone = |thread: &ReviewThread| {
        thread.comments.iter().filter(|comment| carried(comment)).cloned().collect::<Vec<_>>()
    };
    let in_threads = |thread: &ReviewThread| own(&alone(thread), &format!("thread of #{number}"));
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
