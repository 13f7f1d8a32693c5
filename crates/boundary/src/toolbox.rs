//! The programs of the host that the engine may use: which folders of `PATH` can be shown to it
//! without showing what lies beside them.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use crate::wall::is_system;

/// Where the engine finds programs, and what it has to be able to read for them to work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toolbox {
    folders: Vec<PathBuf>,
    read: Vec<PathBuf>,
    rustup: Option<PathBuf>,
}

impl Toolbox {
    /// Chooses from the host's `PATH`.
    ///
    /// `private` are the folders whose content must stay unseen: the caller's home, the checkout
    /// of the job, the runner's files. `real` resolves links and says `None` for what does not
    /// exist. An entry that cannot be shown is left out of the path too: a program that is found
    /// but cannot start would hide the one behind it.
    pub fn from_path(path: &OsStr, private: &[PathBuf], real: impl Fn(&Path) -> Option<PathBuf>) -> Self {
        let private: Vec<PathBuf> = private.iter().filter_map(|folder| real(folder)).collect();
        let mut tools = Self::default();
        for entry in std::env::split_paths(path).filter(|entry| entry.is_absolute()) {
            if tools.folders.contains(&entry) {
                continue;
            }
            let Some(grants) = real(&entry).and_then(|real| grants(&real, &private)) else { continue };
            tools.folders.push(entry);
            tools.read.extend(grants.read);
            tools.rustup = tools.rustup.or(grants.rustup);
        }
        tools
    }

    /// Puts a folder of our own in front of the path and makes it readable.
    #[must_use]
    pub fn with_first(mut self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        self.read.push(folder.clone());
        self.folders.insert(0, folder);
        self
    }

    /// Returns what the wall has to let the engine read, beyond the system's folders.
    pub fn read(&self) -> &[PathBuf] {
        &self.read
    }

    pub(crate) fn path(&self) -> OsString {
        let folders: Vec<&OsStr> = self.folders.iter().map(|folder| folder.as_os_str()).collect();
        folders.join(OsStr::new(":"))
    }

    /// With a home of its own the engine would look for the toolchains of Rust in the wrong place.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> {
        self.rustup.iter().map(|home| ("RUSTUP_HOME".into(), home.into()))
    }
}

/// What has to be readable for one entry of the path.
#[derive(Default)]
struct Grants {
    read: Vec<PathBuf>,
    rustup: Option<PathBuf>,
}

/// Returns what to show for one entry of the path, or `None` if it cannot be shown.
fn grants(entry: &Path, private: &[PathBuf]) -> Option<Grants> {
    let hides = |folder: &Path| private.iter().any(|private| private.starts_with(folder));
    if is_system(entry) {
        return Some(Grants::default());
    }
    if hides(entry) || is_shallow(entry) {
        return None;
    }
    let is_bin = entry.ends_with("bin") || entry.ends_with("sbin");
    // A program in `bin` finds its libraries beside that folder.
    let prefix = entry.parent().filter(|prefix| is_bin && !is_shallow(prefix) && !hides(prefix));
    let is_private = is_somebody_s(entry) || private.iter().any(|folder| entry.starts_with(folder));
    if is_private {
        return managed(entry, prefix).or_else(|| is_bin.then(|| Grants::read_only([entry])));
    }
    Some(Grants::read_only([prefix.unwrap_or(entry)]))
}

/// Tells whether a folder is a whole region of the machine, such as `/opt`.
fn is_shallow(folder: &Path) -> bool {
    folder.components().count() < 3
}

/// Tells whether a folder looks like part of a home, be it the caller's or not: keys lie beside such tools.
fn is_somebody_s(folder: &Path) -> bool {
    let hidden = |part: &OsStr| part.as_encoded_bytes().starts_with(b".");
    folder.starts_with("/home") || folder.starts_with("/root") || folder.iter().any(hidden)
}

/// Knows what the tool managers need that live in people's homes.
fn managed(entry: &Path, prefix: Option<&Path>) -> Option<Grants> {
    if entry.ends_with(".cargo/bin") {
        let rustup = entry.parent()?.with_file_name(".rustup");
        let grants = Grants::read_only([entry, &rustup.join("toolchains"), &rustup.join("settings.toml")]);
        return Some(Grants { rustup: Some(rustup), ..grants });
    }
    if entry.ends_with(".pyenv/shims") {
        let parts = ["shims", "libexec", "plugins", "versions", "version"];
        return Some(Grants::read_only(parts.map(|part| entry.with_file_name(part))));
    }
    let prefix = prefix?;
    let above = prefix.parent()?;
    above.iter().any(|part| VERSIONED.iter().any(|name| part == *name)).then(|| Grants::read_only([prefix]))
}

