//! A folder to live in, a folder to stay out of, a harness with a secret, and a wall between.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs::Permissions,
    os::unix::{
        fs::{PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fro_boundary::{Confinement, Enclosure, Strictness, Toolbox, WallSpec, environment, wall};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getgid, getuid, kill_process};
use tempfile::TempDir;

/// What no process behind the wall may ever see. The attacks look for its first word.
pub(crate) const SECRET: &str = "planted-4f1d9c";

/// `fro-bot wall`, without the rest of fro-bot.
pub(crate) const WALLED: &str = env!("CARGO_BIN_EXE_walled");

/// A process that hides and waits.
pub(crate) const HIDDEN: &str = env!("CARGO_BIN_EXE_hidden");

/// How git is confined where the harness and the agent are the same user.
pub(crate) fn confinement() -> Confinement {
    let (strictness, enclosure) = (Strictness::Required, Enclosure::Open);
    Confinement { launcher: vec![WALLED.into()], strictness, enclosure }
}

const NOBODY: u32 = 65_534;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    Root,
    Ordinary(u32),
}

/// Tells a story for every user that this machine lets us be, and with all that can stand around the wall.
pub(crate) fn everyone(story: impl Fn(World)) {
    let worlds = match getuid().as_raw() {
        0 => vec![
            (User::Root, Enclosure::Open),
            (User::Root, Enclosure::Root),
            (User::Ordinary(NOBODY), Enclosure::Open),
        ],
        own => {
            let open = [(User::Ordinary(own), Enclosure::Open)].into_iter();
            open.chain(sudo().map(|sudo| (User::Ordinary(own), sudo))).collect()
        }
    };
    for (user, enclosure) in worlds {
        story(World::new(user, enclosure));
    }
}

/// Returns what `sudo` can put around the wall, if it lets us without a password.
fn sudo() -> Option<Enclosure> {
    let lets = Command::new("/usr/bin/sudo").args(["-n", "true"]).output();
    let user = wall::User { id: getuid().as_raw(), group: getgid().as_raw() };
    lets.is_ok_and(|output| output.status.success()).then_some(Enclosure::Sudo(user))
}

pub(crate) struct World {
    folder: TempDir,
    pub(crate) user: User,
    pub(crate) spec: WallSpec,
    mark: String,
    harness: Child,
}

impl World {
    fn new(user: User, enclosure: Enclosure) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let folder = tempfile::tempdir().unwrap();
        open_to_all(folder.path());
        let harness = start_harness(user);
        let mark = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let spec = WallSpec { enclosure, ..WallSpec::default() };
        let mut world = Self { folder, user, spec, mark, harness };
        // Not every user can reach the folder of the build. Copied by a process of its own, since a
        // file that a child of this one has inherited for writing cannot be started.
        let copied = Command::new("cp").args([WALLED, HIDDEN]).arg(world.folder.path()).status().unwrap();
        assert!(copied.success());
        for folder in [world.inside(), world.outside(), world.shown()] {
            std::fs::create_dir(&folder).unwrap();
            world.give(&folder);
        }
        std::fs::write(world.secret_file(), SECRET).unwrap();
        std::fs::set_permissions(world.secret_file(), Permissions::from_mode(0o600)).unwrap();
        world.give(&world.secret_file());
        world.spec.write.push(world.inside());
        world.spec.read.push(world.shown());
        world.spec.read.push(python(user).prefix.clone());
        world.spec.read.extend_from_slice(tools().read());
        world
    }

    /// Tells whether the wall stands in namespaces of its own.
    pub(crate) fn is_enclosed(&self) -> bool {
        self.spec.enclosure != Enclosure::Open
    }

    pub(crate) fn inside(&self) -> PathBuf {
        self.folder.path().join("inside")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    /// A folder that may be read but not written.
    pub(crate) fn shown(&self) -> PathBuf {
        self.folder.path().join("shown")
    }

    pub(crate) fn secret_file(&self) -> PathBuf {
        self.outside().join("secret")
    }

    /// One of the programs of these tests, where the world's user can start it.
    pub(crate) fn program(&self, built: &str) -> PathBuf {
        self.folder.path().join(Path::new(built).file_name().unwrap())
    }

    /// The harness: a process of the same user with a secret in its environment.
    pub(crate) fn harness(&self) -> u32 {
        self.harness.id()
    }

    /// Makes the world's user the owner.
    pub(crate) fn give(&self, path: &Path) {
        if let (User::Ordinary(id), true) = (self.user, getuid().is_root()) {
            chown(path, Some(id), Some(id)).unwrap();
        }
    }

    /// A python script behind the wall, run to its end.
    pub(crate) fn python(&self, script: &str, arguments: &[&str]) -> Output {
        let python = python(self.user);
        let mut command = vec![python.program.as_os_str(), "-c".as_ref(), script.as_ref()];
        command.extend(arguments.iter().map(OsStr::new));
        self.output(&command)
    }

    pub(crate) fn shell(&self, script: &str) -> Output {
        self.output(&["sh".as_ref(), "-c".as_ref(), script.as_ref()])
    }

    /// A python script behind the wall, started; its standard input is the lifeline.
    pub(crate) fn start_python(&self, script: &str) -> Child {
        let python = python(self.user);
        let mut command = self.walled(&[python.program.as_os_str(), "-c".as_ref(), script.as_ref()]);
        // Whoever outlived the wall would hold these open, and nobody would ever read to their end.
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// The walled command, ready to start, with all its streams piped.
    pub(crate) fn walled(&self, command: &[&OsStr]) -> Command {
        let mut walled = self.outsider(self.program(WALLED).as_os_str());
        walled.args(self.spec.arguments()).arg("--").args(command);
        walled.env_clear().envs(self.environment()).env("MARK", &self.mark);
        walled
    }

    /// A command of the world's user outside the wall, with all its streams piped.
    pub(crate) fn outsider(&self, program: &OsStr) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.inside()).env("MARK", &self.mark);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        become_user(&mut command, self.user);
        command
    }

    /// The processes behind (and in) this world's wall, with their command lines.
    pub(crate) fn processes(&self) -> BTreeMap<i32, String> {
        let mark = format!("MARK={}", self.mark);
        let marked = |folder: &Path| {
            let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|pair| pair == mark.as_bytes())
        };
        let described = |folder: PathBuf| {
            let id = folder.file_name()?.to_str()?.parse().ok()?;
            let words = std::fs::read_to_string(folder.join("cmdline")).ok()?;
            marked(&folder).then(|| (id, words.replace('\0', " ")))
        };
        let folders = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        folders.filter_map(described).collect()
    }

    /// Any command behind the wall, run to its end.
    pub(crate) fn output(&self, command: &[&OsStr]) -> Output {
        // The lifeline has to stay whole until the end, so its other end is kept.
        let mut child = self.walled(command).spawn().unwrap();
        let lifeline = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(lifeline);
        output
    }

    fn environment(&self) -> BTreeMap<OsString, OsString> {
        let host = std::env::vars_os().chain([("GITHUB_TOKEN".into(), SECRET.into())]);
        let home = |name: &str| (OsString::from(name), self.inside().into_os_string());
        environment(host, &tools(), [home("HOME"), home("TMPDIR")]).variables
    }
}

