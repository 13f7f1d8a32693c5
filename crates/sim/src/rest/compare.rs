//! Comparing two commits, and the pull requests that a commit is part of.

use axum::{
    Json,
    http::HeaderMap,
    response::{IntoResponse as _, Response},
};
use serde_json::json;

use crate::{
    git::diff,
    problem::Problem,
    rest::{
        address::Path,
        media::Media,
        paging::Paging,
        pulls::{MOST_FILES, drawn},
        visit::{Named, Visit},
    },
};

/// `GET /repos/{owner}/{repo}/compare/{base}...{head}`, also as a diff or a patch
pub(super) async fn compare(
    visit: Visit,
    Path(Named { name }): Path<Named>,
    headers: HeaderMap,
    paging: Paging,
) -> Result<Response, Problem> {
    let (base, head) = name.split_once("...").ok_or_else(Problem::not_found)?;
    let (store, missing) = (visit.open().await?, |_| Problem::not_found());
    let (base, head) =
        (store.commit(base).await.map_err(missing)?, store.commit(head).await.map_err(missing)?);
    let fork = store.text(&["merge-base", &base.oid, &head.oid]).await.map_err(missing)?;
    let fork = store.commit(&fork).await.map_err(missing)?;
    let range = format!("{}...{}", base.oid, head.oid);
    if let Some(shown) = drawn(&store, &Media::read(&headers), (&base.oid, &head.oid)).await? {
        return Ok(shown);
    }
    let text = store.run(&["diff", "--full-index", "-M", &range]).await.map_err(missing)?;
    let mut files = diff::changed_files(&String::from_utf8_lossy(&text));
    files.truncate(MOST_FILES);
    let ahead =
        async |from: &str, to: &str| store.commits(&format!("{from}..{to}"), 1000).await.map_err(missing);
    let (mut commits, behind) = (ahead(&base.oid, &head.oid).await?, ahead(&head.oid, &base.oid).await?);
    commits.reverse();
    let status = match (commits.len(), behind.len()) {
        (0, 0) => "identical",
        (_, 0) => "ahead",
        (0, _) => "behind",
        _ => "diverged",
    };
    let total = commits.len();
    let answer = visit.show(|shape, repo| {
        let url = format!("{}/compare/{name}", shape.repo_url(repo));
        let page = format!("{}/{}/compare/{name}", shape.address, repo.full_name());
        let shown = paging.cut(commits.iter().map(|commit| shape.commit(repo, commit)).collect());
        Ok(Json(json!({
            "url": url,
            "html_url": page,
            "permalink_url": page,
            "diff_url": format!("{page}.diff"),
            "patch_url": format!("{page}.patch"),
            "base_commit": shape.commit(repo, &base),
            "merge_base_commit": shape.commit(repo, &fork),
            "status": status,
            "ahead_by": total,
            "behind_by": behind.len(),
            "total_commits": total,
            "commits": shown,
            "files": files.iter().map(|file| shape.file(repo, &head.oid, file)).collect::<Vec<_>>(),
        })))
    })?;
    Ok(paging.linked(total, answer.into_response()))
}

/// `GET /repos/{owner}/{repo}/commits/{sha}/pulls`
pub(super) async fn pulls(
    visit: Visit,
    Path(Named { name }): Path<Named>,
    paging: Paging,
) -> Result<Response, Problem> {
    let unknown = |_| Problem::unprocessable(&format!("No commit found for SHA: {name}"));
    let oid = visit.open().await?.commit(&name).await.map_err(unknown)?.oid;
    visit.show(|shape, repo| {
        let all = repo.issues.iter().filter_map(|issue| Some((issue, issue.pull.as_ref()?)));
        let with = all.filter(|(_, pull)| pull.commits.iter().any(|commit| commit.oid == oid));
        Ok(paging.answer(with.map(|(issue, pull)| shape.pull(repo, issue, pull)).collect()))
    })
}
