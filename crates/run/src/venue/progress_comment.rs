//! `progress: comment`: the one comment shows the agent's list of things to do until the answer takes its place.
//!
//! A run that needs no list shows none, and an answer that an earlier attempt gave stays until there is a new one. What
//! fails here fails no run.

use std::{pin::pin, time::Duration};

use fro_core::{
    Surface, Target,
    conversation::todo::TodoList,
    own_comments::{Earlier, is_own},
    say::{marker::Marker, progress},
};
use fro_github::Error;
use jiff::Timestamp;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{Venue, deliver, since};
use crate::{answer::Request, process::Process, progress::Progress, settings::ProgressPlace};

/// The comment is edited no sooner than this after the last time: people get no notice of an edit, and GitHub counts
/// every write.
const EVERY: Duration = Duration::from_secs(15);

/// The comment of a run that works.
pub(crate) struct ProgressComment<'a> {
    request: &'a Request<'a>,
    /// Where it stands, once it does.
    target: Option<Target>,
    state: ShowState,
}

/// Whether a list is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShowState {
    On,
    /// Nobody asked for it, an earlier answer stands, or GitHub did not take it.
    Off,
}

impl<'a> ProgressComment<'a> {
    /// Knows what an earlier attempt left; nothing is written yet.
    pub(crate) fn new(request: &'a Request<'a>, earlier: &Earlier) -> Self {
        let wanted = request.process.progress == ProgressPlace::Comment && request.venue.is_seen();
        let state = if wanted && earlier.answer.is_none() { ShowState::On } else { ShowState::Off };
        Self { request, target: earlier.progress.clone(), state }
    }

    /// Waits for the work, and shows the list each time it has changed meanwhile.
    pub(crate) async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        if self.state == ShowState::Off {
            return work.await;
        }
        beside(work, self.request.todos.subscribe(), async |list| self.show(&list).await).await
    }

    /// Adds the comment to what the answer takes the place of.
    pub(crate) fn left(self, earlier: Earlier) -> Earlier {
        Earlier { progress: self.target, ..earlier }
    }

    async fn show(&mut self, list: &TodoList) {
        if self.state == ShowState::Off {
            return;
        }
        match self.write(list).await {
            Ok(target) => self.target = Some(target),
            Err(why) => {
                self.state = ShowState::Off;
                (self.request.tell)(Progress::Warning(format!("the progress is not shown: {why}")));
            }
        }
    }

    async fn write(&self, list: &TodoList) -> Result<Target, String> {
        let Request { occasion, venue, .. } = self.request;
        let (github, permit, began, marker) =
            (venue.github, venue.permit, Timestamp::now(), self.request.marker());
        let took = Duration::try_from(began.duration_since(occasion.began)).unwrap_or_default();
        let text = progress::working(list, took, &occasion.run, &marker);
        let body = self.request.process.redactor().clean(&text);
        let written = match &self.target {
            Some(target) => github.update_answer(permit, target, &body).await,
            None => github.post_answer(permit, &body).await,
        };
        let told = |error: Error| error.fault().what().to_owned();
        match written {
            Ok(answer) => Ok(answer.target),
            // Whoever writes a second one after an answer that was lost leaves two.
            Err(error) if error.ambiguous() => {
                let found = deliver::find_lost(github, permit, &marker.of_progress(), began).await;
                let found = found.map_err(|fault| fault.what().to_owned())?;
                found.map(|answer| answer.target).ok_or_else(|| told(error))
            }
            Err(error) => Err(told(error)),
        }
    }
}

/// Waits for `work`, and gives `show` each new state of the list, no sooner than [`EVERY`] after the one before.
async fn beside<T>(
    work: impl Future<Output = T>,
    mut lists: watch::Receiver<TodoList>,
    mut show: impl AsyncFnMut(TodoList),
) -> T {
    let mut work = pin!(work);
    let mut next = Instant::now();
    loop {
        let due = async {
            if lists.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
            sleep_until(next).await;
        };
        tokio::select! {
            done = &mut work => return done,
            () = due => {}
        }
        let list = lists.borrow_and_update().clone();
        let mut shown = pin!(show(list));
        // A write under way is waited for: one that is let fall may still be taken, and nobody would know of it.
        let done = tokio::select! {
            done = &mut work => Some(done),
            () = &mut shown => None,
        };
        if let Some(done) = done {
            shown.await;
            return done;
        }
        next = Instant::now() + EVERY;
    }
}

