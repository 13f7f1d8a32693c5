//! The REST API over the state: routes, one file for each kind of thing.

mod address;
mod apps;
mod by_id;
mod caches;
mod check_drafts;
mod check_suites;
mod checks;
mod code_owners;
mod collaborators;
mod comments;
mod compare;
mod content_making;
mod contents;
mod etags;
mod git_data;
mod git_making;
mod happenings;
mod issue_edits;
mod issues;
mod labels;
mod limits;
mod located;
mod manners;
mod media;
mod merges;
mod paging;
mod protection;
mod pulls;
mod reactions;
mod references;
mod release_making;
mod releases;
mod repos;
mod review_comments;
mod review_requests;
mod reviews;
mod search;
mod shape;
mod sorting;
mod statuses;
mod users;
mod visit;
mod workflow_again;
mod workflow_jobs;
mod workflow_runs;
mod workflows;

use axum::body::Bytes;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{problem::Problem, routes::Routes};

pub(crate) use by_id::by_id;
pub(crate) use contents::IN_A_PATH;
pub(crate) use etags::tag;
pub(crate) use limits::count;
pub(crate) use located::locate;
pub(crate) use manners::{is_api, manners};
pub(crate) use media::reword;
pub(crate) use shape::{Shape, timestamp};

/// Where everything of a repository is.
const REPO: &str = "/repos/{owner}/{repo}";

/// The routes that are known.
pub(crate) fn routes() -> Routes {
    let accounts = Routes::below("")
        .on("GET /", users::root)
        .on("GET /user", users::viewer)
        .on("GET /users/{login}", users::show)
        .on("GET /users/{login}/repos", repos::of_person)
        .on("GET /user/repos", repos::of_viewer)
        .on("GET /rate_limit", limits::show)
        .on("GET /search/issues", search::issues)
        .on("GET /repos/{owner}/{repo}", repos::show)
        .on("PATCH /repos/{owner}/{repo}", repos::update);
    accounts
        .and(apps())
        .and(issues())
        .and(comments())
        .and(pulls())
        .and(reviews())
        .and(git())
        .and(results())
        .and(actions())
}

fn apps() -> Routes {
    Routes::below("")
        .on("GET /app", apps::show)
        .on("GET /app/installations", apps::installations)
        .on("GET /app/installations/{installation}", apps::installation)
        .on("POST /app/installations/{installation}/access_tokens", apps::give_token)
        .on("GET /users/{login}/installation", apps::of_account)
        .on("GET /installation/repositories", apps::repositories)
        .on("DELETE /installation/token", apps::revoke)
        .on("GET /repos/{owner}/{repo}/installation", apps::of_repo)
        .on("GET /user/installations", apps::of_person)
        .on("GET /user/installations/{installation}/repositories", apps::repositories_of_person)
}

fn issues() -> Routes {
    Routes::below(REPO)
        .on("GET /collaborators", collaborators::list)
        .on("GET /collaborators/{login}", collaborators::check)
        .on("GET /collaborators/{login}/permission", users::permission)
        .on("GET /assignees", collaborators::assignees)
        .on("GET /assignees/{login}", collaborators::assignee)
        .on("GET /milestones", collaborators::milestones)
        .on("GET /labels", labels::list)
        .on("POST /labels", labels::create)
        .on("GET /labels/{name}", labels::show)
        .on("PATCH /labels/{name}", labels::update)
        .on("DELETE /labels/{name}", labels::delete)
        .on("GET /issues/events", happenings::all)
        .on("GET /issues/events/{event}", happenings::show)
        .on("GET /issues/{number}/events", happenings::of_issue)
        .on("GET /issues/{number}/timeline", happenings::timeline)
        .on("GET /issues", issues::list)
        .on("POST /issues", issues::create)
        .on("GET /issues/{number}", issues::show)
        .on("PATCH /issues/{number}", issues::update)
        .on("GET /issues/{number}/labels", labels::of_issue)
        .on("POST /issues/{number}/labels", labels::add)
        .on("PUT /issues/{number}/labels", labels::set)
        .on("DELETE /issues/{number}/labels", labels::remove_all)
        .on("DELETE /issues/{number}/labels/{name}", labels::remove)
        .on("POST /issues/{number}/assignees", sorting::assign)
        .on("DELETE /issues/{number}/assignees", sorting::unassign)
        .on("PUT /issues/{number}/lock", sorting::lock)
        .on("DELETE /issues/{number}/lock", sorting::unlock)
        .on("GET /issues/{number}/reactions", reactions::list)
        .on("POST /issues/{number}/reactions", reactions::react)
        .on("DELETE /issues/{number}/reactions/{reaction}", reactions::unreact)
}

