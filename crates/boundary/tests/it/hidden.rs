//! A hidden process, looked at by another of the same user without any wall between them.

use std::io::Read as _;

use crate::world::{HIDDEN, SECRET, User, everyone, text};

#[test]
fn a_hidden_process_shows_nothing_to_its_own_user() {
    everyone(|world| {
        // Root with all its powers sees everything, hidden or not.
        let User::Ordinary(_) = world.user else { return };
        let program = world.program(HIDDEN);
        let mut hidden = world.outsider(program.as_os_str()).env("GITHUB_TOKEN", SECRET).spawn().unwrap();
        hidden.stdout.as_mut().unwrap().read_exact(&mut [0; 7]).unwrap();

        let script = format!("cd /proc/{}; cat environ; ls fd; ls cwd/; head -c1 mem", hidden.id());
        let seen = text(&world.outsider("sh".as_ref()).args(["-c", &script]).output().unwrap());

        drop(hidden.stdin.take());
        hidden.wait().unwrap();
        assert_eq!(seen.matches("Permission denied").count(), 4, "{seen}");
        assert!(!seen.contains(SECRET), "{seen}");
    });
}
