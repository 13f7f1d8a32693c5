//! Links: for each channel the repository that is worked on there, and who linked them.

use fro_core::{
    RepoName,
    chat::{AuditEntry, ChannelId, ChannelLink, ChannelSettings, GuildId},
};

use super::{
    Error, Store, audit,
    database::Transaction,
    row::{Row, Value},
};

const COLUMNS: &str = "channel, guild, repository, settings, linked_by, linked_at";

impl Store {
    /// Links a channel, or returns what it is linked to already. Either way the audit tells.
    pub async fn link(&self, link: &ChannelLink, entry: AuditEntry) -> Result<Option<ChannelLink>, Error> {
        let transaction = self.begin().await?;
        let values = [
            Value::text(link.channel),
            Value::text(link.guild),
            Value::text(&link.repository),
            Value::json(&link.settings),
            Value::text(link.linked_by),
            Value::from(link.linked_at),
        ];
        let sql = format!(
            "INSERT INTO link ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING linked_at"
        );
        let taken = match transaction.row(&sql, values).await? {
            Some(_) => None,
            None => find(&transaction, link.channel).await?,
        };
        let entry = match &taken {
            Some(link) => entry.denied(format!("the channel is linked to {} already", link.repository)),
            None => entry,
        };
        audit::append(&transaction, &entry).await?;
        transaction.commit().await?;
        Ok(taken)
    }

    /// Unlinks a channel and returns what it was linked to, if it was.
    pub async fn unlink(&self, channel: ChannelId, entry: AuditEntry) -> Result<Option<RepoName>, Error> {
        let transaction = self.begin().await?;
        let sql = "DELETE FROM link WHERE channel = $1 RETURNING repository";
        let row = transaction.row(sql, [Value::text(channel)]).await?;
        let was: Option<RepoName> = row.map(|mut row| row.parsed("link.repository")).transpose()?;
        let entry = match &was {
            Some(repository) => entry.before(&repository.to_string()),
            None => entry.denied("the channel is not linked"),
        };
        audit::append(&transaction, &entry).await?;
        transaction.commit().await?;
        Ok(was)
    }

    /// Changes how people talk in a linked channel. Returns whether it is linked.
    pub async fn set_settings(
        &self,
        channel: ChannelId,
        settings: &ChannelSettings,
        entry: &AuditEntry,
    ) -> Result<bool, Error> {
        let transaction = self.begin().await?;
        let sql = "UPDATE link SET settings = $2 WHERE channel = $1 RETURNING channel";
        let linked = transaction.row(sql, [Value::text(channel), Value::json(settings)]).await?.is_some();
        audit::append(&transaction, entry).await?;
        transaction.commit().await?;
        Ok(linked)
    }

    /// Returns what a channel is linked to.
    pub async fn link_of(&self, channel: ChannelId) -> Result<Option<ChannelLink>, Error> {
        let transaction = self.begin().await?;
        let link = find(&transaction, channel).await?;
        transaction.commit().await?;
        Ok(link)
    }

    /// Returns the links of all guilds, by repository.
    pub async fn all_links(&self) -> Result<Vec<ChannelLink>, Error> {
        let transaction = self.begin().await?;
        let sql = format!("SELECT {COLUMNS} FROM link ORDER BY repository, channel");
        let rows = transaction.rows(&sql, []).await?;
        transaction.commit().await?;
        rows.into_iter().map(read).collect()
    }

    /// Returns the links of a guild, by repository.
    pub async fn links(&self, guild: GuildId) -> Result<Vec<ChannelLink>, Error> {
        let transaction = self.begin().await?;
        let sql = format!("SELECT {COLUMNS} FROM link WHERE guild = $1 ORDER BY repository, channel");
        let rows = transaction.rows(&sql, [Value::text(guild)]).await?;
        transaction.commit().await?;
        rows.into_iter().map(read).collect()
    }
}

async fn find(transaction: &Transaction, channel: ChannelId) -> Result<Option<ChannelLink>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM link WHERE channel = $1");
    transaction.row(&sql, [Value::text(channel)]).await?.map(read).transpose()
}

fn read(mut row: Row) -> Result<ChannelLink, Error> {
    Ok(ChannelLink {
        channel: row.parsed("link.channel")?,
        guild: row.parsed("link.guild")?,
        repository: row.parsed("link.repository")?,
        settings: row.json("link.settings")?,
        linked_by: row.parsed("link.linked_by")?,
        linked_at: row.time("link.linked_at")?,
    })
}
