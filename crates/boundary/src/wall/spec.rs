//! What the engine may reach, as a value and as the arguments of `fro-bot wall`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use crate::wall::{Address, Enclosure, WallError};

/// What the engine may reach behind its wall, beyond the system's own programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WallSpec {
    /// Files and folders to read and execute; those that do not exist are passed over.
    pub read: Vec<PathBuf>,
    /// Files and folders to do anything with.
    pub write: Vec<PathBuf>,
    /// TCP ports to listen on.
    pub listen: Vec<u16>,
    /// Places to connect to.
    pub connect: Vec<Address>,
    /// The file that is its standard input; there is nothing to read otherwise.
    pub input: Option<PathBuf>,
    /// What it may use up, beyond what no process behind a wall may.
    pub limits: Limits,
    /// How long the engine may take to end after it was asked to.
    pub grace: Duration,
    /// What to do where the kernel lacks a wall.
    pub strictness: Strictness,
    /// What stands around the wall.
    pub enclosure: Enclosure,
}

/// What a command behind the wall may use up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory for each process.
    pub memory: Option<u64>,
    /// Bytes of each file.
    pub file: Option<u64>,
    /// Seconds of a processor's time for each process.
    pub seconds: Option<u64>,
}

/// What to do where the kernel lacks a wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// The engine does not start.
    Required,
    /// The engine starts with the walls that there are: the operator's `allow-unwalled`.
    AllowUnwalled,
}

impl Default for WallSpec {
    fn default() -> Self {
        Self {
            read: Vec::new(),
            write: Vec::new(),
            listen: Vec::new(),
            connect: Vec::new(),
            input: None,
            limits: Limits::default(),
            grace: Duration::from_secs(5),
            strictness: Strictness::Required,
            enclosure: Enclosure::Open,
        }
    }
}

impl WallSpec {
    /// Returns the arguments that [`WallSpec::parse`] reads; `--` and the command follow them.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        let mut add = |flag: &str, value: OsString| arguments.extend([flag.into(), value]);
        self.read.iter().for_each(|path| add("--read", path.into()));
        self.write.iter().for_each(|path| add("--write", path.into()));
        self.listen.iter().for_each(|port| add("--listen", port.to_string().into()));
        self.connect.iter().for_each(|address| add("--connect", address.argument()));
        self.input.iter().for_each(|path| add("--input", path.into()));
        let Limits { memory, file, seconds } = self.limits;
        let limits = [("--memory", memory), ("--file-size", file), ("--cpu-seconds", seconds)];
        for (flag, limit) in limits {
            if let Some(limit) = limit {
                add(flag, limit.to_string().into());
            }
        }
        add("--grace-ms", self.grace.as_millis().to_string().into());
        if let Some(enclosure) = self.enclosure.argument() {
            add("--enclose", enclosure.into());
        }
        match self.strictness {
            Strictness::Required => {}
            Strictness::AllowUnwalled => arguments.push("--allow-unwalled".into()),
        }
        arguments
    }

    /// Reads a wall and the command behind it from the arguments of `fro-bot wall`.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<(Self, Vec<OsString>), WallError> {
        let mut spec = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(flag) = arguments.next() {
            let mut value =
                || arguments.next().ok_or_else(|| bad(format!("`{}` needs a value", flag.display())));
            match flag.to_str() {
                Some("--read") => spec.read.push(value()?.into()),
                Some("--write") => spec.write.push(value()?.into()),
                Some("--listen") => spec.listen.push(number(&value()?)?),
                Some("--connect") => spec.connect.push(address(&value()?)?),
                Some("--input") => spec.input = Some(value()?.into()),
                Some("--memory") => spec.limits.memory = Some(number(&value()?)?),
                Some("--file-size") => spec.limits.file = Some(number(&value()?)?),
                Some("--cpu-seconds") => spec.limits.seconds = Some(number(&value()?)?),
                Some("--grace-ms") => spec.grace = Duration::from_millis(number(&value()?)?),
                Some("--enclose") => spec.enclosure = enclosure(&value()?)?,
                Some("--allow-unwalled") => spec.strictness = Strictness::AllowUnwalled,
                Some("--") => return command(arguments).map(|command| (spec, command)),
                _ => return Err(bad(format!("`{}` is not known", flag.display()))),
            }
        }
        Err(bad("`--` and a command are missing".to_owned()))
    }
}

