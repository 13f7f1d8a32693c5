//! The values of a statement and of its rows, the same for both databases.

use std::{error, fmt::Display, str::FromStr};

use jiff::Timestamp;
use rusqlite::types::{ToSqlOutput, ValueRef};
use serde::{Serialize, de::DeserializeOwned};
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut};

use super::Error;

/// What a column holds. There are whole numbers and texts, nothing else: both databases mean the same by them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// Nothing.
    Null,
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
}

impl Value {
    /// Writes an id, or whatever else reads and prints itself.
    pub(super) fn text(thing: impl Display) -> Self {
        Self::Text(thing.to_string())
    }

    pub(super) fn maybe<T: Display>(thing: Option<T>) -> Self {
        thing.map_or(Self::Null, Self::text)
    }

    pub(super) fn json(thing: &impl Serialize) -> Self {
        #[expect(clippy::expect_used, reason = "our own plain types have string keys and no failing parts")]
        let text = serde_json::to_string(thing).expect("a plain type is JSON");
        Self::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Timestamp> for Value {
    fn from(time: Timestamp) -> Self {
        Self::Number(super::milliseconds(time))
    }
}

/// One row of an answer; columns are taken from left to right.
#[derive(Debug)]
pub(super) struct Row {
    values: std::vec::IntoIter<Value>,
}

impl Row {
    pub(super) fn new(values: Vec<Value>) -> Self {
        Self { values: values.into_iter() }
    }

    fn next(&mut self, column: &'static str) -> Result<Value, Error> {
        self.values.next().ok_or_else(|| unexpected(column, "it is not there"))
    }

    pub(super) fn number(&mut self, column: &'static str) -> Result<i64, Error> {
        match self.next(column)? {
            Value::Number(number) => Ok(number),
            other => Err(unexpected(column, format!("{other:?} is no number"))),
        }
    }

    pub(super) fn text(&mut self, column: &'static str) -> Result<String, Error> {
        self.maybe_text(column)?.ok_or_else(|| unexpected(column, "it is empty"))
    }

    pub(super) fn maybe_text(&mut self, column: &'static str) -> Result<Option<String>, Error> {
        match self.next(column)? {
            Value::Text(text) => Ok(Some(text)),
            Value::Null => Ok(None),
            Value::Number(number) => Err(unexpected(column, format!("{number} is no text"))),
        }
    }

    /// Reads an id, or whatever else was printed.
    pub(super) fn parsed<T: FromStr<Err: Display>>(&mut self, column: &'static str) -> Result<T, Error> {
        self.text(column)?.parse().map_err(|error| unexpected(column, error))
    }

    pub(super) fn maybe_parsed<T: FromStr<Err: Display>>(
        &mut self,
        column: &'static str,
    ) -> Result<Option<T>, Error> {
        let text = self.maybe_text(column)?;
        text.map(|text| text.parse().map_err(|error| unexpected(column, error))).transpose()
    }

    pub(super) fn json<T: DeserializeOwned>(&mut self, column: &'static str) -> Result<T, Error> {
        serde_json::from_str(&self.text(column)?).map_err(|error| unexpected(column, error))
    }

    pub(super) fn maybe_time(&mut self, column: &'static str) -> Result<Option<Timestamp>, Error> {
        match self.next(column)? {
            Value::Null => Ok(None),
            Value::Number(number) => {
                Timestamp::from_millisecond(number).map(Some).map_err(|error| unexpected(column, error))
            }
            Value::Text(text) => Err(unexpected(column, format!("{text:?} is no time"))),
        }
    }

    pub(super) fn time(&mut self, column: &'static str) -> Result<Timestamp, Error> {
        Timestamp::from_millisecond(self.number(column)?).map_err(|error| unexpected(column, error))
    }
}

pub(super) fn unexpected(column: &'static str, what: impl Display) -> Error {
    Error::Unexpected { column, what: what.to_string() }
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

impl rusqlite::types::FromSql for Value {
    fn column_result(value: ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
        match value {
            ValueRef::Null => Ok(Self::Null),
            ValueRef::Integer(number) => Ok(Self::Number(number)),
            ValueRef::Text(_) => Ok(Self::Text(value.as_str()?.to_owned())),
            ValueRef::Real(_) | ValueRef::Blob(_) => Err(rusqlite::types::FromSqlError::InvalidType),
        }
    }
}

impl ToSql for Value {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Number(number) => number.to_sql_checked(kind, out),
            Self::Text(text) => text.to_sql_checked(kind, out),
        }
    }

    // Each value looks at the type itself, in `to_sql`.
    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

impl<'a> tokio_postgres::types::FromSql<'a> for Value {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn error::Error + Sync + Send>> {
        if *kind == Type::INT8 {
            return i64::from_sql(kind, raw).map(Self::Number);
        }
        String::from_sql(kind, raw).map(Self::Text)
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn error::Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::INT8 || <String as tokio_postgres::types::FromSql>::accepts(kind)
    }
}
