//! The GitHub account of each person, as they have proven to GitHub.

use fro_core::{
    Login,
    chat::{AuditEntry, UserId},
};
use jiff::Timestamp;

use super::{Error, Store, audit, row::Value};

/// A GitHub account that somebody has shown to be theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its name, which can change.
    pub login: Login,
    /// Its number, which cannot.
    pub github_id: i64,
    /// When it was shown.
    pub proven_at: Timestamp,
}

impl Store {
    /// Writes down whose account it is.
    pub async fn prove_account(
        &self,
        person: UserId,
        account: &Account,
        entry: &AuditEntry,
    ) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let values = [
            Value::text(person),
            Value::text(&account.login),
            Value::from(account.github_id),
            Value::from(account.proven_at),
        ];
        let sql = "INSERT INTO account (person, login, github_id, proven_at) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (person) DO UPDATE SET login = $2, github_id = $3, proven_at = $4";
        transaction.rows(sql, values).await?;
        audit::append(&transaction, entry).await?;
        transaction.commit().await
    }

    /// Forgets whose account it is.
    pub async fn forget_account(&self, person: UserId, entry: &AuditEntry) -> Result<(), Error> {
        let transaction = self.begin().await?;
        transaction.rows("DELETE FROM account WHERE person = $1", [Value::text(person)]).await?;
        audit::append(&transaction, entry).await?;
        transaction.commit().await
    }

    /// Returns somebody's account.
    pub async fn account(&self, person: UserId) -> Result<Option<Account>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT login, github_id, proven_at FROM account WHERE person = $1";
        let row = transaction.row(sql, [Value::text(person)]).await?;
        transaction.commit().await?;
        let Some(mut row) = row else { return Ok(None) };
        Ok(Some(Account {
            login: Login::new(row.text("account.login")?),
            github_id: row.number("account.github_id")?,
            proven_at: row.time("account.proven_at")?,
        }))
    }
}