fn comments() -> Routes {
    Routes::below(REPO)
        .on("GET /issues/{number}/comments", comments::list)
        .on("POST /issues/{number}/comments", comments::create)
        .on("GET /issues/comments", comments::list_all)
        .on("GET /issues/comments/{comment}", comments::show)
        .on("PATCH /issues/comments/{comment}", comments::update)
        .on("DELETE /issues/comments/{comment}", comments::delete)
        .on("GET /issues/comments/{comment}/reactions", reactions::list)
        .on("POST /issues/comments/{comment}/reactions", reactions::react)
        .on("DELETE /issues/comments/{comment}/reactions/{reaction}", reactions::unreact)
}

fn pulls() -> Routes {
    Routes::below(REPO)
        .on("GET /pulls", pulls::list)
        .on("POST /pulls", pulls::create)
        .on("GET /pulls/{number}", pulls::show)
        .on("PATCH /pulls/{number}", pulls::update)
        .on("GET /pulls/{number}/files", pulls::files)
        .on("GET /pulls/{number}/commits", pulls::commits)
        .on("GET /pulls/{number}/merge", merges::is_merged)
        .on("PUT /pulls/{number}/merge", merges::create)
        .on("PUT /pulls/{number}/update-branch", merges::update)
        .on("GET /pulls/{number}/requested_reviewers", review_requests::list)
        .on("POST /pulls/{number}/requested_reviewers", review_requests::add)
        .on("DELETE /pulls/{number}/requested_reviewers", review_requests::remove)
}

fn reviews() -> Routes {
    Routes::below(REPO)
        .on("GET /pulls/{number}/reviews", reviews::list)
        .on("POST /pulls/{number}/reviews", reviews::create)
        .on("GET /pulls/{number}/reviews/{review}", reviews::show)
        .on("PUT /pulls/{number}/reviews/{review}", reviews::update)
        .on("DELETE /pulls/{number}/reviews/{review}", reviews::delete)
        .on("GET /pulls/{number}/reviews/{review}/comments", reviews::remarks)
        .on("POST /pulls/{number}/reviews/{review}/events", reviews::submit)
        .on("PUT /pulls/{number}/reviews/{review}/dismissals", reviews::dismiss)
        .on("GET /pulls/{number}/comments", review_comments::list)
        .on("POST /pulls/{number}/comments", review_comments::create)
        .on("POST /pulls/{number}/comments/{comment}/replies", review_comments::reply)
        .on("GET /pulls/comments", review_comments::list_all)
        .on("GET /pulls/comments/{comment}", review_comments::show)
        .on("PATCH /pulls/comments/{comment}", review_comments::update)
        .on("DELETE /pulls/comments/{comment}", review_comments::delete)
        .on("GET /pulls/comments/{comment}/reactions", reactions::list)
        .on("POST /pulls/comments/{comment}/reactions", reactions::react)
        .on("DELETE /pulls/comments/{comment}/reactions/{reaction}", reactions::unreact)
}

fn git() -> Routes {
    Routes::below(REPO)
        .on("GET /branches", references::branches)
        .on("GET /branches/{name}", references::show_branch)
        .on("GET /branches/{name}/protection", protection::show)
        .on("GET /rules/branches/{name}", protection::no_rules)
        .on("GET /rulesets", protection::no_rules)
        .on("GET /tags", references::tags)
        .on("GET /codeowners/errors", code_owners::errors)
        .on("GET /readme", contents::readme)
        .on("GET /contents", contents::root)
        .on("GET /contents/{*name}", contents::show)
        .on("PUT /contents/{*name}", content_making::write)
        .on("DELETE /contents/{*name}", content_making::delete)
        .on("GET /commits", git_data::list_commits)
        .on("GET /commits/{name}", git_data::show_commit)
        .on("GET /commits/{name}/pulls", compare::pulls)
        .on("GET /compare/{*name}", compare::compare)
        .on("POST /git/commits", git_making::create_commit)
        .on("GET /git/commits/{name}", git_data::show_commit_object)
        .on("POST /git/trees", git_making::create_tree)
        .on("GET /git/trees/{name}", git_data::show_tree)
        .on("POST /git/blobs", git_making::create_blob)
        .on("GET /git/blobs/{name}", git_data::show_blob)
        .on("GET /git/ref/{*name}", references::show)
        .on("GET /git/matching-refs/{*name}", references::matching)
        .on("POST /git/refs", references::create)
        .on("PATCH /git/refs/{*name}", references::update)
        .on("DELETE /git/refs/{*name}", references::delete)
}

