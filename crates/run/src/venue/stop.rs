//! `stop`: a run under way hears the word by itself, and the run that the word sets off tells what came of it.
//!
//! The word is looked for on the subject of the run, so that no other subject's run can be meant, no permission for
//! Actions is needed, and no concurrency group of a workflow comes between.

use std::time::Duration;

use fro_core::{
    Login, Permission, Permit, Reach, Subject, Target, command,
    say::{
        self,
        stop::{self, Stopped},
    },
};
use fro_github::{Answer, Error, GitHub, Label};
use jiff::Timestamp;
use tokio::time::sleep;

use crate::occasion::Occasion;

/// How often a run listens: a job's token has a thousand requests an hour, for all runs of a repository.
const EVERY: Duration = Duration::from_secs(15);

/// How often it is looked whether the work has ended, before nobody waits any more: a minute in all.
const LOOKS: usize = 12;

/// Waits for somebody who may push to say `stop` on the run's subject, and returns who it was.
///
/// A word that was said while the run still waited for its runner counts as well.
pub(super) async fn wait_for_word(github: &GitHub, permit: &Permit, occasion: &Occasion) -> Login {
    let is_builtin = say::command::reply(permit.said(), permit.name(), permit.work_words()).is_some();
    // Threads are elsewhere; whoever serves them hears the word there.
    if is_builtin || matches!(permit.subject(), Subject::Repository | Subject::Thread(_)) {
        return std::future::pending().await;
    }
    let (since, began) = (occasion.requested.min(occasion.began), occasion.began);
    let waited = Duration::try_from(began.duration_since(since)).unwrap_or_default();
    // Who had to wait looks at once.
    sleep(EVERY.saturating_sub(waited)).await;
    // GitHub tells whole seconds.
    let since = Timestamp::from_second(since.as_second()).unwrap_or(since);
    let mut refused = Vec::new();
    loop {
        match find_word(github, permit, since, &mut refused).await {
            Ok(Some(who)) => return who,
            Ok(None) => {}
            Err(error) => {
                tracing::warn!("whether somebody said `stop` is not known: {}", error.fault().what());
            }
        }
        sleep(EVERY).await;
    }
}

/// Looks for the word of somebody who may say it. Whose word does not count is asked for once.
pub(super) async fn find_word(
    github: &GitHub,
    permit: &Permit,
    since: Timestamp,
    refused: &mut Vec<Target>,
) -> Result<Option<Login>, Error> {
    let words = github.words(permit, since).await?;
    let new = |word: &Answer| word.target != *permit.target() && !refused.contains(&word.target);
    let stops = |word: &Answer| command::says_stop(&word.body, permit.name(), permit.work_words());
    let said: Vec<_> = words.into_iter().filter(|word| new(word) && stops(word)).collect();
    for Answer { author, target, .. } in said {
        if let Some(who) = author.filter(|who| !who.is_same_identity(permit.own()))
            && github.permission(&who).await? >= Permission::Write
        {
            return Ok(Some(who));
        }
        refused.push(target);
    }
    Ok(None)
}

/// Answers the word: waits until what was under way has taken its label off.
pub(super) async fn answer(github: &GitHub, permit: &Permit) -> Result<String, Error> {
    match permit.reach() {
        Reach::Work => {}
        Reach::Answer | Reach::ReadOnly => return Ok(stop::NOT_YOURS_TO_STOP.to_owned()),
    }
    if !github.wears(permit, &Label::WORKING).await? {
        return Ok(stop::stopped(Stopped::Nothing));
    }
    for _ in 0..LOOKS {
        sleep(EVERY / 3).await;
        if !github.wears(permit, &Label::WORKING).await? {
            return Ok(stop::stopped(Stopped::Ended));
        }
    }
    Ok(stop::stopped(Stopped::Unheard))
}
