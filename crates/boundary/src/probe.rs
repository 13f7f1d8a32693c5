//! Finds out which walls this machine can give, by putting them up.

use std::{fmt, io, thread};

use rustix::process::getuid;

use crate::wall::{Enclosure, Strictness, User, WallError, WallSpec, WallsUp, raise};

/// The walls that stand around the engine on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walls {
    landlock: Result<i32, String>,
    seccomp: Result<(), String>,
    broker: Result<(), String>,
    enclosure: Enclosure,
    user: u32,
}

/// Puts every wall up around a thread of its own, for the same code will wall in the engine, and
/// tells what came of it.
///
/// The thread ends at once; no other thread is touched, since all these rights belong to threads.
pub fn probe() -> Result<Walls, WallError> {
    let trial = thread::Builder::new().name("walls".to_owned()).spawn(|| raise(&WallSpec::default()));
    let trial = trial.map_err(|source| WallError::Kernel("try the walls", source))?;
    let crashed = |_| WallError::Kernel("try the walls", io::Error::other("the trial crashed"));
    let WallsUp { landlock, seccomp, broker } = trial.join().map_err(crashed)??;
    Ok(Walls {
        landlock,
        seccomp,
        broker: broker.map(drop),
        enclosure: Enclosure::Open,
        user: getuid().as_raw(),
    })
}

impl Walls {
    /// Returns the version of Landlock, if it stands. From 6 on the agent cannot signal the harness.
    pub fn landlock(&self) -> Option<i32> {
        self.landlock.as_ref().ok().copied()
    }

    /// Adds the namespaces and the other user that enclose them.
    #[must_use]
    pub fn within(self, enclosure: Enclosure) -> Self {
        Self { enclosure, ..self }
    }

    /// Refuses where a wall is missing, unless the operator has waived it.
    pub fn suffice(&self, strictness: Strictness) -> Result<(), WallError> {
        let missing = self.landlock.as_ref().err();
        let missing = missing.or(self.seccomp.as_ref().err()).or(self.broker.as_ref().err());
        match (missing, strictness) {
            (Some(reason), Strictness::Required) => Err(WallError::Unavailable(reason.clone())),
            (Some(_), Strictness::AllowUnwalled) | (None, _) => Ok(()),
        }
    }
}

impl fmt::Display for Walls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.landlock {
            Ok(version) => write!(f, "Landlock {version}, ")?,
            Err(reason) => write!(f, "no Landlock ({reason}), ")?,
        }
        match &self.seccomp {
            Ok(()) => f.write_str("seccomp, ")?,
            Err(reason) => write!(f, "no seccomp ({reason}), ")?,
        }
        match &self.broker {
            Ok(()) => f.write_str("allow-listed connections, ")?,
            Err(reason) => write!(f, "connections by port only ({reason}), ")?,
        }
        f.write_str("no capabilities, no new privileges, ")?;
        match self.enclosure {
            Enclosure::Open => write!(f, "user {}", self.user),
            Enclosure::Sudo(User { id, .. }) => write!(f, "own namespaces, user {id}"),
            Enclosure::Root => f.write_str("own namespaces, another user"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walls(landlock: Result<i32, String>) -> Walls {
        Walls { landlock, seccomp: Ok(()), broker: Ok(()), enclosure: Enclosure::Open, user: 1001 }
    }

    #[test]
    fn the_summary_names_what_stands_and_what_does_not() {
        let old = walls(Err("this kernel has no Landlock".to_owned()));

        insta::assert_snapshot!(walls(Ok(7)), @"Landlock 7, seccomp, allow-listed connections, no capabilities, no new privileges, user 1001");
        let sudo = Enclosure::Sudo(User { id: 1001, group: 1001 });
        insta::assert_snapshot!(walls(Ok(7)).within(sudo), @"Landlock 7, seccomp, allow-listed connections, no capabilities, no new privileges, own namespaces, user 1001");
        insta::assert_snapshot!(walls(Ok(7)).within(Enclosure::Root), @"Landlock 7, seccomp, allow-listed connections, no capabilities, no new privileges, own namespaces, another user");
        insta::assert_snapshot!(old, @"no Landlock (this kernel has no Landlock), seccomp, allow-listed connections, no capabilities, no new privileges, user 1001");
    }

    #[test]
    fn a_missing_wall_is_refused_unless_waived() {
        let old = walls(Err("this kernel has no Landlock".to_owned()));

        assert_eq!(
            old.suffice(Strictness::Required).unwrap_err().to_string(),
            "cannot wall the engine in: this kernel has no Landlock"
        );
        old.suffice(Strictness::AllowUnwalled).unwrap();
        walls(Ok(4)).suffice(Strictness::Required).unwrap();
    }

    #[test]
    fn this_thread_stays_as_it_was() {
        let before = fs_err::read_to_string("/proc/thread-self/status").unwrap();
        let walls = probe().unwrap();
        let after = fs_err::read_to_string("/proc/thread-self/status").unwrap();

        walls.suffice(Strictness::Required).unwrap();
        let rights = |status: &str| -> Vec<String> {
            let told = |line: &&str| {
                line.starts_with("Cap") || line.starts_with("NoNewPrivs") || line.starts_with("Seccomp")
            };
            status.lines().filter(told).map(str::to_owned).collect()
        };
        assert_eq!(rights(&before), rights(&after));
    }
}
