//! Merging a pull request, asking whether it is merged, and bringing its branch up to date.

use axum::{Json, body::Bytes, http::StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    merging::{MergeMethod, MergeWish, NotMerged, merge, update_branch},
    problem::Problem,
    rest::{
        address::Path,
        parsed,
        pulls::found,
        visit::{Numbered, Visit},
    },
    state::IssueState,
};

#[derive(Deserialize)]
struct Wanted {
    commit_title: Option<String>,
    commit_message: Option<String>,
    sha: Option<String>,
    merge_method: Option<String>,
}

#[derive(Deserialize)]
struct Update {
    expected_head_sha: Option<String>,
}

/// `GET /repos/{owner}/{repo}/pulls/{number}/merge`: there is something only once it is merged.
pub(super) async fn is_merged(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
) -> Result<StatusCode, Problem> {
    visit.show(|_, repo| {
        let (issue, _) = found(repo, number)?;
        if issue.state == IssueState::Merged { Ok(StatusCode::NO_CONTENT) } else { Err(Problem::not_found()) }
    })
}

/// `PUT /repos/{owner}/{repo}/pulls/{number}/merge`
pub(super) async fn create(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let wanted: Wanted = parsed(&body)?;
    let method = match wanted.merge_method.as_deref() {
        None | Some("merge") => MergeMethod::Merge,
        Some("squash") => MergeMethod::Squash,
        Some("rebase") => MergeMethod::Rebase,
        Some(_) => return Err(Problem::unprocessable("Invalid request.")),
    };
    visit.login()?;
    let wish = MergeWish {
        repo: visit.full_name.clone(),
        number,
        method,
        title: wanted.commit_title,
        message: wanted.commit_message,
        head: wanted.sha,
    };
    let sha = merge(&visit.hub, &visit.caller, &wish).await.map_err(|refusal| match refusal {
        NotMerged::Missing => Problem::not_found(),
        NotMerged::Forbidden => Problem::not_accessible(),
        NotMerged::Unmergeable(words) => Problem::not_allowed(words),
        NotMerged::HeadMoved => {
            Problem::conflict("Head branch was modified. Review and try the merge again.")
        }
    })?;
    Ok(Json(json!({ "sha": sha, "merged": true, "message": "Pull Request successfully merged" })))
}

/// `PUT /repos/{owner}/{repo}/pulls/{number}/update-branch`
pub(super) async fn update(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let Update { expected_head_sha: head } = parsed(&body)?;
    visit.login()?;
    let (repo, method) = (visit.full_name.clone(), MergeMethod::Merge);
    let wish = MergeWish { repo, number, method, title: None, message: None, head };
    update_branch(&visit.hub, &visit.caller, &wish).await.map_err(|refusal| match refusal {
        NotMerged::Missing => Problem::not_found(),
        NotMerged::Forbidden => Problem::not_accessible(),
        NotMerged::Unmergeable(words) => Problem::unprocessable(words),
        NotMerged::HeadMoved => Problem::unprocessable("expected head sha didn’t match current head ref."),
    })?;
    visit.show(|shape, repo| {
        let url = format!("{}/pulls/{number}", shape.repo_url(repo));
        Ok((StatusCode::ACCEPTED, Json(json!({ "message": "Updating pull request branch.", "url": url }))))
    })
}
