//! Which things of GitHub's GraphQL schema may be entered, by which fields, and where these lead.
//!
//! A token can be wider than the repository, as a person's is. Whatever a field leads to is either a thing of this
//! repository, with a row of its own here, or it may lie elsewhere: somebody, a fork, an issue that mentions this one.
//! That is asked for what it is called, and no more. A field that is not here is not entered at all.

/// Where a field leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leads {
    /// To a thing of this repository, of this type.
    Here(&'static str),
    /// Perhaps beyond it.
    Beyond,
}

use Leads::{Beyond, Here};

/// Something that has no way out of itself.
pub(super) const PLAIN: Leads = Here("");

/// Lists, and what they are made of: they lead where their own field does.
pub(super) const LISTS: [&str; 3] = ["edges", "node", "nodes"];

/// What may be asked of somebody, or of something that perhaps lies elsewhere.
const NAMES: [&str; 46] = [
    "__typename",
    "abbreviatedOid",
    "avatarUrl",
    "closed",
    "closedAt",
    "color",
    "createdAt",
    "cursor",
    "databaseId",
    "description",
    "endCursor",
    "fullDatabaseId",
    "hasIssuesEnabled",
    "hasNextPage",
    "hasPreviousPage",
    "hasWikiEnabled",
    "id",
    "isArchived",
    "isDraft",
    "isFork",
    "isInOrganization",
    "isPrivate",
    "key",
    "login",
    "merged",
    "mergedAt",
    "messageHeadline",
    "name",
    "nameWithOwner",
    "number",
    "oid",
    "optionId",
    "resourcePath",
    "slug",
    "sshUrl",
    "startCursor",
    "state",
    "stateReason",
    "text",
    "title",
    "totalCount",
    "type",
    "updatedAt",
    "url",
    "viewerPermission",
    "visibility",
];

/// What may be entered there: what something belongs to, and what a project says of it.
const PASSAGES: [&str; 15] = [
    "column",
    "defaultBranchRef",
    "edges",
    "fieldValueByName",
    "headRepository",
    "node",
    "nodes",
    "organization",
    "owner",
    "pageInfo",
    "parent",
    "project",
    "repository",
    "reviewer",
    "target",
];

/// Values that open something, and addresses of whoever the token belongs to.
const PRIVATE: [&str; 3] = ["tempCloneToken", "viewerDefaultCommitEmail", "viewerPossibleCommitEmails"];

/// Tells whether a plain value may be asked for.
pub(super) fn is_value(at: Leads, name: &str) -> bool {
    match at {
        Here(_) => !PRIVATE.contains(&name),
        Beyond => NAMES.contains(&name),
    }
}

/// Returns where a field leads, if it may be entered.
pub(super) fn field(at: Leads, name: &str) -> Option<Leads> {
    match at {
        Beyond => PASSAGES.contains(&name).then_some(Beyond),
        Here(_) if LISTS.contains(&name) => Some(at),
        Here(_) if name == "pageInfo" => Some(PLAIN),
        Here(kind) => {
            let row = TYPES.iter().find(|(known, ..)| *known == kind)?;
            row.1.iter().chain(COMMON).find(|(field, _)| *field == name).map(|(_, leads)| *leads)
        }
    }
}

/// Returns what something is when it is taken for a type, if it may be.
pub(super) fn taken_for(at: Leads, kind: &str) -> Option<Leads> {
    let Here(declared) = at else { return Some(Beyond) };
    if kind == "Node" {
        return Some(PLAIN);
    }
    if declared == "Event" && kind.ends_with("Event") {
        return Some(Here("Event"));
    }
    let is_one = UNIONS.iter().any(|(union, kinds)| *union == declared && kinds.contains(&kind));
    let row = TYPES.iter().find(|(known, ..)| *known == kind)?;
    (declared == kind || is_one).then_some(Here(row.0))
}

/// Types that stand for others.
const UNIONS: [(&str, &[&str]); 5] = [
    ("GitObject", &["Blob", "Commit", "Tag", "Tree"]),
    ("IssueOrPullRequest", &["Issue", "PullRequest"]),
    ("StatusCheckRollupContext", &["CheckRun", "StatusContext"]),
    ("Event", &["IssueComment", "PullRequestCommit", "PullRequestReview", "PullRequestReviewThread"]),
    // What an id may lead to.
    (
        "Thing",
        &[
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
        ],
    ),
];

type Row = &'static [(&'static str, Leads)];

/// What many types have.
const COMMON: Row = &[
    ("author", Beyond),
    ("editor", Beyond),
    ("reactionGroups", Here("ReactionGroup")),
    ("reactions", Here("Reaction")),
    ("repository", Beyond),
];