impl Venue<'_> {
    /// Says in the comment of a run that ended without an answer that it ended, if there is such a comment.
    pub(crate) async fn end_progress(self, process: &Process, marker: &Marker) {
        if process.progress == ProgressPlace::Nowhere || !self.is_seen() {
            return;
        }
        if let Err(error) = self.say_stopped(process, marker).await {
            let what = error.fault().what().to_owned();
            (self.tell)(Progress::Warning(format!("the comment still says that the run works: {what}")));
        }
    }

    async fn say_stopped(self, process: &Process, marker: &Marker) -> Result<(), Error> {
        let Self { github, permit, occasion, .. } = self;
        let began = occasion.job_began.unwrap_or(occasion.began);
        let answers = github.answers(permit, since(began)).await?;
        let shown = marker.of_progress();
        let mut own = answers.into_iter();
        let own = own.find(|answer| is_own(answer.author.as_ref(), &answer.body, permit.own(), &shown));
        if let Some(answer) = own {
            let body = process.redactor().clean(&progress::stopped(&occasion.run, marker));
            github.update_answer(permit, &answer.target, &body).await?;
        }
        Ok(())
    }

    /// Takes the comment away whose answer stands elsewhere, as a review does.
    pub(crate) async fn remove_progress(self, target: &Target) {
        if let Err(error) = self.github.remove_comment(self.permit, target).await {
            (self.tell)(Progress::Warning(error.fault().what().to_owned()));
        }
    }

    /// Tells whether people see what is written here while it is written.
    fn is_seen(self) -> bool {
        match self.permit.surface() {
            Surface::Conversation(_) | Surface::ReviewThread { .. } | Surface::Discussion { .. } => true,
            Surface::Thread(_) | Surface::RunPage => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use fro_core::conversation::todo::{Todo, TodoState};
    use tokio::time::{advance, sleep};

    use super::*;

    fn list(n: usize) -> TodoList {
        let todo = |n| Todo { what: format!("thing {n}"), state: TodoState::Pending };
        TodoList((0..n).map(todo).collect())
    }

    /// Plays a work that changes its list every so many seconds; returns when how long a list was shown.
    async fn shown(changes: usize, pause: u64, write: u64) -> Vec<(u64, usize)> {
        let (sender, lists) = watch::channel(TodoList::default());
        let (began, mut seen) = (Instant::now(), Vec::new());
        let work = async {
            for n in 1..=changes {
                sender.send_replace(list(n));
                sleep(Duration::from_secs(pause)).await;
            }
        };
        let show = async |list: TodoList| {
            seen.push((began.elapsed().as_secs(), list.total()));
            sleep(Duration::from_secs(write)).await;
        };
        beside(work, lists, show).await;
        seen
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_changes_all_the_time_is_shown_every_fifteen_seconds() {
        assert_eq!(shown(9, 7, 0).await, [(0, 1), (15, 3), (30, 5), (45, 7), (60, 9)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_seldom_changes_is_shown_at_once() {
        assert_eq!(shown(3, 100, 0).await, [(0, 1), (100, 2), (200, 3)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_under_way_is_waited_for_when_the_work_is_done() {
        let began = Instant::now();
        assert_eq!(shown(1, 2, 7).await, [(0, 1)]);
        assert_eq!(began.elapsed(), Duration::from_secs(7));
    }

    #[tokio::test(start_paused = true)]
    async fn work_without_a_list_shows_nothing() {
        assert_eq!(shown(0, 1, 0).await, []);
        advance(EVERY).await;
    }
}
