//! The models and agents that workers offer, for the menus.

use super::{Error, Store, row::Value};

/// What there is to choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    /// Models, as `provider/model`.
    Model,
    /// Agents.
    Agent,
}

impl Offered {
    fn word(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Agent => "agent",
        }
    }
}

impl Store {
    /// Says what there is to choose from, instead of what was said before.
    pub async fn offer(&self, what: Offered, names: &[String]) -> Result<(), Error> {
        let transaction = self.begin().await?;
        transaction.rows("DELETE FROM offered WHERE what = $1", [Value::from(what.word())]).await?;
        for name in names {
            let sql = "INSERT INTO offered (what, name) VALUES ($1, $2) ON CONFLICT DO NOTHING";
            transaction.rows(sql, [Value::from(what.word()), Value::from(name.as_str())]).await?;
        }
        transaction.commit().await
    }

    /// Returns what there is to choose from, by name.
    pub async fn offered(&self, what: Offered) -> Result<Vec<String>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT name FROM offered WHERE what = $1 ORDER BY name";
        let rows = transaction.rows(sql, [Value::from(what.word())]).await?;
        transaction.commit().await?;
        rows.into_iter().map(|mut row| row.text("offered.name")).collect()
    }
}
