//! Labels: putting them on issues, pull requests and discussions, and taking them off.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};

use crate::{
    graphql::mutation::{granted, name, unresolved, writer},
    state::{Node, Role},
};

#[derive(Default)]
pub(super) struct Labelling;

deed!(AddLabelsToLabelableInput { labelable_id: ID, label_ids: Vec<ID>, }
    -> AddLabelsToLabelablePayload {});
deed!(RemoveLabelsFromLabelableInput { labelable_id: ID, label_ids: Vec<ID>, }
    -> RemoveLabelsFromLabelablePayload {});

#[Object]
impl Labelling {
    async fn add_labels_to_labelable(
        &self,
        context: &Context<'_>,
        input: AddLabelsToLabelableInput,
    ) -> Result<Option<AddLabelsToLabelablePayload>> {
        change(context, &input.labelable_id, &input.label_ids, |worn, names| {
            worn.extend(names.iter().filter(|name| !worn.contains(name)).cloned().collect::<Vec<_>>());
        })?;
        Ok(Some(AddLabelsToLabelablePayload { client_mutation_id: input.client_mutation_id }))
    }

    async fn remove_labels_from_labelable(
        &self,
        context: &Context<'_>,
        input: RemoveLabelsFromLabelableInput,
    ) -> Result<Option<RemoveLabelsFromLabelablePayload>> {
        change(context, &input.labelable_id, &input.label_ids, |worn, names| {
            worn.retain(|name| !names.contains(name));
        })?;
        Ok(Some(RemoveLabelsFromLabelablePayload { client_mutation_id: input.client_mutation_id }))
    }
}

/// Changes what something wears, for those who may.
fn change(
    context: &Context<'_>,
    id: &ID,
    labels: &[ID],
    change: impl FnOnce(&mut Vec<String>, &[String]),
) -> Result<()> {
    let (hub, _, asked) = writer(context)?;
    hub.change_by(asked.login(), |state| {
        let node = Node::parse(id).ok_or_else(|| unresolved(id))?;
        let repo = state.repo_of_mut(node).filter(|repo| asked.caller.sees(repo));
        let repo = repo.ok_or_else(|| unresolved(id))?;
        let any_of: &[&str] = match node {
            Node::Discussion { .. } => &["discussions"],
            _ => &["issues", "pull_requests"],
        };
        granted(asked, repo, any_of)?;
        if !asked.caller.has(Role::Triage, repo) {
            return Err(unresolved(id));
        }
        let names = labels.iter().map(|label| name(repo, label)).collect::<Result<Vec<_>>>()?;
        change(repo.labels_at(node).ok_or_else(|| unresolved(id))?, &names);
        Ok(())
    })
}
