//! The roles that the operator's file gives to guilds in which nobody has set any.

use fro_core::chat::{AuditAction, GuildId, Roles};
use tracing::info;

use super::daemon::entry;
use crate::store::{Error, Store};

/// Sets them. Where roles were set once, by this or by people, people alone change them.
pub(super) async fn set(first_roles: &[(GuildId, Roles)], store: &Store) -> Result<(), Error> {
    for (guild, roles) in first_roles {
        let was = store.policy(*guild).await?;
        if was.version > 0 {
            info!("the server {guild} has roles already; those of the file are not set");
            continue;
        }
        let mut entry = entry(*guild, (None, &[]), AuditAction::SetPolicy, "the operator's file");
        entry.after = serde_json::to_value(roles).ok();
        store.set_policy(*guild, &was, roles, entry).await?;
    }
    Ok(())
}
