//! Makes a restored memory at home in this checkout, before the engine starts.
//!
//! Sessions remember the folder they worked in and would go on there. And a message that lies in the future of this
//! machine's clock mutes its session: the engine takes the newest message for the last word.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, params};

use crate::{
    database::{self, judge},
    error::Error,
    merge::at_once,
    schema::columns,
};

/// Where and when the engine is about to start.
#[derive(Debug, Clone, Copy)]
pub struct EngineStart<'a> {
    /// The checkout.
    pub worktree: &'a Path,
    /// What this machine's clock says.
    pub now: Timestamp,
    /// The session that will be continued. Only its clock is set right: the others must stay as they were restored.
    pub continuing: Option<&'a str>,
}

/// What had to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relocation {
    /// How many sessions had been elsewhere.
    pub moved: usize,
    /// By how much the continued session was moved back in time.
    pub set_back: Option<SignedDuration>,
}

/// Moves the sessions to this checkout and sets the clock of the one that goes on.
pub fn relocate(engine_data: &Path, here: EngineStart<'_>) -> Result<Relocation, Error> {
    let Some(database) = database::find(engine_data)? else {
        return Ok(Relocation { moved: 0, set_back: None });
    };
    let connection = database::open_live(&database)?;
    at_once(&connection, || {
        let moved = move_in(&connection, here.worktree).map_err(judge("move the sessions"))?;
        let set_back = here.continuing.map(|session| set_back(&connection, session, here.now));
        let set_back = set_back.transpose().map_err(judge("set the clock of the session"))?.flatten();
        Ok(Relocation { moved, set_back })
    })
}

fn move_in(connection: &Connection, worktree: &Path) -> rusqlite::Result<usize> {
    let worktree = worktree.to_string_lossy();
    // What lay in a folder below the old checkout lies in the same folder below the new one.
    let moved = connection.execute(
        "WITH place AS (SELECT session.id AS id, coalesce(project.worktree, '') AS old FROM session \
             LEFT JOIN project ON project.id = session.project_id) \
         UPDATE session SET directory = iif(directory LIKE place.old || '/%' AND place.old != '', \
             ?1 || substr(directory, length(place.old) + 1), ?1) \
         FROM place WHERE place.id = session.id AND directory != ?1 AND directory NOT LIKE ?1 || '/%'",
        [&worktree],
    )?;
    connection.execute("UPDATE project SET worktree = ?1 WHERE worktree != ?1", [&worktree])?;
    if connection.table_exists(Some("main"), "project_directory")? {
        connection.execute("UPDATE OR REPLACE project_directory SET directory = ?1", [&worktree])?;
    }
    Ok(moved)
}

/// Moves all messages of a session back, if the newest is ahead of us; their order stays.
pub(crate) fn set_back(
    connection: &Connection,
    session: &str,
    now: Timestamp,
) -> rusqlite::Result<Option<SignedDuration>> {
    let ahead: Option<i64> = connection.query_one(
        "SELECT max(max(time_created, coalesce(iif(json_valid(data), data ->> '$.time.completed', 0), 0))) - ?2 \
         FROM message WHERE session_id = ?1",
        params![session, now.as_millisecond()],
        |row| row.get(0),
    )?;
    let Some(ahead) = ahead.filter(|ahead| *ahead >= 0) else { return Ok(None) };
    let back = ahead + 1000;
    let earlier = |place: &str| {
        format!(
            "UPDATE message SET data = json_set(data, '{place}', (data ->> '{place}') - ?2) \
             WHERE session_id = ?1 AND json_valid(data) AND json_type(data, '{place}') IS NOT NULL"
        )
    };
    for sql in [
        "UPDATE message SET time_created = time_created - ?2, time_updated = time_updated - ?2 WHERE session_id = ?1",
        &earlier("$.time.created"),
        &earlier("$.time.completed"),
    ] {
        connection.execute(sql, params![session, back])?;
    }
    let has_times =
        columns(connection, "main", "session")?.iter().any(|column| column.name == "time_updated");
    if has_times {
        let sql = "UPDATE session SET time_updated = min(time_updated, ?2) WHERE id = ?1";
        connection.execute(sql, params![session, now.as_millisecond()])?;
    }
    Ok(Some(SignedDuration::from_millis(back)))
}
