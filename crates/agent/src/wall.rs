//! Draws the wall of one engine: what it may read, write and connect to, and which variables it gets.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    time::Duration,
};

use fro_boundary::{Address, Confinement, Enclosure, Strictness, Toolbox, WallSpec, environment, probe};
use fro_core::Fault;

use crate::{
    job::Scope,
    opened::Preparation,
    settings::{EngineSettings, Settings, Unwalled},
};

/// How long the wall lets the engine end by itself; less than the server waits for the wall.
const GRACE: Duration = Duration::from_secs(3);

/// How the engine is started.
pub(crate) struct Wall {
    /// The command that it is started through.
    pub(crate) command: Vec<OsString>,
    /// All that it gets of the harness's environment.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// What stands, in words.
    pub(crate) told: String,
}

/// What the wall lets the engine reach, and how it finds it.
pub(crate) struct WallOpenings {
    /// Where it may connect to.
    pub(crate) connect: Vec<Address>,
    /// What else it may read.
    pub(crate) read: Vec<PathBuf>,
    /// The variables that lead it there.
    pub(crate) environment: Vec<(OsString, OsString)>,
}

/// Draws the wall around an engine that lives and works in `home`.
///
/// A machine that cannot give it is refused here, before anything starts.
pub(crate) fn around(
    home: &Path,
    scope: Scope<'_>,
    preparation: &Preparation,
    openings: WallOpenings,
) -> Result<Wall, Fault> {
    let settings = scope.settings();
    let (host, Preparation { engine, omo, enclosure, .. }) = (&settings.engine, preparation);
    let strictness = strictness(settings);
    // This very program is also what the engine starts for our tools.
    let mut read = vec![engine.binary.clone(), engine.rg.clone(), host.program.clone()];
    read.extend(omo.as_ref().map(|omo| omo.code().to_owned()));
    read.extend(openings.read);
    let enclosure = enclosure.if_readable(&read);
    let walls = probe().map_err(|error| error.fault())?.within(enclosure);
    walls.suffice(strictness).map_err(|error| error.fault())?;
    let tools = toolbox(scope);
    read.extend_from_slice(tools.read());
    let spec = WallSpec {
        read,
        write: vec![home.to_owned()],
        connect: openings.connect,
        strictness,
        grace: GRACE,
        enclosure,
        ..WallSpec::default()
    };
    let mut command: Vec<OsString> = vec![host.program.clone().into(), "wall".into()];
    command.extend(spec.arguments());
    command.extend(["--listen".into(), fro_opencode::PORT.into(), "--".into()]);
    let given = environment(host.environment.iter().cloned(), &tools, openings.environment);
    Ok(Wall { command, environment: given.variables.into_iter().collect(), told: walls.to_string() })
}

/// Returns how our own programs are confined when they look at what the agent wrote.
pub(crate) fn confinement(settings: &Settings, enclosure: Enclosure) -> Confinement {
    let launcher = vec![settings.engine.program.clone().into(), "wall".into()];
    Confinement { launcher, strictness: strictness(settings), enclosure }
}

fn strictness(settings: &Settings) -> Strictness {
    match settings.engine.unwalled {
        Unwalled::Refused => Strictness::Required,
        Unwalled::Allowed => Strictness::AllowUnwalled,
    }
}

/// Chooses the programs of the machine that the engine may use.
fn toolbox(scope: Scope<'_>) -> Toolbox {
    let (settings, host) = (scope.settings(), &scope.settings().engine);
    let home = host.variable("HOME").map(PathBuf::from);
    let private: Vec<PathBuf> =
        home.into_iter().chain([settings.scratch.clone(), scope.job.checkout.clone()]).collect();
    let path = host.variable("PATH").unwrap_or(OsStr::new("/usr/bin:/bin"));
    Toolbox::from_path(path, &private, |path| fs_err::canonicalize(path).ok())
}

impl EngineSettings {
    /// Returns a variable of the harness.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
    }
}