/// Tool managers keep each version beneath a folder of one of these names: nothing but the tool is there.
const VERSIONED: &[&str] = &["versions", "installs", "toolchains", "candidates", "hostedtoolcache", "_tool"];

impl Grants {
    fn read_only<P: AsRef<Path>>(read: impl IntoIterator<Item = P>) -> Self {
        Self { read: read.into_iter().map(|path| path.as_ref().to_owned()).collect(), rustup: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &str) {
        let private = ["/home/ada", "/home/ada/work/garden", "/srv/runner/_temp"].map(PathBuf::from);
        let tools = Toolbox::from_path(path.as_ref(), &private, |path| {
            let text = path.to_str()?.replace("/link-to-home", "/home/ada");
            (!text.contains("missing")).then(|| PathBuf::from(text))
        });
        let read: Vec<_> = tools.read.iter().map(|path| path.display().to_string()).collect();
        assert_eq!(format!("{} | {}", tools.path().display(), read.join(" ")), expected);
    }

    #[test]
    fn the_system_s_folders_need_no_word() {
        check("/usr/local/bin:/usr/bin:/bin:/usr/sbin", "/usr/local/bin:/usr/bin:/bin:/usr/sbin | ");
    }

    #[test]
    fn what_is_relative_missing_or_named_twice_goes() {
        check("bin::.:/usr/bin:/missing/bin:/usr/bin", "/usr/bin | ");
    }

    #[test]
    fn a_tool_outside_comes_with_its_libraries() {
        check(
            "/opt/hostedtoolcache/node/24.1.0/x64/bin",
            "/opt/hostedtoolcache/node/24.1.0/x64/bin | /opt/hostedtoolcache/node/24.1.0/x64",
        );
        check("/opt/bin:/snap/bin", "/opt/bin:/snap/bin | /opt/bin /snap/bin");
        check("/opt/browser/chrome", "/opt/browser/chrome | /opt/browser/chrome");
    }

    #[test]
    fn a_home_is_never_shown() {
        check("/home/ada:/home:/:/home/ada/scripts:/opt", " | ");
        check("/link-to-home:/link-to-home/scripts", " | ");
        check("/home/bob/.cargo:/home/bob/tool:/srv/bob/.keys", " | ");
        check(
            "/home/bob/tool/bin:/srv/bob/.tool/bin",
            "/home/bob/tool/bin:/srv/bob/.tool/bin | /home/bob/tool/bin /srv/bob/.tool/bin",
        );
        check(
            "/home/ada/bin:/home/ada/.local/bin",
            "/home/ada/bin:/home/ada/.local/bin | /home/ada/bin /home/ada/.local/bin",
        );
    }

    #[test]
    fn a_folder_beside_the_job_s_files_is_shown_alone() {
        check("/srv/runner/bin", "/srv/runner/bin | /srv/runner/bin");
        check("/srv/runner/_temp/bin", "/srv/runner/_temp/bin | /srv/runner/_temp/bin");
        check("/home/ada/work/garden/node_modules/.bin", " | ");
    }

    #[test]
    fn a_version_manager_shows_the_version_and_nothing_above() {
        check(
            "/home/ada/.nvm/versions/node/v24/bin",
            "/home/ada/.nvm/versions/node/v24/bin | /home/ada/.nvm/versions/node/v24",
        );
        check("/home/ada/versions/bin", "/home/ada/versions/bin | /home/ada/versions/bin");
        check(
            "/home/ada/.pyenv/shims",
            "/home/ada/.pyenv/shims | /home/ada/.pyenv/shims /home/ada/.pyenv/libexec \
             /home/ada/.pyenv/plugins /home/ada/.pyenv/versions /home/ada/.pyenv/version",
        );
    }

    #[test]
    fn cargo_s_programs_are_shown_but_not_its_credentials() {
        check(
            "/home/ada/.cargo/bin",
            "/home/ada/.cargo/bin | /home/ada/.cargo/bin /home/ada/.rustup/toolchains /home/ada/.rustup/settings.toml",
        );
        let private = [PathBuf::from("/home/ada")];
        let tools =
            Toolbox::from_path("/home/ada/.cargo/bin".as_ref(), &private, |path| Some(path.to_owned()));
        let variables: Vec<_> = tools.variables().collect();
        assert_eq!(variables, [("RUSTUP_HOME".into(), "/home/ada/.rustup".into())]);
    }
}