/// What programs say about commits, and what they are given to download.
fn results() -> Routes {
    Routes::below(REPO)
        .on("POST /check-runs", checks::create)
        .on("GET /check-runs/{run}", checks::show)
        .on("PATCH /check-runs/{run}", checks::update)
        .on("GET /check-runs/{run}/annotations", checks::annotations)
        .on("POST /check-runs/{run}/rerequest", checks::rerequest)
        .on("GET /check-suites/{suite}", check_suites::show)
        .on("GET /check-suites/{suite}/check-runs", check_suites::runs)
        .on("GET /commits/{name}/check-suites", check_suites::of_commit)
        .on("GET /commits/{name}/check-runs", checks::of_commit)
        .on("POST /statuses/{name}", statuses::create)
        .on("GET /commits/{name}/statuses", statuses::list)
        .on("GET /commits/{name}/status", statuses::combined)
        .and(published())
}

/// Releases and their files.
fn published() -> Routes {
    Routes::below(REPO)
        .on("GET /releases", releases::list)
        .on("POST /releases", release_making::create)
        .on("GET /releases/latest", releases::latest)
        .on("GET /releases/{release}", release_making::show)
        .on("PATCH /releases/{release}", release_making::update)
        .on("POST /releases/{release}/assets", release_making::upload)
        .on("GET /releases/tags/{name}", releases::tagged)
        .on("GET /releases/assets/{asset}", releases::asset)
        .on("DELETE /releases/{release}", release_making::delete)
        .on("GET /releases/{release}/assets", release_making::assets)
        .on("DELETE /releases/assets/{asset}", release_making::delete_asset)
}

/// What workflows do, and what they wrote.
fn actions() -> Routes {
    Routes::below(REPO)
        .on("GET /actions/workflows", workflows::list)
        .on("GET /actions/workflows/{name}", workflows::show)
        .on("GET /actions/workflows/{name}/runs", workflow_runs::of_workflow)
        .on("POST /actions/workflows/{name}/dispatches", workflow_again::dispatch)
        .on("PUT /actions/workflows/{name}/disable", workflows::disable)
        .on("PUT /actions/workflows/{name}/enable", workflows::enable)
        .on("GET /actions/caches", caches::list)
        .on("DELETE /actions/caches", caches::delete_by_key)
        .on("DELETE /actions/caches/{cache}", caches::delete_one)
        .on("GET /actions/cache/usage", caches::usage)
        .on("GET /actions/runs", workflow_runs::list)
        .on("GET /actions/runs/{run}", workflow_runs::show)
        .on("DELETE /actions/runs/{run}", workflow_again::delete)
        .on("POST /actions/runs/{run}/rerun", workflow_again::rerun)
        .on("POST /actions/runs/{run}/rerun-failed-jobs", workflow_again::rerun_failed)
        .on("GET /actions/runs/{run}/attempts/{attempt}", workflow_again::attempt)
        .on("GET /actions/runs/{run}/attempts/{attempt}/jobs", workflow_again::jobs)
        .on("GET /actions/runs/{run}/attempts/{attempt}/logs", workflow_again::logs)
        .on("GET /actions/runs/{run}/artifacts", workflow_runs::artifacts)
        .on("POST /actions/runs/{run}/cancel", workflow_runs::cancel)
        .on("POST /actions/runs/{run}/force-cancel", workflow_runs::cancel)
        .on("GET /actions/runs/{run}/jobs", workflow_jobs::list)
        .on("GET /actions/runs/{run}/logs", workflow_jobs::logs)
        .on("GET /actions/jobs/{job}", workflow_jobs::show)
        .on("GET /actions/jobs/{job}/logs", workflow_jobs::log)
}

/// Reads a JSON body whatever its content type says, as GitHub does.
fn parsed<T: DeserializeOwned>(body: &Bytes) -> Result<T, Problem> {
    // No body is one that says nothing.
    let body: &[u8] = if body.is_empty() { b"{}" } else { body };
    let value: Value = serde_json::from_slice(body).map_err(|_| Problem::no_json())?;
    let is_object = value.is_object();
    serde_json::from_value(value).map_err(|error| match error.to_string().split('`').nth(1) {
        Some(field) if error.to_string().starts_with("missing field") => Problem::not_supplied(field),
        _ if is_object => Problem::unprocessable("Invalid request."),
        _ => Problem::no_object(),
    })
}
