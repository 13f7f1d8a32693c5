//! Which roles of a guild may do what.

use fro_core::chat::{AuditEntry, GuildId, Roles};

use super::{Error, Store, audit, row::Value};

/// A guild's policy, and which one it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// Which roles may do what.
    pub roles: Roles,
    /// 0 if none was ever set; one more with each change.
    pub version: i64,
}

impl Store {
    /// Returns a guild's policy; without one nobody may do anything.
    pub async fn policy(&self, guild: GuildId) -> Result<Policy, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT roles, version FROM policy WHERE guild = $1";
        let row = transaction.row(sql, [Value::text(guild)]).await?;
        transaction.commit().await?;
        let Some(mut row) = row else { return Ok(Policy::default()) };
        Ok(Policy { roles: row.json("policy.roles")?, version: row.number("policy.version")? })
    }

    /// Changes a guild's policy, unless somebody else changed it since it was read. Returns whether it did.
    pub async fn set_policy(
        &self,
        guild: GuildId,
        was: &Policy,
        roles: &Roles,
        entry: AuditEntry,
    ) -> Result<bool, Error> {
        let transaction = self.begin().await?;
        let values = [Value::text(guild), Value::json(roles), Value::from(was.version)];
        let sql = if was.version == 0 {
            "INSERT INTO policy (guild, roles, version) VALUES ($1, $2, CAST($3 AS BIGINT) + 1) \
             ON CONFLICT DO NOTHING RETURNING version"
        } else {
            "UPDATE policy SET roles = $2, version = version + 1 WHERE guild = $1 AND version = $3 \
             RETURNING version"
        };
        let changed = transaction.row(sql, values).await?.is_some();
        let entry = entry.before(&was.roles);
        let entry = if changed { entry } else { entry.denied("somebody else changed it meanwhile") };
        audit::append(&transaction, &entry).await?;
        transaction.commit().await?;
        Ok(changed)
    }
}
