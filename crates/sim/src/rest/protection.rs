//! What a branch is protected by. The garden has the older kind of rule only, and no rulesets.

use axum::Json;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        address::Path,
        visit::{Named, Visit},
    },
    state::Role,
};

/// `GET /repos/{owner}/{repo}/branches/{branch}/protection`
pub(super) async fn show(visit: Visit, Path(Named { name }): Path<Named>) -> Result<Json<Value>, Problem> {
    visit.open().await?.tip(&name).await.map_err(|_| Problem::missing("Branch not found"))?;
    visit.show(|shape, repo| {
        if !visit.caller.has(Role::Admin, repo) {
            return Err(Problem::not_found());
        }
        if !repo.protected.contains(&name) {
            return Err(Problem::missing("Branch not protected"));
        }
        let url = format!("{}/branches/{name}/protection", shape.repo_url(repo));
        let off = json!({ "enabled": false });
        let reviews = json!({
            "url": format!("{url}/required_pull_request_reviews"),
            "dismiss_stale_reviews": false,
            "require_code_owner_reviews": false,
            "require_last_push_approval": false,
            "required_approving_review_count": 0,
        });
        Ok(Json(json!({
            "url": url,
            "required_pull_request_reviews": reviews,
            "enforce_admins": { "url": format!("{url}/enforce_admins"), "enabled": true },
            "required_signatures": { "url": format!("{url}/required_signatures"), "enabled": false },
            "required_linear_history": off,
            "allow_force_pushes": off,
            "allow_deletions": off,
            "block_creations": off,
            "required_conversation_resolution": off,
            "lock_branch": off,
            "allow_fork_syncing": off,
        })))
    })
}

/// `GET /repos/{owner}/{repo}/rulesets`, and `GET …/rules/branches/{branch}`: there are none.
pub(super) async fn no_rules(visit: Visit) -> Result<Json<Value>, Problem> {
    visit.show(|_, _| Ok(Json(Value::Array(Vec::new()))))
}
