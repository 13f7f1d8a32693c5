//! What a query may ask of whoever and whatever lies beyond this repository: what they are called, and no more.
//!
//! A token can be wider than the repository, as a person's is. From an issue the schema leads to its author, from there
//! to all that they have, and from a fork to its parent. So what such a field leads to is asked for plain values only.

use graphql_parser::query::{Definition, Document, Field, FragmentDefinition, Selection, TypeCondition};

use crate::gh::policy::Refusal;

/// Fields that lead to another repository, or to somebody.
const BEYOND: [&str; 25] = [
    "actor",
    "assignableUsers",
    "assignees",
    "author",
    "baseRepository",
    "collaborators",
    "creator",
    "editor",
    "enabledBy",
    "headRepository",
    "headRepositoryOwner",
    "mentionableUsers",
    "mergedBy",
    "organization",
    "owner",
    "parent",
    "participants",
    "project",
    "repository",
    "requestedReviewer",
    "source",
    "suggestedActors",
    "templateRepository",
    "user",
    "viewer",
];

/// Types that somebody is of, or that gather what is theirs.
const SOMEBODY: [&str; 12] = [
    "Actor",
    "Bot",
    "Enterprise",
    "EnterpriseUserAccount",
    "Mannequin",
    "Organization",
    "ProfileOwner",
    "ProjectV2",
    "ProjectV2Owner",
    "RepositoryOwner",
    "Team",
    "User",
];

/// Fields with fields that are still no more than a name: lists, and what something belongs to.
const PASSAGES: [&str; 12] = [
    "defaultBranchRef",
    "edges",
    "headRepository",
    "node",
    "nodes",
    "organization",
    "owner",
    "pageInfo",
    "parent",
    "project",
    "repository",
    "user",
];

/// What an id may lead to: things that belong to a repository, one by one.
const THINGS: [&str; 20] = [
    "Assignable",
    "CheckRun",
    "CheckSuite",
    "Closable",
    "Comment",
    "Commit",
    "CommitComment",
    "Discussion",
    "DiscussionComment",
    "Issue",
    "IssueComment",
    "Label",
    "Labelable",
    "Milestone",
    "PullRequest",
    "PullRequestReview",
    "PullRequestReviewComment",
    "PullRequestReviewThread",
    "Ref",
    "Release",
];

/// Fragments can lead into each other, in circles, too.
const DEEPEST: usize = 20;

/// The fragments of a document, for those who meet their names.
#[derive(Clone, Copy)]
pub(super) struct Fragments<'a, 'b>(pub(super) &'a Document<'b, String>);

impl<'a, 'b> Fragments<'a, 'b> {
    /// Refuses to go deeper than names, where a field or a type leads beyond this repository.
    pub(super) fn check_field(self, field: &Field<'_, String>) -> Result<(), Refusal> {
        let alias = field.alias.as_deref().unwrap_or(&field.name);
        if ["id", "node_id"].contains(&alias) && field.name != "id" {
            return Err(Refusal::Unclear("something else is called an id"));
        }
        if BEYOND.contains(&field.name.as_str()) { self.plain(&field.selection_set.items, 0) } else { Ok(()) }
    }

    /// Refuses to go deeper than names where something is taken for somebody.
    pub(super) fn check_type(
        self,
        condition: Option<&TypeCondition<'_, String>>,
        below: &[Selection<'_, String>],
    ) -> Result<(), Refusal> {
        let somebody = condition.is_some_and(|condition| SOMEBODY.contains(&name(condition)));
        if somebody { self.plain(below, 0) } else { Ok(()) }
    }

    /// Refuses to take what an id leads to for anything but a thing of a repository.
    pub(super) fn check_node(self, below: &[Selection<'_, String>]) -> Result<(), Refusal> {
        below.iter().try_for_each(|selection| {
            let kind = match selection {
                Selection::Field(field) if field.selection_set.items.is_empty() => return Ok(()),
                Selection::Field(field) => return Err(elsewhere(&field.name)),
                Selection::InlineFragment(fragment) => fragment.type_condition.as_ref().map(name),
                Selection::FragmentSpread(spread) => {
                    Some(name(&self.named(&spread.fragment_name)?.type_condition))
                }
            };
            match kind {
                Some(kind) if THINGS.contains(&kind) => Ok(()),
                Some(kind) => Err(elsewhere(kind)),
                None => Err(Refusal::Unclear("a fragment has no type")),
            }
        })
    }

    fn plain(self, selections: &[Selection<'_, String>], depth: usize) -> Result<(), Refusal> {
        if depth > DEEPEST {
            return Err(Refusal::Unclear("the fragments lead too deep"));
        }
        selections.iter().try_for_each(|selection| match selection {
            Selection::Field(field) if field.selection_set.items.is_empty() => Ok(()),
            Selection::Field(field) if PASSAGES.contains(&field.name.as_str()) => {
                self.plain(&field.selection_set.items, depth + 1)
            }
            Selection::Field(field) => Err(elsewhere(&field.name)),
            Selection::InlineFragment(fragment) => self.plain(&fragment.selection_set.items, depth + 1),
            Selection::FragmentSpread(spread) => {
                self.plain(&self.named(&spread.fragment_name)?.selection_set.items, depth + 1)
            }
        })
    }

    fn named(self, name: &str) -> Result<&'a FragmentDefinition<'b, String>, Refusal> {
        let found = self.0.definitions.iter().find_map(|definition| match definition {
            Definition::Fragment(fragment) if fragment.name == name => Some(fragment),
            Definition::Fragment(_) | Definition::Operation(_) => None,
        });
        found.ok_or(Refusal::Unclear("a fragment is missing"))
    }
}

fn name<'a>(TypeCondition::On(name): &'a TypeCondition<'_, String>) -> &'a str {
    name
}

fn elsewhere(what: &str) -> Refusal {
    Refusal::Elsewhere(what.chars().take(100).collect())
}
