//! Finding things by their node ids, to look at them or to change them.

use data_encoding::HEXLOWER;

use crate::state::{Comment, Discussion, Issue, Node, Reaction, Repo, ReviewThread, State};

impl Node {
    /// The hash, if it is a commit.
    pub(crate) fn oid(self) -> Option<String> {
        match self {
            Self::Commit { oid, .. } => Some(HEXLOWER.encode(&oid)),
            _ => None,
        }
    }

    /// The id of the repository that it stands in, or is.
    pub(crate) fn repo(self) -> Option<u64> {
        match self {
            Self::User(_) | Self::Bot(_) => None,
            Self::Repo(repo)
            | Self::Issue { repo, .. }
            | Self::PullRequest { repo, .. }
            | Self::IssueComment { repo, .. }
            | Self::Label { repo, .. }
            | Self::Reaction { repo, .. }
            | Self::Review { repo, .. }
            | Self::CheckRun { repo, .. }
            | Self::CheckSuite { repo, .. }
            | Self::Status { repo, .. }
            | Self::Happening { repo, .. }
            | Self::Commit { repo, .. }
            | Self::ReviewThread { repo, .. }
            | Self::ReviewComment { repo, .. }
            | Self::Discussion { repo, .. }
            | Self::DiscussionComment { repo, .. } => Some(repo),
        }
    }
}

impl State {
    /// Finds the repository that a node stands in, or is.
    pub(crate) fn repo_of(&self, node: Node) -> Option<&Repo> {
        let id = node.repo()?;
        self.repos.iter().find(|repo| repo.id == id)
    }

    /// Finds that repository to change it.
    pub(crate) fn repo_of_mut(&mut self, node: Node) -> Option<&mut Repo> {
        let id = node.repo()?;
        self.repos.iter_mut().find(|repo| repo.id == id)
    }
}

impl Repo {
    /// Finds the issue or pull request that a node is.
    pub(crate) fn issue_at(&self, node: Node) -> Option<&Issue> {
        let (Node::Issue { id: wanted, .. } | Node::PullRequest { id: wanted, .. }) = node else {
            return None;
        };
        self.issues.iter().find(|issue| issue.id == wanted)
    }

    /// Finds the names of the labels on whatever a node is.
    pub(crate) fn labels_at(&mut self, node: Node) -> Option<&mut Vec<String>> {
        match node {
            Node::Issue { id, .. } | Node::PullRequest { id, .. } => {
                Some(&mut self.issues.iter_mut().find(|issue| issue.id == id)?.labels)
            }
            Node::Discussion { id, .. } => {
                Some(&mut self.discussions.iter_mut().find(|discussion| discussion.id == id)?.labels)
            }
            _ => None,
        }
    }

    /// Finds the reactions on whatever a node is.
    pub(crate) fn reactions_at(&mut self, node: Node) -> Option<&mut Vec<Reaction>> {
        match node {
            Node::Issue { id, .. } | Node::PullRequest { id, .. } => {
                Some(&mut self.issues.iter_mut().find(|issue| issue.id == id)?.reactions)
            }
            Node::Discussion { id, .. } => {
                Some(&mut self.discussions.iter_mut().find(|discussion| discussion.id == id)?.reactions)
            }
            _ => Some(&mut self.comment_at(node)?.reactions),
        }
    }

    /// Finds whether the comment or review that a node is was folded away, and why.
    pub(crate) fn folding_at(&mut self, node: Node) -> Option<&mut Option<String>> {
        match node {
            Node::Review { id, .. } => {
                let pulls = self.issues.iter_mut().filter_map(|issue| issue.pull.as_mut());
                let mut reviews = pulls.flat_map(|pull| &mut pull.reviews);
                reviews.find(|review| review.id == id).map(|review| &mut review.minimized)
            }
            _ => Some(&mut self.comment_at(node)?.minimized),
        }
    }

    /// All reactions on anything here.
    pub(crate) fn reactions(&self) -> impl Iterator<Item = &Reaction> {
        let comments = self.issues.iter().flat_map(|issue| &issue.comments);
        let pulls = self.issues.iter().filter_map(|issue| issue.pull.as_ref());
        let remarks = pulls.flat_map(|pull| &pull.threads).flat_map(|thread| &thread.comments);
        let said = self.discussions.iter().flat_map(Discussion::said);
        let on_texts = self.issues.iter().flat_map(|issue| &issue.reactions);
        let on_discussions = self.discussions.iter().flat_map(|discussion| &discussion.reactions);
        let on_comments = comments.chain(remarks).chain(said).flat_map(|comment| &comment.reactions);
        on_texts.chain(on_discussions).chain(on_comments)
    }

    /// Finds the comment of any kind that a node is.
    pub(crate) fn comment_at(&mut self, node: Node) -> Option<&mut Comment> {
        match node {
            Node::IssueComment { id, .. } => self.issues.iter_mut().find_map(|issue| issue.comment_mut(id)),
            Node::ReviewComment { id, .. } => self.review_comment_mut(id),
            Node::DiscussionComment { id, .. } => {
                self.discussions.iter_mut().find_map(|discussion| discussion.comment_mut(id))
            }
            _ => None,
        }
    }

    /// Finds the review thread that a node is, and the pull request it belongs to.
    pub(crate) fn thread_at(&mut self, node: Node) -> Option<(String, &mut ReviewThread)> {
        let Node::ReviewThread { id, .. } = node else { return None };
        self.issues.iter_mut().find_map(|issue| {
            let thread = issue.pull.as_mut()?.threads.iter_mut().find(|thread| thread.id == id)?;
            Some((issue.author.clone(), thread))
        })
    }
}
