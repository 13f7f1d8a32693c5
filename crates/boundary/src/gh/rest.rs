//! Which parts of the repository may be read by the REST API.

/// Parts that may be read with all that is below them.
const WHOLE: [&str; 24] = [
    "assignees",
    "branches",
    "check-runs",
    "check-suites",
    "codeowners",
    "comments",
    "commits",
    "community",
    "compare",
    "contents",
    "contributors",
    "events",
    "git",
    "issues",
    "labels",
    "languages",
    "license",
    "milestones",
    "pulls",
    "readme",
    "releases",
    "rules",
    "statuses",
    "tags",
];

/// What may be read of workflows: how they ran and what they said, and nothing that they hold.
const ACTIONS: [&[&str]; 13] = [
    &["jobs", "*"],
    &["jobs", "*", "logs"],
    &["runs"],
    &["runs", "*"],
    &["runs", "*", "artifacts"],
    &["runs", "*", "attempts", "*"],
    &["runs", "*", "attempts", "*", "jobs"],
    &["runs", "*", "attempts", "*", "logs"],
    &["runs", "*", "jobs"],
    &["runs", "*", "logs"],
    &["workflows"],
    &["workflows", "*"],
    &["workflows", "*", "runs"],
];

/// Tells whether a place below the repository may be read.
pub(super) fn is_open(parts: &[&str]) -> bool {
    match parts {
        [] | ["topics"] => true,
        ["actions", rest @ ..] => ACTIONS.iter().any(|known| fits(known, rest)),
        [part, ..] => WHOLE.contains(part),
    }
}

/// Tells whether a place is a log, which GitHub keeps elsewhere.
pub(super) fn is_log(parts: &[&str]) -> bool {
    matches!(parts, ["repos", _, _, "actions", .., "logs"])
}

/// Tells whether a place or its query names a branch of another repository, as `mole:main` does.
///
/// Names of a query are read as GitHub reads them, with their escapes. Whose branch pulls come from may be asked.
pub(super) fn leads_away(parts: &[&str], query: Option<&str>) -> bool {
    let of_pulls = parts == ["pulls"];
    let Ok(pairs) = serde_urlencoded::from_str::<Vec<(String, String)>>(query.unwrap_or_default()) else {
        return true;
    };
    let names_another = |name: &str, value: &str| match name {
        "head" if of_pulls => false,
        // Times and searches have colons, and labels may.
        "labels" | "q" | "since" | "until" | "created" => false,
        _ => value.contains(':'),
    };
    parts.iter().any(|part| part.contains(':'))
        || pairs.iter().any(|(name, value)| names_another(name, value))
}

/// Tells whether the ids in an answer are those of things that lie here.
pub(super) fn names_things(parts: &[&str]) -> bool {
    let lead_away = ["dependencies", "events", "parent", "sub_issues", "timeline"];
    matches!(
        parts,
        [
            "repos",
            _,
            _,
            "comments" | "commits" | "issues" | "labels" | "milestones" | "pulls" | "releases",
            ..
        ]
    ) && !parts.iter().any(|part| lead_away.contains(part))
}

fn fits(known: &[&str], parts: &[&str]) -> bool {
    known.len() == parts.len() && known.iter().zip(parts).all(|(known, part)| *known == "*" || known == part)
}