const TYPES: [(&str, Row); 44] = [
    ("Assignable", &[("assignees", Beyond)]),
    ("AutoMergeRequest", &[("enabledBy", Beyond)]),
    ("Blob", &[]),
    ("CheckAnnotation", &[("location", Here("CheckLocation"))]),
    ("CheckLocation", &[("end", PLAIN), ("start", PLAIN)]),
    (
        "CheckRun",
        &[("annotations", Here("CheckAnnotation")), ("checkSuite", Here("CheckSuite")), ("steps", PLAIN)],
    ),
    (
        "CheckSuite",
        &[
            ("app", Beyond),
            ("branch", Beyond),
            ("checkRuns", Here("CheckRun")),
            ("commit", Here("Commit")),
            ("creator", Beyond),
            ("workflowRun", Here("WorkflowRun")),
        ],
    ),
    ("Closable", &[]),
    ("Comment", &[]),
    (
        "Commit",
        &[
            ("associatedPullRequests", Beyond),
            ("author", Here("GitActor")),
            ("authors", Here("GitActor")),
            ("checkSuites", Here("CheckSuite")),
            ("comments", Here("CommitComment")),
            ("committer", Here("GitActor")),
            ("file", Here("TreeEntry")),
            ("history", Here("Commit")),
            ("onBehalfOf", Beyond),
            ("parents", Here("Commit")),
            ("status", Here("Status")),
            ("statusCheckRollup", Here("StatusCheckRollup")),
            ("tree", Here("Tree")),
        ],
    ),
    ("CommitComment", &[("commit", Here("Commit"))]),
    (
        "Discussion",
        &[
            ("answer", Here("DiscussionComment")),
            ("answerChosenBy", Beyond),
            ("category", PLAIN),
            ("comments", Here("DiscussionComment")),
            ("labels", Here("Label")),
        ],
    ),
    (
        "DiscussionComment",
        &[
            ("discussion", Here("Discussion")),
            ("replies", Here("DiscussionComment")),
            ("replyTo", Here("DiscussionComment")),
        ],
    ),
    ("Event", EVENT),
    ("GitActor", &[("user", Beyond)]),
    ("GitObject", &[]),
    ("Issue", ISSUE),
    ("IssueComment", &[("issue", Here("Issue")), ("pullRequest", Here("PullRequest"))]),
    ("IssueOrPullRequest", &[]),
    ("Label", &[("issues", Here("Issue")), ("pullRequests", Here("PullRequest"))]),
    ("Labelable", &[("labels", Here("Label"))]),
    ("LinkedBranch", &[("ref", Beyond)]),
    ("Milestone", &[("creator", Beyond), ("issues", Here("Issue")), ("pullRequests", Here("PullRequest"))]),
    ("PullRequest", PULL_REQUEST),
    ("PullRequestCommit", &[("commit", Here("Commit")), ("pullRequest", Here("PullRequest"))]),
    (
        "PullRequestReview",
        &[
            ("comments", Here("PullRequestReviewComment")),
            ("commit", Here("Commit")),
            ("onBehalfOf", Beyond),
            ("pullRequest", Here("PullRequest")),
        ],
    ),
    (
        "PullRequestReviewComment",
        &[
            ("commit", Here("Commit")),
            ("originalCommit", Here("Commit")),
            ("pullRequest", Here("PullRequest")),
            ("pullRequestReview", Here("PullRequestReview")),
            ("replyTo", Here("PullRequestReviewComment")),
        ],
    ),
    (
        "PullRequestReviewThread",
        &[
            ("comments", Here("PullRequestReviewComment")),
            ("pullRequest", Here("PullRequest")),
            ("resolvedBy", Beyond),
        ],
    ),
    ("Reaction", &[("user", Beyond)]),
    ("ReactionGroup", &[("reactors", Beyond), ("users", Beyond)]),
    (
        "Ref",
        &[("associatedPullRequests", Beyond), ("branchProtectionRule", PLAIN), ("target", Here("GitObject"))],
    ),
    (
        "Release",
        &[
            ("mentions", Beyond),
            ("releaseAssets", Here("ReleaseAsset")),
            ("tag", Here("Ref")),
            ("tagCommit", Here("Commit")),
        ],
    ),
    ("ReleaseAsset", &[("uploadedBy", Beyond)]),
    ("Repository", REPOSITORY),
    ("RepositoryTopic", &[("topic", Beyond)]),
    ("ReviewRequest", &[("requestedReviewer", Beyond)]),
    ("Status", &[("commit", Here("Commit")), ("contexts", Here("StatusContext"))]),
    ("StatusCheckRollup", &[("commit", Here("Commit")), ("contexts", Here("StatusCheckRollupContext"))]),
    ("StatusCheckRollupContext", &[("checkRunCountsByState", PLAIN), ("statusContextCountsByState", PLAIN)]),
    ("StatusContext", &[("commit", Here("Commit")), ("creator", Beyond)]),
    ("Tag", &[("tagger", Here("GitActor")), ("target", Here("GitObject"))]),
    ("Tree", &[("entries", Here("TreeEntry"))]),
    ("TreeEntry", &[("object", Here("GitObject"))]),
    ("WorkflowRun", &[("checkSuite", Here("CheckSuite")), ("workflow", PLAIN)]),
];

