//! What people write: each thing gets its id and its time, as GitHub gives them.

use crate::state::{
    Anchor, Comment, Discussion, DiscussionComment, Issue, Review, ReviewThread, Side, State,
};

impl State {
    /// Opens an issue and returns its number; `None` if there is no such repository.
    pub fn open_issue(&mut self, full_name: &str, author: &str, title: &str, body: &str) -> Option<u64> {
        let (id, now) = (self.next_id(), self.clock.now());
        let repo = self.repo_mut(full_name)?;
        let number = repo.next_number();
        let mut issue = Issue::new(id, number, author, now);
        issue.association = repo.association(author);
        title.clone_into(&mut issue.title);
        body.clone_into(&mut issue.body);
        repo.issues.push(issue);
        Some(number)
    }

    /// Writes a comment and returns its id; `None` if there is no such issue.
    pub fn write_comment(&mut self, full_name: &str, number: u64, author: &str, body: &str) -> Option<u64> {
        let (id, now) = (self.next_id(), self.clock.now());
        let repo = self.repo_mut(full_name)?;
        let association = repo.association(author);
        let issue = repo.issue_mut(number)?;
        issue.comments.push(Comment::new(id, author, association, body, now));
        issue.updated_at = now;
        Some(id)
    }

    /// Begins a review thread on a line of a pull request and returns the id of its comment.
    pub fn begin_thread(&mut self, full_name: &str, number: u64, author: &str, body: &str) -> Option<u64> {
        let review = self.carry(full_name, number, author)?;
        let (thread, id, now) = (self.next_id(), self.next_id(), self.clock.now());
        let repo = self.repo_mut(full_name)?;
        let association = repo.association(author);
        let issue = repo.issue_mut(number)?;
        issue.updated_at = now;
        let pull = issue.pull.as_mut()?;
        let path = pull.files.first()?.path.clone();
        let diff_hunk = "@@ -1 +1,3 @@\n-fn tap() {}\n+fn tap() {".to_owned();
        let anchor = Anchor { line: Some(1), side: Side::Right, start: None, position: 1, diff_hunk };
        let first = Comment { review: Some(review), ..Comment::new(id, author, association, body, now) };
        pull.threads.push(ReviewThread::new(thread, &path, anchor, &pull.head_oid, first));
        Some(id)
    }

    /// Writes a reply into the thread that a comment began and returns its id.
    pub fn reply_in_thread(&mut self, full_name: &str, root: u64, author: &str, body: &str) -> Option<u64> {
        let number = self.repo(full_name)?.review_comment(root)?.0.number;
        let review = self.carry(full_name, number, author)?;
        self.reply_with(full_name, root, author, (body, review))
    }

    /// Writes a reply that comes with a review and returns its id.
    pub(crate) fn reply_with(
        &mut self,
        full_name: &str,
        root: u64,
        author: &str,
        (body, review): (&str, u64),
    ) -> Option<u64> {
        let (id, now) = (self.next_id(), self.clock.now());
        let repo = self.repo_mut(full_name)?;
        let association = repo.association(author);
        let is_begun_by_it =
            |thread: &&mut ReviewThread| thread.comments.first().is_some_and(|first| first.id == root);
        let reply = Comment { review: Some(review), ..Comment::new(id, author, association, body, now) };
        let (updated_at, thread) = repo.issues.iter_mut().find_map(|issue| {
            let threads = &mut issue.pull.as_mut()?.threads;
            Some((&mut issue.updated_at, threads.iter_mut().find(is_begun_by_it)?))
        })?;
        *updated_at = now;
        thread.comments.push(reply);
        Some(id)
    }

    /// Enters the review that carries what somebody says alone beside the code, and returns its id.
    pub(crate) fn carry(&mut self, full_name: &str, number: u64, author: &str) -> Option<u64> {
        let (id, now) = (self.next_id(), self.clock.now());
        let pull = self.issue_mut(full_name, number)?.pull.as_mut()?;
        pull.reviews.push(Review::carrier(id, author, &pull.head_oid, now));
        Some(id)
    }

    /// Begins a discussion and returns its number.
    pub fn begin_discussion(
        &mut self,
        full_name: &str,
        author: &str,
        title: &str,
        body: &str,
    ) -> Option<u64> {
        let (id, created_at) = (self.next_id(), self.clock.now());
        let repo = self.repo_mut(full_name)?;
        let number = repo.next_number();
        repo.discussions.push(Discussion {
            id,
            number,
            title: title.to_owned(),
            body: body.to_owned(),
            author: author.to_owned(),
            association: repo.association(author),
            locked: false,
            labels: Vec::new(),
            created_at,
            edited_at: None,
            comments: Vec::new(),
            reactions: Vec::new(),
        });
        Some(number)
    }

    /// Writes a comment into a discussion and returns its id.
    pub fn discuss(&mut self, full_name: &str, number: u64, author: &str, body: &str) -> Option<u64> {
        let (id, now) = (self.next_id(), self.clock.now());
        let repo = self.repo_mut(full_name)?;
        let comment = Comment::new(id, author, repo.association(author), body, now);
        repo.discussion_mut(number)?.comments.push(DiscussionComment { comment, replies: Vec::new() });
        Some(id)
    }

    /// Writes a reply below a comment of a discussion and returns its id.
    pub fn reply_in_discussion(&mut self, full_name: &str, to: u64, author: &str, body: &str) -> Option<u64> {
        let (id, now) = (self.next_id(), self.clock.now());
        let repo = self.repo_mut(full_name)?;
        let reply = Comment::new(id, author, repo.association(author), body, now);
        let mut tops = repo.discussions.iter_mut().flat_map(|discussion| &mut discussion.comments);
        tops.find(|top| top.comment.id == to)?.replies.push(reply);
        Some(id)
    }
}
