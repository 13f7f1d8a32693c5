//! What stands around the wall where root is at hand: namespaces, and another user.

use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};

use fro_boundary::Enclosure;

use crate::world::{User, everyone, text};

#[test]
fn no_process_outside_is_seen() {
    everyone(|world| {
        let list = text(
            &world.shell("ls /proc | grep -E '^[0-9]+$' | wc -l; cat /proc/[0-9]*/cmdline | tr '\\0' ' '"),
        );

        let count: usize = list.lines().next().unwrap().trim().parse().unwrap();
        assert_eq!(list.contains("sleep 600"), !world.is_enclosed(), "{list}");
        assert!(!world.is_enclosed() || count < 8, "{list}");
    });
}

#[test]
fn the_namespaces_are_the_engine_s_own() {
    let names = ["ipc", "mnt", "pid", "uts"];
    let outside = names.map(|name| std::fs::read_link(format!("/proc/self/ns/{name}")).unwrap());
    everyone(|world| {
        let said =
            text(&world.shell("cd /proc/self/ns; for name in ipc mnt pid uts; do readlink $name; done"));

        let apart =
            said.lines().zip(&outside).filter(|(inside, outside)| outside.as_os_str() != *inside).count();
        assert_eq!(apart, if world.is_enclosed() { names.len() } else { 0 }, "{said}");
    });
}

#[test]
fn root_is_somebody_else_behind_the_wall() {
    everyone(|world| {
        let said = text(&world.shell("echo $(id -u) $(id -g) $(id -G); touch mine; stat -c %u mine"));

        let expected = match (world.user, world.spec.enclosure) {
            (User::Root, Enclosure::Root) => "65534 65534 65534\n65534\n".to_owned(),
            (User::Root, _) => "0 0 0\n0\n".to_owned(),
            (User::Ordinary(id), _) => format!("{id} {id} {id}\n{id}\n"),
        };
        assert_eq!(said, expected);
    });
}

#[test]
fn what_is_shown_below_a_closed_folder_is_reached_and_nothing_beside_it() {
    everyone(|mut world| {
        let closed = world.outside().join("closed");
        for (folder, mode) in
            [(closed.join("shown"), 0o755), (closed.join("beside"), 0o755), (closed.clone(), 0o700)]
        {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("file"), "words").unwrap();
            std::fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
            world.give(&folder);
        }
        world.spec.read.extend([closed.join("shown"), closed.join("file")]);
        let script = format!("cd {}; cat shown/file file beside/file; pwd -P", closed.display());

        let said = text(&world.shell(&script));

        assert!(said.starts_with("wordswords"), "{said}");
        assert!(said.contains("beside/file") && !said.contains("wordswordswords"), "{said}");
    });
}

#[test]
fn the_machine_s_own_mounts_stay_as_they_were() {
    let before = std::fs::read_to_string("/proc/self/mounts").unwrap();
    everyone(|world| drop(world.shell("true")));
    assert_eq!(std::fs::read_to_string("/proc/self/mounts").unwrap(), before);
}
