//! What an attacker behind the wall can do: every attack of `attacks.py`, compared as a whole.

use std::{
    fs::Permissions,
    net::TcpListener,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
};

use fro_boundary::{Address, probe};
use fro_sim::ClaimedPort;
use rustix::{
    buffer::spare_capacity,
    fs::{XattrFlags, listxattr, setxattr},
};

use crate::world::{User, World, everyone, text};

#[test]
fn the_harness_s_secrets_are_out_of_sight() {
    everyone(|mut world| {
        let unseen = world.is_enclosed();
        let said = attacked(&mut world, "secrets");
        assert_eq!(said.matches("ENOENT").count(), if unseen { 3 } else { 0 }, "{said}");
        // Where the harness is out of sight, it is as if it were not there.
        insta::allow_duplicates! { insta::assert_snapshot!(said.replace("ENOENT", "EACCES"), @"
    the secret in the own environment: 0 hits
    the secret in any environment: 0 hits
    the secret in any command line: 0 hits
    the harness's environment: EACCES
    the harness's memory: EACCES
    the harness's folder: EACCES
    the secret file: EACCES
    the folder of the secret file: EACCES
    /etc/shadow: EACCES
    /dev/kmsg: EACCES
    "); }
    });
}

#[test]
fn files_end_at_the_own_folders() {
    everyone(|mut world| {
        // Nobody may link to what is another user's, wherever it lies.
        let said =
            attacked(&mut world, "files").replace("link the secret in: EPERM", "link the secret in: EXDEV");
        // In namespaces of its own it finds the whole machine read-only, and its own folder on another mount.
        let said = if world.is_enclosed() {
            said.replace("EROFS", "EACCES").replace("move a file out: EXDEV", "move a file out: EACCES")
        } else {
            said
        };
        insta::allow_duplicates! { insta::assert_snapshot!(said, @"
        write beside the secret: EACCES
        write to the secret: EACCES
        write to what is shown: EACCES
        write to /tmp: EACCES
        write to /usr/local/bin: EACCES
        write to /dev/shm: EACCES
        move a file out: EACCES
        link the secret in: EXDEV
        look at what is shown: 0 files
        write to the own folder: OPEN
        run a program of the own folder: works
        "); }
    });
}

#[test]
fn the_network_ends_at_the_own_ports() {
    everyone(|mut world| {
        insta::allow_duplicates! { insta::assert_snapshot!(attacked(&mut world, "network"), @"
    connect to the allowed port: OPEN
    connect to another port: EACCES
    connect to another port by MPTCP: EPERM
    connect to another port by fast open: EPERM
    connect to the own port: EACCES
    listen on the own port: OPEN
    listen on another port: EACCES
    listen without a port: EACCES
    listen on the own port of every address: EACCES
    listen and answer on the own port: works
    listen on a unix socket: works
    lead a connection through another host: EPERM
    lead it through another host over IPv6: EPERM
    lead it through another host as of old: EPERM
    lead it through a device: EPERM
    lead it through a device by number: EPERM
    connect with the first data: EPERM
    connect with data and without a cookie: EPERM
    connect without delay: works
    udp: EPERM
    udp over IPv6: EPERM
    raw IP: EPERM
    AF_PACKET: EPERM
    AF_VSOCK: EPERM
    AF_ALG: EPERM
    unix stream: works
    unix datagram: EPERM
    unix packets: EPERM
    unix datagram pair: EPERM
    unix stream pair: works
    netlink for routes: works
    netlink for audit: EPERM
    "); }
    });
}

#[test]
fn the_kernel_is_out_of_reach() {
    everyone(|mut world| {
        insta::allow_duplicates! { insta::assert_snapshot!(attacked(&mut world, "kernel"), @"
    ptrace of the harness: EPERM
    process_vm_readv: EPERM
    pidfd_getfd: EPERM
    io_uring_setup: EPERM
    unshare of the user: EPERM
    clone into a new user: EPERM
    clone3: ENOSYS
    setns: EPERM
    mount: EPERM
    a tree of mounts: EPERM
    chroot: EPERM
    open_by_handle_at: EPERM
    bpf: EPERM
    perf_event_open: EPERM
    keyctl: EPERM
    userfaultfd: EPERM
    x32: killed
    32 bits: killed
    become another user: EPERM
    give a file away: EPERM
    "); }
    });
}

#[test]
fn other_processes_are_left_alone() {
    everyone(|mut world| {
        insta::allow_duplicates! { insta::assert_snapshot!(attacked(&mut world, "processes"), @"
        limit the harness: EPERM
        limit oneself: works
        the harness's priority: EPERM
        the priority of all of the user's: EPERM
        the own priority: works
        the harness's processors: EPERM
        the own processors: works
        the harness's schedule: EPERM
        the harness's schedule by parameter: EPERM
        the harness's schedule by attributes: EPERM
        the harness's input and output: EPERM
        the input and output of all of the user's: EPERM
        shared memory: ENOSYS
        messages: ENOSYS
        semaphores: ENOSYS
        a queue: ENOSYS
        a timer that wakes whoever is stopped: ENOSYS
        a signal of one's own choice for a file: EPERM
        a lease that holds up whoever opens a file: EPERM
        a lease as newer kernels give it: EPERM
        to be woken by the parent's end: EPERM
        to be ended by the parent's end: works
        another command about the own file: works
        "); }
    });
}

#[test]
fn what_is_known_about_foreign_files_stays_as_it_is() {
    everyone(|mut world| {
        let file = world.shown().join("file");
        std::fs::write(&file, "words").unwrap();
        setxattr(&file, "user.planted", b"x", XattrFlags::empty()).unwrap();
        world.give(&file);
        let files = [world.outside(), world.secret_file(), world.shown(), file];
        let known = || files.each_ref().map(|path| known(path));
        let before = known();

        insta::allow_duplicates! { insta::assert_snapshot!(attacked(&mut world, "about"), @"
        mode of the secret: EROFS
        mode of the secret's folder: EROFS
        mode by another call: EROFS
        mode by a handle: EROFS
        mode by a link: EROFS
        mode by a way round: EROFS
        mode of what is shown: EROFS
        times of the secret: EROFS
        times of what is shown: EROFS
        owner of the secret: EROFS
        attribute of the secret: EROFS
        attribute of what is shown: EROFS
        no attribute of what is shown: EROFS
        attribute by a new call: ENOSYS
        flags of what is shown: EPERM
        flags by a new call: ENOSYS
        watch the secret's folder: EROFS
        watch what is shown: EROFS
        watch what is shown by the old way: EPERM
        watch the own folder: works
        watch the own folder by its name: works
        the own files: 741 2 6 4000000001 user.name
        "); }
        assert_eq!(known(), before);
    });
}

/// Mode, owner, times and attributes of a file.
fn known(path: &Path) -> (u32, u32, u32, i64, Vec<u8>) {
    let about = std::fs::metadata(path).unwrap();
    let mut names = Vec::with_capacity(4096);
    listxattr(path, spare_capacity(&mut names)).unwrap();
    (about.mode(), about.uid(), about.gid(), about.mtime(), names)
}

#[test]
fn no_capability_is_left() {
    everyone(|world| {
        // Only root may empty the bounding set, which means nothing without new privileges.
        let emptied = world.user == User::Root || world.is_enclosed();
        let lines = "CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Seccomp";

        let status = text(&world.shell(&format!("grep -E '^({lines}):' /proc/self/status")));

        let bounding = "CapBnd:\t0000000000000000\n";
        assert_eq!(status.contains(bounding), emptied, "{status}");
        let full = status.lines().find(|line| line.starts_with("CapBnd")).map(|line| format!("{line}\n"));
        let status = status.replace(&full.unwrap_or_default(), "");
        insta::allow_duplicates! { insta::assert_snapshot!(status, @"
        CapInh:	0000000000000000
        CapPrm:	0000000000000000
        CapEff:	0000000000000000
        CapAmb:	0000000000000000
        NoNewPrivs:	1
        Seccomp:	2
        "); }
    });
}

#[test]
fn a_setuid_copy_of_id_gains_nothing() {
    everyone(|world| {
        let copy = world.inside().join("id");
        std::fs::copy("/usr/bin/id", &copy).unwrap();
        std::fs::set_permissions(&copy, Permissions::from_mode(0o4755)).unwrap();

        let plain = text(&world.shell("id -u; grep CapEff /proc/self/status"));
        let raised = text(&world.shell("./id -u; grep CapEff /proc/self/status"));

        assert_eq!(plain, raised);
        assert!(raised.ends_with("CapEff:\t0000000000000000\n"), "{raised}");
    });
}

#[test]
fn the_harness_and_the_supervisor_cannot_be_signalled() {
    let scoped = probe().unwrap().landlock().is_some_and(|version| version >= 6);
    everyone(|world| {
        let script =
            format!("for process in {} $PPID; do kill -0 $process && echo open; done", world.harness());

        let said = text(&world.shell(&script));

        assert_eq!(said.matches("open").count(), if scoped { 0 } else { 2 }, "{said}");
    });
}

fn attacked(world: &mut World, group: &str) -> String {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [allowed, other] = listeners.each_ref().map(|listener| listener.local_addr().unwrap().port());
    let own = ClaimedPort::find();
    world.spec.connect.push(Address::Tcp(([127, 0, 0, 1], allowed).into()));
    world.spec.listen.push(own.number);
    let folders = [world.outside(), world.secret_file(), world.shown()];
    let [outside, secret, shown] = folders.map(|path| path.display().to_string());
    let numbers =
        [world.harness(), allowed.into(), other.into(), own.number.into()].map(|number| number.to_string());
    let [harness, allowed, other, own] = &numbers;
    let arguments = [group, &outside, &secret, &shown, harness, allowed, other, own];
    text(&world.python(include_str!("attacks.py"), &arguments))
}