impl Drop for World {
    /// Leaves nothing running, not even when a test has failed.
    fn drop(&mut self) {
        for id in self.processes().into_keys() {
            let _: Result<(), Errno> = kill_process(Pid::from_raw(id).unwrap(), Signal::KILL);
        }
        self.harness.kill().unwrap();
        self.harness.wait().unwrap();
    }
}

/// Waits for a fact, with the last look in the complaint.
pub(crate) fn eventually<T: std::fmt::Debug>(mut look: impl FnMut() -> T, fits: impl Fn(&T) -> bool) -> T {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let seen = look();
        if fits(&seen) {
            return seen;
        }
        assert!(Instant::now() < deadline, "waited in vain, last seen: {seen:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// What was printed, with what was complained of.
pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

pub(crate) fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn become_user(command: &mut Command, user: User) {
    if let (User::Ordinary(id), true) = (user, getuid().is_root()) {
        command.uid(id).gid(id);
    }
}

fn start_harness(user: User) -> Child {
    let mut harness = Command::new("sleep");
    harness.arg("600").env("GITHUB_TOKEN", SECRET).stdin(Stdio::null());
    become_user(&mut harness, user);
    harness.spawn().unwrap()
}

fn tools() -> Toolbox {
    let path = std::env::var_os("PATH").unwrap();
    let home = std::env::home_dir().unwrap();
    Toolbox::from_path(&path, &[home], |path| path.canonicalize().ok())
}

pub(crate) struct Python {
    pub(crate) program: PathBuf,
    prefix: PathBuf,
}

/// The first python of the path that the user can start: shims of a home are not for everybody.
pub(crate) fn python(user: User) -> &'static Python {
    static ROOT_S: OnceLock<Python> = OnceLock::new();
    static OTHERS: OnceLock<Python> = OnceLock::new();
    let found = if user == User::Root { &ROOT_S } else { &OTHERS };
    found.get_or_init(|| find_python(user))
}

fn find_python(user: User) -> Python {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).find_map(|folder| {
        let mut command = Command::new(folder.join("python3"));
        become_user(&mut command, user);
        let output = command
            .args(["-c", "import ctypes, sys; print(sys.executable, sys.base_prefix)"])
            .output()
            .ok()?;
        let line = String::from_utf8(output.stdout).ok()?;
        let (program, prefix) = line.trim().split_once(' ')?;
        Some(Python { program: program.into(), prefix: prefix.into() })
    });
    found.expect("these tests need python3 on the path")
}

fn open_to_all(folder: &Path) {
    std::fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
}
