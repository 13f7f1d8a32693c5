//! Takes the rows of this run's sessions out of the database that the agent can write to, by a confined child.

use std::{ffi::OsString, path::Path, time::Duration};

use fro_boundary::{Bounds, ConfinedTask, Enclosure};
use fro_memory::{import_sessions, quarantine};

use super::blocking;
use crate::{settings::Settings, wall};

/// What the child may use up; a session of a few thousand messages is far below.
const BOUNDS: Bounds =
    Bounds { time: Duration::from_mins(1), memory: 2 << 30, file: 1 << 30, output: 256 << 20 };

/// The most that is told of what the child complains of.
const LONGEST: usize = 300;

/// Where things lie.
pub(super) struct Places<'a> {
    /// The engine's data folder, which is the agent's to write.
    pub(super) engine_data: &'a Path,
    /// Our own, which was set apart before the agent came.
    pub(super) ours: &'a Path,
    /// An empty place for the agent's bytes.
    pub(super) quarantine: &'a Path,
}

/// Brings the rows of these sessions into our own copy of the database.
pub(super) async fn take_in(
    settings: &Settings,
    enclosure: Enclosure,
    places: Places<'_>,
    sessions: &[String],
) -> Result<(), String> {
    let (engine_data, held) = (places.engine_data.to_owned(), places.quarantine.to_owned());
    blocking(move || quarantine(&engine_data, &held)).await?;
    let program = &settings.engine.program;
    let words = ["export-sessions".into(), OsString::from(places.quarantine)];
    let command = [OsString::from(program)].into_iter().chain(words).chain(sessions.iter().map(Into::into));
    let errand = ConfinedTask {
        command: command.collect(),
        environment: Vec::new(),
        folder: places.quarantine.to_owned(),
        read: vec![program.clone()],
        write: vec![places.quarantine.to_owned()],
        connect: Vec::new(),
        input: None,
        bounds: BOUNDS,
    };
    // Another user is worth having and costs nothing; namespaces by `sudo` take longer than the errand.
    let enclosure = match enclosure {
        Enclosure::Root => Enclosure::Root.if_readable(&errand.read),
        Enclosure::Open | Enclosure::Sudo(_) => Enclosure::Open,
    };
    let said = wall::confinement(settings, enclosure).run(errand).await;
    let said = said.map_err(|overrun| format!("reading the run's sessions came to no end: {overrun}"))?;
    if !said.status.success() {
        let words = String::from_utf8_lossy(&said.complaint);
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        return Err(format!(
            "the run's sessions cannot be read: {}",
            words.chars().take(LONGEST).collect::<String>()
        ));
    }
    let ours = places.ours.to_owned();
    blocking(move || import_sessions(&ours, &said.output)).await
}
