//! Node ids as GitHub makes them: a prefix for the kind, then `MessagePack` of the database ids in URL-safe base64.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};

/// What a node id is about. What stands in a repository carries the repository's id too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    User(u64),
    Bot(u64),
    Repo(u64),
    Issue { repo: u64, id: u64 },
    PullRequest { repo: u64, id: u64 },
    IssueComment { repo: u64, id: u64 },
    Label { repo: u64, id: u64 },
    Reaction { repo: u64, id: u64 },
    Review { repo: u64, id: u64 },
    ReviewThread { repo: u64, id: u64 },
    ReviewComment { repo: u64, id: u64 },
    Discussion { repo: u64, id: u64 },
    DiscussionComment { repo: u64, id: u64 },
    CheckRun { repo: u64, id: u64 },
    CheckSuite { repo: u64, id: u64 },
    Status { repo: u64, id: u64 },
    Happening { repo: u64, id: u64 },
    Commit { repo: u64, oid: [u8; 20] },
}

/// Returns the global node id.
pub(crate) fn node_id(node: Node) -> String {
    let (prefix, ids): (_, &[u64]) = match node {
        Node::User(id) => ("U", &[id]),
        Node::Bot(id) => ("BOT", &[id]),
        Node::Repo(id) => ("R", &[id]),
        Node::Issue { repo, id } => ("I", &[repo, id]),
        Node::PullRequest { repo, id } => ("PR", &[repo, id]),
        Node::IssueComment { repo, id } => ("IC", &[repo, id]),
        Node::Label { repo, id } => ("LA", &[repo, id]),
        Node::Reaction { repo, id } => ("REA", &[repo, id]),
        Node::Review { repo, id } => ("PRR", &[repo, id]),
        Node::ReviewThread { repo, id } => ("PRRT", &[repo, id]),
        Node::ReviewComment { repo, id } => ("PRRC", &[repo, id]),
        Node::Discussion { repo, id } => ("D", &[repo, id]),
        Node::DiscussionComment { repo, id } => ("DC", &[repo, id]),
        Node::CheckRun { repo, id } => ("CR", &[repo, id]),
        Node::CheckSuite { repo, id } => ("CS", &[repo, id]),
        Node::Status { repo, id } => ("SC", &[repo, id]),
        // GitHub has a prefix for each kind of event; nothing here tells them apart.
        Node::Happening { repo, id } => ("E", &[repo, id]),
        Node::Commit { repo, .. } => ("C", &[repo]),
    };
    // An array: its length, a zero that GitHub always puts first, then the ids.
    let is_commit = matches!(node, Node::Commit { .. });
    let length = if ids.len() == 1 && !is_commit { 0x92 } else { 0x93 };
    let mut bytes = vec![length, 0];
    for id in ids {
        if let Ok(short) = u32::try_from(*id) {
            bytes.push(0xce);
            bytes.extend(short.to_be_bytes());
        } else {
            bytes.push(0xcf);
            bytes.extend(id.to_be_bytes());
        }
    }
    if let Node::Commit { oid, .. } = node {
        // A text of 40 letters.
        bytes.extend([0xda, 0, 40]);
        bytes.extend(HEXLOWER.encode(&oid).into_bytes());
    }
    format!("{prefix}_{}", BASE64URL_NOPAD.encode(&bytes))
}

/// The global node id of a commit.
pub(crate) fn commit_id(repo: u64, oid: &str) -> String {
    let read = HEXLOWER.decode(oid.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
    node_id(Node::Commit { repo, oid: read.unwrap_or_default() })
}

impl Node {
    /// Reads a global node id.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (prefix, rest) = text.split_once('_')?;
        let bytes = BASE64URL_NOPAD.decode(rest.as_bytes()).ok()?;
        let (_, mut bytes) = bytes.split_at_checked(2)?;
        let mut ids = Vec::new();
        if prefix == "C" {
            let (repo, oid) = bytes.strip_prefix(&[0xce])?.split_at_checked(4)?;
            let repo = repo.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
            let oid = HEXLOWER.decode(oid.strip_prefix(&[0xda, 0, 40])?).ok()?;
            return Some(Self::Commit { repo, oid: oid.try_into().ok()? });
        }
        while let Some((kind, rest)) = bytes.split_first() {
            let (number, rest) = rest.split_at_checked(if *kind == 0xce { 4 } else { 8 })?;
            ids.push(number.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
            bytes = rest;
        }
        Some(match (prefix, ids.as_slice()) {
            ("U", &[id]) => Self::User(id),
            ("BOT", &[id]) => Self::Bot(id),
            ("R", &[id]) => Self::Repo(id),
            ("I", &[repo, id]) => Self::Issue { repo, id },
            ("PR", &[repo, id]) => Self::PullRequest { repo, id },
            ("IC", &[repo, id]) => Self::IssueComment { repo, id },
            ("LA", &[repo, id]) => Self::Label { repo, id },
            ("REA", &[repo, id]) => Self::Reaction { repo, id },
            ("PRR", &[repo, id]) => Self::Review { repo, id },
            ("E", &[repo, id]) => Self::Happening { repo, id },
            ("CR", &[repo, id]) => Self::CheckRun { repo, id },
            ("CS", &[repo, id]) => Self::CheckSuite { repo, id },
            ("SC", &[repo, id]) => Self::Status { repo, id },
            ("PRRT", &[repo, id]) => Self::ReviewThread { repo, id },
            ("PRRC", &[repo, id]) => Self::ReviewComment { repo, id },
            ("D", &[repo, id]) => Self::Discussion { repo, id },
            ("DC", &[repo, id]) => Self::DiscussionComment { repo, id },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_id_is_read_back() {
        let node = Node::Issue { repo: 1_296_269, id: 5_000_000_000 };
        assert_eq!(Node::parse(&node_id(node)), Some(node));
        let commit = Node::Commit { repo: 7, oid: [0xab; 20] };
        assert_eq!(Node::parse(&node_id(commit)), Some(commit));
        assert_eq!(node_id(Node::Commit { repo: 1_296_269, oid: [0x7f; 20] })[..14], *"C_kwDOABPHjdoA");
        assert_eq!(Node::parse("I_"), None);
        assert_eq!(Node::parse("hose"), None);
    }

    #[test]
    fn node_ids_have_githubs_form() {
        assert_eq!(node_id(Node::Repo(724_712)), "R_kgDOAAsO6A");
        assert_eq!(node_id(Node::User(583_231)), "U_kgDOAAjmPw");
        assert_eq!(node_id(Node::Issue { repo: 1_296_269, id: 5_000_000_000 }), "I_kwDOABPHjc8AAAABKgXyAA");
    }
}
