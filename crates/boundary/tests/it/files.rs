//! What the engine inherits and what it needs: open files, the terminal, tools.

use std::{ffi::OsStr, fs::File};

use crate::world::{WALLED, everyone, text};

#[test]
fn an_open_file_of_the_harness_is_not_inherited() {
    everyone(|world| {
        let secret = File::open(world.secret_file()).unwrap();
        let held = rustix::io::dup(&secret).unwrap();

        let listing = text(&world.shell("ls /proc/self/fd | sort -n | tr '\\n' ' '"));

        assert_eq!(listing, "0 1 2 3 ");
        drop(held);
    });
}

#[test]
fn the_engine_has_a_session_without_a_terminal() {
    everyone(|world| {
        let status = text(&world.shell("cut -d' ' -f1,6,7 /proc/$$/stat"));

        let fields: Vec<i32> = status.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let [process, session, terminal] = fields[..] else { panic!("{status}") };
        assert_eq!((session, terminal), (process, 0));
    });
}

#[test]
fn limits_stand() {
    everyone(|world| {
        let limits = text(&world.shell("ulimit -H -c; ulimit -S -c; ulimit -H -n"));

        let files: u64 = limits.lines().last().unwrap().parse().unwrap();
        assert!(limits.starts_with("0\n0\n") && files <= 65_536, "{limits}");
    });
}

#[test]
fn ordinary_tools_work() {
    everyone(|world| {
        let script = "set -e; export HOME=$PWD
            git init -q -b main . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
            git log --oneline | wc -l
            node -e 'console.log([1,2].map(x => x * 2).join())'
            diff <(echo a) <(echo a) && mktemp -d > /dev/null && id -un > /dev/null && date > /dev/null
            cat /etc/hosts | grep -c localhost > /dev/null && echo done";
        std::fs::create_dir(world.inside().join("tmp")).unwrap();
        world.give(&world.inside().join("tmp"));

        let output = world.output(&["bash".as_ref(), "-c".as_ref(), script.as_ref()]);

        assert_eq!(text(&output), "1\n2,4\ndone\n");
    });
}

#[test]
fn a_missing_folder_is_named() {
    everyone(|mut world| {
        world.spec.write.push("/nowhere/at/all".into());

        let output = world.shell("echo started");

        assert_eq!(text(&output), "cannot open the engine's folder `/nowhere/at/all`\n");
        assert_eq!(output.status.code(), Some(1));
    });
}

#[test]
fn a_missing_program_is_named() {
    everyone(|world| {
        let output = world.output(&["no-such-engine".as_ref()]);

        assert_eq!(text(&output), "cannot start `no-such-engine` behind the wall\n");
    });
}

#[test]
fn a_slip_in_the_arguments_is_named() {
    everyone(|world| {
        let mut command = world.outsider(world.program(WALLED).as_os_str());

        let output = command.arg(OsStr::new("--raed")).output().unwrap();

        assert_eq!(text(&output), "cannot read the arguments of `wall`: `--raed` is not known\n");
        assert_eq!(output.status.code(), Some(2));
    });
}
