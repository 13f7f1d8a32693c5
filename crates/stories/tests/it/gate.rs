//! Who is answered and who is not, and what that costs.

use fro_stories::{Person, Sim};

/// Who we are, what the asker may do, and the repository's own settings: asked at once.
const REFUSAL: usize = 3;

async fn nothing_happens(sim: Sim, text: &str, by: Person, says: &str, n_requests: usize) {
    let run = sim.mention(text).by(by).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.log.contains(says), "{run}");
    let answers = run.answers.iter().filter(|answer| answer.starts_with("<!-- fro-bot")).count();
    assert_eq!((answers, run.reactions.len()), (0, 0), "{run}");
    assert_eq!(sim.world().traffic().len(), n_requests, "{:?}", sim.world().traffic());
    sim.finish().await;
}

#[tokio::test]
async fn a_comment_without_a_mention_costs_no_request() {
    let says = "nothing to do: the comment does not mention @fro-bot";
    nothing_happens(Sim::new().await, "`@fro-bot` is a name", Person::Maintainer, says, 0).await;
}

#[tokio::test]
async fn our_own_comment_costs_no_request() {
    let says = "nothing to do: this is by @fro-bot, which is us";
    nothing_happens(Sim::new().await, "I am @fro-bot", Person::Bot, says, 0).await;
}

#[tokio::test]
async fn a_reader_may_not_ask() {
    let says = "nothing to do: @rita has `read` permission, asking needs `write`";
    nothing_happens(Sim::new().await, "@fro-bot why?", Person::Reader, says, REFUSAL).await;
}

#[tokio::test]
async fn a_stranger_may_not_ask() {
    let says = "nothing to do: @mallory has `read` permission, asking needs `write`";
    nothing_happens(Sim::new().await, "@fro-bot why?", Person::Stranger, says, REFUSAL).await;
}
