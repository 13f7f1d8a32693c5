//! What a search finds: a window on things of several kinds, counted kind by kind.

use std::sync::Arc;

use async_graphql::{Enum, Result, SimpleObject, Union};

use crate::{
    graphql::{
        Asked,
        connection::{PageInfo, Window},
        issue::{self, Issue},
        mutation::unprocessable,
        pull_request::{self, PullRequest},
        repository::Repository,
        thread::Thread,
    },
    search::Question,
    state,
};

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum SearchType {
    Discussion,
    Issue,
    Repository,
    User,
}

#[derive(Union)]
enum SearchResultItem {
    Issue(Issue),
    PullRequest(PullRequest),
    Repository(Repository),
}

#[derive(SimpleObject)]
struct SearchResultItemEdge {
    cursor: String,
    node: Option<SearchResultItem>,
}

#[derive(SimpleObject)]
pub(super) struct SearchResultItemConnection {
    nodes: Option<Vec<Option<SearchResultItem>>>,
    edges: Option<Vec<Option<SearchResultItemEdge>>>,
    page_info: PageInfo,
    code_count: usize,
    discussion_count: usize,
    issue_count: usize,
    repository_count: usize,
    user_count: usize,
    wiki_count: usize,
}

/// Looks for things of a kind. Discussions and people are never found here.
pub(super) fn find(
    asked: &Arc<Asked>,
    question: &str,
    kind: SearchType,
    window: &Window,
) -> Result<SearchResultItemConnection> {
    let read = || {
        let strange = |name| unprocessable(format!("the simulated search does not obey `{name}`"));
        Question::read(question, &asked.caller).map_err(strange)
    };
    let found: Vec<Place> = match kind {
        SearchType::Issue => {
            let found = read()?.found(&asked.state).into_iter();
            found.map(|(repo, issue)| Place { repo: repo.clone(), issue: Some(issue.clone()) }).collect()
        }
        SearchType::Repository => repositories(asked, question),
        SearchType::Discussion | SearchType::User => Vec::new(),
    };
    let total = found.len();
    let (shown, page_info) = window.cut("search", found)?;
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for (cursor, place) in shown {
        nodes.push(Some(place.item(asked)));
        edges.push(Some(SearchResultItemEdge { cursor, node: Some(place.item(asked)) }));
    }
    let count = |counted: SearchType| if counted == kind { total } else { 0 };
    Ok(SearchResultItemConnection {
        nodes: Some(nodes),
        edges: Some(edges),
        page_info,
        code_count: 0,
        discussion_count: 0,
        issue_count: count(SearchType::Issue),
        repository_count: count(SearchType::Repository),
        user_count: 0,
        wiki_count: 0,
    })
}

/// What was found: an issue or pull request of a repository, or that repository.
struct Place {
    repo: state::Repo,
    issue: Option<state::Issue>,
}

impl Place {
    fn item(&self, asked: &Arc<Asked>) -> SearchResultItem {
        let (asked, repo) = (Arc::clone(asked), Arc::new(self.repo.clone()));
        let Some(issue) = &self.issue else {
            return SearchResultItem::Repository(Repository { asked, repo });
        };
        let thread = Thread { asked, repo, issue: Arc::new(issue.clone()) };
        match pull_request::from_thread(thread.clone()) {
            Some(pull) => SearchResultItem::PullRequest(pull),
            None => SearchResultItem::Issue(issue::from_thread(thread)),
        }
    }
}

/// The repositories that the caller sees and whose name has all words of the question.
fn repositories(asked: &Asked, question: &str) -> Vec<Place> {
    let fits = |repo: &&state::Repo| {
        question.split_whitespace().all(|word| match word.split_once(':') {
            Some(("user" | "org", owner)) => repo.owner.eq_ignore_ascii_case(owner),
            Some(("repo", name)) => repo.full_name().eq_ignore_ascii_case(name),
            _ => repo.name.to_lowercase().contains(&word.to_lowercase()),
        })
    };
    let seen = asked.state.repos.iter().filter(|repo| asked.caller.sees(repo)).filter(fits);
    seen.map(|repo| Place { repo: repo.clone(), issue: None }).collect()
}
