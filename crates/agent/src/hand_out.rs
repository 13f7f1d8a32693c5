//! Files that the agent hands out to people: read in its clone by a confined child, as bytes that nobody here parses.

use std::{ffi::OsString, path::Path, time::Duration};

use fro_boundary::{Bounds, ConfinedOutput, ConfinedTask, Enclosure, Halt, StillRunning};
use fro_core::attachment::LARGEST;

use crate::{settings::Settings, wall};

/// What reading one file may use up.
const BOUNDS: Bounds =
    Bounds { time: Duration::from_secs(20), memory: 256 << 20, file: 1 << 20, output: LARGEST };

/// Reads files of a clone, if nothing behind its wall runs.
pub(crate) async fn read(
    settings: &Settings,
    (clone, enclosure): (&Path, Enclosure),
    halt: &Result<Halt, StillRunning>,
    paths: &[String],
) -> Vec<Result<Vec<u8>, String>> {
    let mut files = Vec::new();
    for path in paths {
        files.push(match halt {
            Ok(halt) => {
                let read = read_one(settings, (clone, enclosure), path).await;
                halt.held().map_err(|why| why.to_string()).and(read)
            }
            Err(why) => Err(why.to_string()),
        });
    }
    files
}

async fn read_one(
    settings: &Settings,
    (clone, enclosure): (&Path, Enclosure),
    path: &str,
) -> Result<Vec<u8>, String> {
    let errand = ConfinedTask {
        command: ["/bin/cat", "--", path].map(OsString::from).into(),
        environment: Vec::new(),
        folder: clone.to_owned(),
        read: vec![clone.to_owned()],
        write: Vec::new(),
        connect: Vec::new(),
        input: None,
        bounds: BOUNDS,
    };
    let enclosure = enclosure.if_readable(&errand.read);
    match wall::confinement(settings, enclosure).run(errand).await {
        Ok(ConfinedOutput { status, output, .. }) if status.success() => Ok(output),
        Ok(_) => Err("there is no file of this name in the clone that can be read".to_owned()),
        Err(overrun) => Err(overrun.to_string()),
    }
}
