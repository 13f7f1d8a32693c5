//! Questions about somebody's roles in a guild: a worker asks through the store, and `serve` answers.
//!
//! Questions are numbered, and an answer is good for those before it: no two clocks have to agree.

use fro_core::chat::{GuildId, RoleId, UserId};

use super::{Error, Store, row::Value};

/// A question about somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingAsked {
    /// In which guild.
    pub guild: GuildId,
    /// About whom.
    pub person: UserId,
    /// Its number.
    pub number: i64,
}

/// What somebody is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuildStanding {
    /// A member with these roles.
    Member(Vec<RoleId>),
    /// The person is no member of the guild any more.
    Gone,
}

impl Store {
    /// Asks what somebody is now.
    pub async fn ask_standing(&self, guild: GuildId, person: UserId) -> Result<StandingAsked, Error> {
        let transaction = self.begin().await?;
        let sql = "INSERT INTO standing (guild, person, roles, asked, told) VALUES ($1, $2, 'null', 1, 0) \
                   ON CONFLICT (guild, person) DO UPDATE SET asked = standing.asked + 1 RETURNING asked";
        let row = transaction.row(sql, [Value::text(guild), Value::text(person)]).await?;
        transaction.commit().await?;
        let number = row.map_or(Ok(1), |mut row| row.number("standing.asked"))?;
        Ok(StandingAsked { guild, person, number })
    }

    /// Returns the questions that have no answer yet.
    pub async fn standings_asked(&self) -> Result<Vec<StandingAsked>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT guild, person, asked FROM standing WHERE told < asked ORDER BY guild, person";
        let rows = transaction.rows(sql, []).await?;
        transaction.commit().await?;
        let read = |mut row: super::row::Row| {
            let (guild, person) = (row.parsed("standing.guild")?, row.parsed("standing.person")?);
            Ok(StandingAsked { guild, person, number: row.number("standing.asked")? })
        };
        rows.into_iter().map(read).collect()
    }

    /// Answers a question: with roles, or that somebody is no member.
    pub async fn tell_standing(&self, asked: &StandingAsked, roles: Option<&[RoleId]>) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let sql = "UPDATE standing SET roles = $3, told = $4 WHERE guild = $1 AND person = $2 AND told < $4";
        let whose = [Value::text(asked.guild), Value::text(asked.person)];
        let [guild, person] = whose;
        transaction.rows(sql, [guild, person, Value::json(&roles), Value::from(asked.number)]).await?;
        transaction.commit().await
    }

    /// Returns the answer to a question, if there is one.
    pub async fn standing(&self, asked: &StandingAsked) -> Result<Option<GuildStanding>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT roles FROM standing WHERE guild = $1 AND person = $2 AND told >= $3";
        let values = [Value::text(asked.guild), Value::text(asked.person), Value::from(asked.number)];
        let row = transaction.row(sql, values).await?;
        transaction.commit().await?;
        let Some(mut row) = row else { return Ok(None) };
        let roles: Option<Vec<RoleId>> = row.json("standing.roles")?;
        Ok(Some(roles.map_or(GuildStanding::Gone, GuildStanding::Member)))
    }
}