fn command(rest: impl Iterator<Item = OsString>) -> Result<Vec<OsString>, WallError> {
    let command: Vec<OsString> = rest.collect();
    if command.is_empty() {
        return Err(bad("no command follows `--`".to_owned()));
    }
    Ok(command)
}

fn number<N: std::str::FromStr>(value: &OsString) -> Result<N, WallError> {
    let parsed = value.to_str().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| bad(format!("`{}` is not a fitting number", value.display())))
}

fn address(value: &OsString) -> Result<Address, WallError> {
    let unfit = || bad(format!("`{}` is neither ADDRESS:PORT nor unix:PATH", value.display()));
    Address::parse(value).ok_or_else(unfit)
}

fn enclosure(value: &OsString) -> Result<Enclosure, WallError> {
    let unfit = || bad(format!("`{}` is neither `root` nor USER:GROUP", value.display()));
    Enclosure::parse(value).ok_or_else(unfit)
}

fn bad(what: String) -> WallError {
    WallError::Arguments(what)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use proptest::{collection::vec, prelude::*};

    use crate::wall::User;

    use super::*;

    fn path() -> impl Strategy<Value = PathBuf> {
        vec(1_u8.., 0..20).prop_map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
    }

    fn address() -> impl Strategy<Value = Address> {
        prop_oneof![
            any::<(std::net::IpAddr, u16)>().prop_map(|address| Address::Tcp(address.into())),
            path().prop_map(Address::Unix),
        ]
    }

    fn enclosure() -> impl Strategy<Value = Enclosure> {
        prop_oneof![
            Just(Enclosure::Open),
            Just(Enclosure::Root),
            any::<(u32, u32)>().prop_map(|(id, group)| Enclosure::Sudo(User { id, group })),
        ]
    }

    fn spec() -> impl Strategy<Value = WallSpec> {
        let paths = || vec(path(), 0..4);
        let ports = || vec(any::<u16>(), 0..4);
        let strictness = prop_oneof![Just(Strictness::Required), Just(Strictness::AllowUnwalled)];
        let limits = any::<(Option<u64>, Option<u64>, Option<u64>)>()
            .prop_map(|(memory, file, seconds)| Limits { memory, file, seconds });
        let input = proptest::option::of(path());
        let places = (paths(), paths(), ports(), vec(address(), 0..4));
        (places, any::<u32>(), strictness, enclosure(), limits, input).prop_map(
            |((read, write, listen, connect), grace, strictness, enclosure, limits, input)| {
                let grace = Duration::from_millis(grace.into());
                WallSpec { read, write, listen, connect, input, limits, grace, strictness, enclosure }
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(spec in spec(), words in vec(path(), 1..4)) {
            let command: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            let arguments = spec.arguments().into_iter().chain(["--".into()]).chain(command.clone());

            prop_assert_eq!(WallSpec::parse(arguments).unwrap(), (spec, command));
        }
    }

    fn complaint(arguments: &str) -> String {
        WallSpec::parse(arguments.split_whitespace().map(OsString::from)).unwrap_err().to_string()
    }

    #[test]
    fn a_slip_is_named() {
        let complaints = [
            "",
            "--",
            "--read",
            "--listen 70000 -- id",
            "--connect 80 -- id",
            "--enclose me -- id",
            "--raed /x -- id",
        ]
        .map(complaint);

        insta::assert_snapshot!(complaints.join("\n"), @"
        cannot read the arguments of `wall`: `--` and a command are missing
        cannot read the arguments of `wall`: no command follows `--`
        cannot read the arguments of `wall`: `--read` needs a value
        cannot read the arguments of `wall`: `70000` is not a fitting number
        cannot read the arguments of `wall`: `80` is neither ADDRESS:PORT nor unix:PATH
        cannot read the arguments of `wall`: `me` is neither `root` nor USER:GROUP
        cannot read the arguments of `wall`: `--raed` is not known
        ");
    }
}
