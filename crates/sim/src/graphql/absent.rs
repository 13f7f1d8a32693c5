//! Parts of the GraphQL schema that are always empty here: a question about them is valid and finds nothing.
//!
//! None of these types has a value, so that nothing here can be shown by mistake.

#![expect(unreachable_code, reason = "what would follow these fields is never reached")]

use async_graphql::{Enum, ID, Object, Union};

use crate::graphql::{actor::Actor, scalar::DateTime};

macro_rules! absent {
    ($($name:ident { $($field:ident $(($argument:ident: $kind:ty))?: $result:ty,)+ })+) => {
        $(
            #[derive(Clone)]
            pub(super) enum $name {}

            #[Object]
            impl $name {
                $(
                    async fn $field(&self $(, $argument: $kind)?) -> $result {
                        $(drop($argument);)?
                        match *self {}
                    }
                )+
            }
        )+
    };
}

absent! {
    AutoMergeRequest {
        author_email: Option<String>,
        commit_body: Option<String>,
        commit_headline: Option<String>,
        merge_method: PullRequestMergeMethod,
        enabled_at: Option<DateTime>,
        enabled_by: Option<Actor>,
    }
    IssueType { id: ID, name: String, description: Option<String>, color: String, }
    Milestone { id: ID, number: i32, title: String, description: Option<String>, due_on: Option<DateTime>, }
    Organization { id: ID, login: String, name: Option<String>, }
    Project { name: String, }
    ProjectCard { project: Project, column: Option<ProjectColumn>, }
    ProjectColumn { name: String, }
    ProjectV2 { id: ID, title: String, }
    ProjectV2Item { id: ID, project: ProjectV2, field_value_by_name(name: String): Option<ProjectV2ItemFieldValue>, }
    ProjectV2ItemFieldSingleSelectValue { option_id: Option<String>, name: Option<String>, }
    Team { organization: Organization, name: String, slug: String, }
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum PullRequestMergeMethod {
    Merge,
    Rebase,
    Squash,
}

#[derive(Union)]
enum ProjectV2ItemFieldValue {
    Single(ProjectV2ItemFieldSingleSelectValue),
}
