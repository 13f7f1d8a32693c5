//! Connections: a window on a list, with the cursors to move it, and GitHub's rules about its size.

use std::borrow::Cow;

use async_graphql::{Error, Object, OutputType, Result, SimpleObject, TypeName};
use data_encoding::BASE64;

use crate::graphql::refusal::of_kind;

/// No window shows more.
const MOST: usize = 100;

/// A window on a list of `T`s; in the schema, a `TConnection`.
pub(super) struct Connection<T> {
    edges: Vec<Edge<T>>,
    page_info: PageInfo,
    total_count: usize,
    unbounded: Option<Error>,
}

/// One entry with its place; in the schema, a `TEdge`.
pub(super) struct Edge<T> {
    cursor: String,
    node: T,
}

/// Where the window stands.
#[derive(SimpleObject)]
pub(super) struct PageInfo {
    has_next_page: bool,
    has_previous_page: bool,
    start_cursor: Option<String>,
    end_cursor: Option<String>,
}

/// Which part of a list is asked for.
pub(super) struct Window {
    pub(super) first: Option<i32>,
    pub(super) last: Option<i32>,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

#[Object(name_type)]
impl<T: OutputType> Connection<T> {
    async fn nodes(&self) -> Result<Vec<&T>> {
        self.bounded()?;
        Ok(self.edges.iter().map(|edge| &edge.node).collect())
    }

    async fn edges(&self) -> Result<&[Edge<T>]> {
        self.bounded()?;
        Ok(&self.edges)
    }

    async fn page_info(&self) -> &PageInfo {
        &self.page_info
    }

    async fn total_count(&self) -> usize {
        self.total_count
    }
}

impl<T> Connection<T> {
    /// Without a size only the count may be asked for.
    fn bounded(&self) -> Result<()> {
        self.unbounded.clone().map_or(Ok(()), Err)
    }
}

impl<T: OutputType> TypeName for Connection<T> {
    fn type_name() -> Cow<'static, str> {
        format!("{}Connection", T::type_name()).into()
    }
}

#[Object(name_type)]
impl<T: OutputType> Edge<T> {
    async fn cursor(&self) -> &str {
        &self.cursor
    }

    async fn node(&self) -> &T {
        &self.node
    }
}

impl<T> Edge<T> {
    /// The edge of something that is on no list.
    pub(super) fn alone(node: T) -> Self {
        Self { cursor: cursor(1), node }
    }
}

impl<T: OutputType> TypeName for Edge<T> {
    fn type_name() -> Cow<'static, str> {
        format!("{}Edge", T::type_name()).into()
    }
}

impl Window {
    /// Opens the window on all entries of the field `field`.
    pub(super) fn on<T>(&self, field: &str, all: Vec<T>) -> Result<Connection<T>> {
        let unbounded = (self.first.is_none() && self.last.is_none()).then(|| no_size(field));
        let total_count = all.len();
        let (shown, page_info) = self.cut(field, all)?;
        let edges = shown.into_iter().map(|(cursor, node)| Edge { cursor, node }).collect();
        Ok(Connection { edges, page_info, total_count, unbounded })
    }

    /// The entries that the window shows, each with its cursor, and where the window stands.
    pub(super) fn cut<T>(&self, field: &str, all: Vec<T>) -> Result<(Vec<(String, T)>, PageInfo)> {
        self.check(field)?;
        let total_count = all.len();
        // A cursor is the place after which it stands.
        let start = self.after.as_deref().map_or(Ok(0), known)?;
        let end =
            self.before.as_deref().map_or(Ok(total_count), |cursor| known(cursor).map(|place| place - 1))?;
        let (mut start, mut end) = (start.min(total_count), end.min(total_count));
        if let Some(first) = size(self.first) {
            end = end.min(start + first);
        }
        if let Some(last) = size(self.last) {
            start = start.max(end.saturating_sub(last));
        }
        let end = end.max(start);
        let shown = all.into_iter().enumerate().skip(start).take(end - start);
        let shown: Vec<_> = shown.map(|(index, node)| (cursor(index + 1), node)).collect();
        let page_info = PageInfo {
            has_next_page: end < total_count,
            has_previous_page: start > 0,
            start_cursor: shown.first().map(|(cursor, _)| cursor.clone()),
            end_cursor: shown.last().map(|(cursor, _)| cursor.clone()),
        };
        Ok((shown, page_info))
    }

    fn check(&self, field: &str) -> Result<()> {
        for (name, wanted) in [("first", self.first), ("last", self.last)] {
            if let Some(wanted) = size(wanted).filter(|wanted| *wanted > MOST) {
                let message = format!(
                    "Requesting {wanted} records on the `{field}` connection exceeds the `{name}` limit of {MOST} records."
                );
                return Err(of_kind("EXCESSIVE_PAGINATION", &message));
            }
        }
        Ok(())
    }
}

fn no_size(field: &str) -> Error {
    let message =
        format!("You must provide a `first` or `last` value to properly paginate the `{field}` connection.");
    of_kind("MISSING_PAGINATION_BOUNDARIES", &message)
}

fn size(wanted: Option<i32>) -> Option<usize> {
    wanted.map(|wanted| usize::try_from(wanted).unwrap_or_default())
}

fn cursor(place: usize) -> String {
    BASE64.encode(format!("cursor:v2:{place}").as_bytes())
}

/// The place of a cursor that we gave.
fn known(cursor: &str) -> Result<usize> {
    let message = || format!("`{cursor}` does not appear to be a valid cursor.");
    place(cursor).ok_or_else(|| of_kind("INVALID_CURSOR_ARGUMENTS", &message()))
}

fn place(cursor: &str) -> Option<usize> {
    let text = String::from_utf8(BASE64.decode(cursor.as_bytes()).ok()?).ok()?;
    text.strip_prefix("cursor:v2:")?.parse().ok().filter(|place| *place > 0)
}
