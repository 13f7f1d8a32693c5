//! GitHub's own scalar types, most of them written and never read.

use async_graphql::{InputValueError, InputValueResult, Scalar, ScalarType, Value};
use jiff::Timestamp;

use crate::rest::timestamp;

/// A point in time.
#[derive(Clone, Copy)]
pub(super) struct DateTime(pub(super) Timestamp);

/// An address.
#[derive(Clone)]
pub(super) struct Uri(pub(super) String);

/// People's Markdown as HTML.
#[derive(Clone)]
pub(super) struct Html(pub(super) String);

/// A number too big for `Int`, written as a string.
#[derive(Clone, Copy)]
pub(super) struct BigInt(pub(super) u64);

/// The hash of a git object.
#[derive(Clone)]
pub(super) struct GitObjectId(pub(super) String);

/// Where git goes by SSH.
#[derive(Clone)]
pub(super) struct GitSshRemote(pub(super) String);

#[Scalar]
impl ScalarType for DateTime {
    fn parse(_: Value) -> InputValueResult<Self> {
        Err(InputValueError::custom("only written"))
    }

    fn to_value(&self) -> Value {
        timestamp(self.0).into()
    }
}

#[Scalar(name = "URI")]
impl ScalarType for Uri {
    fn parse(_: Value) -> InputValueResult<Self> {
        Err(InputValueError::custom("only written"))
    }

    fn to_value(&self) -> Value {
        self.0.clone().into()
    }
}

#[Scalar(name = "HTML")]
impl ScalarType for Html {
    fn parse(_: Value) -> InputValueResult<Self> {
        Err(InputValueError::custom("only written"))
    }

    fn to_value(&self) -> Value {
        self.0.clone().into()
    }
}

#[Scalar]
impl ScalarType for BigInt {
    fn parse(_: Value) -> InputValueResult<Self> {
        Err(InputValueError::custom("only written"))
    }

    fn to_value(&self) -> Value {
        self.0.to_string().into()
    }
}

#[Scalar(name = "GitObjectID")]
impl ScalarType for GitObjectId {
    fn parse(value: Value) -> InputValueResult<Self> {
        match value {
            Value::String(oid) => Ok(Self(oid)),
            other => Err(InputValueError::expected_type(other)),
        }
    }

    fn to_value(&self) -> Value {
        self.0.clone().into()
    }
}

#[Scalar(name = "GitSSHRemote")]
impl ScalarType for GitSshRemote {
    fn parse(_: Value) -> InputValueResult<Self> {
        Err(InputValueError::custom("only written"))
    }

    fn to_value(&self) -> Value {
        self.0.clone().into()
    }
}