const REPOSITORY: Row = &[
    ("assignableUsers", Beyond),
    ("branchProtectionRules", PLAIN),
    ("codeOfConduct", PLAIN),
    ("collaborators", Beyond),
    ("commitComments", Here("CommitComment")),
    ("contactLinks", PLAIN),
    ("defaultBranchRef", Here("Ref")),
    ("discussion", Here("Discussion")),
    ("discussionCategories", PLAIN),
    ("discussions", Here("Discussion")),
    ("fundingLinks", PLAIN),
    ("issue", Here("Issue")),
    ("issueOrPullRequest", Here("IssueOrPullRequest")),
    ("issueTemplates", PLAIN),
    ("issueTypes", PLAIN),
    ("issues", Here("Issue")),
    ("label", Here("Label")),
    ("labels", Here("Label")),
    ("languages", PLAIN),
    ("latestRelease", Here("Release")),
    ("licenseInfo", PLAIN),
    ("mentionableUsers", Beyond),
    ("milestone", Here("Milestone")),
    ("milestones", Here("Milestone")),
    ("object", Here("GitObject")),
    ("organization", Beyond),
    ("owner", Beyond),
    ("parent", Beyond),
    ("primaryLanguage", PLAIN),
    ("projects", Beyond),
    ("projectsV2", Beyond),
    ("pullRequest", Here("PullRequest")),
    ("pullRequestTemplates", PLAIN),
    ("pullRequests", Here("PullRequest")),
    ("ref", Here("Ref")),
    ("refs", Here("Ref")),
    ("release", Here("Release")),
    ("releases", Here("Release")),
    ("repositoryTopics", Here("RepositoryTopic")),
    ("suggestedActors", Beyond),
    ("templateRepository", Beyond),
    ("watchers", Beyond),
];

const ISSUE: Row = &[
    ("assignedActors", Beyond),
    ("assignees", Beyond),
    ("blockedBy", Beyond),
    ("blocking", Beyond),
    ("closedByPullRequestsReferences", Beyond),
    ("comments", Here("IssueComment")),
    ("issueDependenciesSummary", PLAIN),
    ("issueType", PLAIN),
    ("labels", Here("Label")),
    ("linkedBranches", Here("LinkedBranch")),
    ("milestone", Here("Milestone")),
    ("parent", Beyond),
    ("participants", Beyond),
    ("projectCards", Beyond),
    ("projectItems", Beyond),
    ("subIssues", Beyond),
    ("subIssuesSummary", PLAIN),
    ("suggestedActors", Beyond),
    ("timelineItems", Here("Event")),
    ("trackedInIssues", Beyond),
    ("trackedIssues", Beyond),
];

const PULL_REQUEST: Row = &[
    ("assignedActors", Beyond),
    ("assignees", Beyond),
    ("autoMergeRequest", Here("AutoMergeRequest")),
    ("baseRef", Here("Ref")),
    ("baseRepository", Beyond),
    ("closingIssuesReferences", Beyond),
    ("comments", Here("IssueComment")),
    ("commits", Here("PullRequestCommit")),
    ("files", PLAIN),
    ("headRef", Beyond),
    ("headRepository", Beyond),
    ("headRepositoryOwner", Beyond),
    ("labels", Here("Label")),
    ("latestOpinionatedReviews", Here("PullRequestReview")),
    ("latestReviews", Here("PullRequestReview")),
    ("mergeCommit", Here("Commit")),
    ("mergedBy", Beyond),
    ("milestone", Here("Milestone")),
    ("participants", Beyond),
    ("potentialMergeCommit", Here("Commit")),
    ("projectCards", Beyond),
    ("projectItems", Beyond),
    ("reviewRequests", Here("ReviewRequest")),
    ("reviewThreads", Here("PullRequestReviewThread")),
    ("reviews", Here("PullRequestReview")),
    ("statusCheckRollup", Here("StatusCheckRollup")),
    ("suggestedActors", Beyond),
    ("suggestedReviewers", Beyond),
    ("timelineItems", Here("Event")),
    ("viewerLatestReview", Here("PullRequestReview")),
];

/// What happened to something here can be about something elsewhere.
const EVENT: Row = &[
    ("actor", Beyond),
    ("afterCommit", Beyond),
    ("assignee", Beyond),
    ("beforeCommit", Beyond),
    ("canonical", Beyond),
    ("closer", Beyond),
    ("commit", Beyond),
    ("commitRepository", Beyond),
    ("duplicate", Beyond),
    ("fromRepository", Beyond),
    ("label", PLAIN),
    ("ref", Beyond),
    ("requestedReviewer", Beyond),
    ("source", Beyond),
    ("subIssue", Beyond),
    ("subject", Beyond),
    ("target", Beyond),
    ("user", Beyond),
];
