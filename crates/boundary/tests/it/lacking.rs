//! Kernels that lack a wall, played by a filter that makes the kernel deny having it.

use std::{collections::BTreeMap, thread};

use fro_boundary::{Strictness, probe};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::world::{everyone, text};

#[test]
fn without_landlock_no_engine_starts() {
    on_a_kernel_without(libc::SYS_landlock_create_ruleset, || {
        everyone(|world| {
            let output = world.shell("echo started");

            assert_eq!(text(&output), "cannot wall the engine in: this kernel has no Landlock\n");
            assert_eq!(output.status.code(), Some(2));
        });
    });
}

#[test]
fn without_seccomp_no_engine_starts() {
    on_a_kernel_without(libc::SYS_seccomp, || {
        everyone(|world| {
            let output = world.shell("echo started");

            insta::allow_duplicates! { insta::assert_snapshot!(text(&output), @"cannot wall the engine in: the seccomp filter was refused: Error calling `seccomp`: Function not implemented (os error 38)"); }
            assert_eq!(output.status.code(), Some(2));
        });
    });
}

#[test]
fn without_a_way_to_take_sockets_no_engine_starts() {
    on_a_kernel_without(libc::SYS_pidfd_getfd, || {
        everyone(|world| {
            let output = world.shell("echo started");

            insta::allow_duplicates! { insta::assert_snapshot!(text(&output), @"cannot wall the engine in: connections cannot be made in the engine's place: pidfd_getfd: Function not implemented (os error 38)"); }
            assert_eq!(output.status.code(), Some(2));
        });
    });
}

#[test]
fn without_the_broker_there_are_no_unix_sockets() {
    on_a_kernel_without(libc::SYS_pidfd_getfd, || {
        everyone(|mut world| {
            world.spec.strictness = Strictness::AllowUnwalled;

            let said = text(&world.python("import socket; socket.socket(socket.AF_UNIX)", &[]));

            assert!(said.ends_with("PermissionError: [Errno 1] Operation not permitted\n"), "{said}");
        });
    });
}

#[test]
fn the_operator_can_waive_a_wall_and_keeps_the_others() {
    on_a_kernel_without(libc::SYS_landlock_create_ruleset, || {
        everyone(|mut world| {
            world.spec.strictness = Strictness::AllowUnwalled;

            let status = text(&world.shell("grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status"));

            assert_eq!(status, "CapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n");
        });
    });
}

#[test]
fn the_summary_says_so() {
    on_a_kernel_without(libc::SYS_landlock_create_ruleset, || {
        let walls = probe().unwrap().to_string();
        assert!(walls.starts_with("no Landlock (this kernel has no Landlock), seccomp, "), "{walls}");
    });
    on_a_kernel_without(libc::SYS_seccomp, || {
        let walls = probe().unwrap().to_string();
        assert!(walls.contains("no seccomp ("), "{walls}");
    });
    on_a_kernel_without(libc::SYS_pidfd_getfd, || {
        let walls = probe().unwrap().to_string();
        assert!(walls.contains("connections by port only ("), "{walls}");
    });
}

/// Runs on a thread for which, and for whose children, the call does not exist.
fn on_a_kernel_without(call: i64, story: fn()) {
    thread::spawn(move || {
        let architecture = std::env::consts::ARCH.try_into().unwrap();
        let absent = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
        let rules = BTreeMap::from([(call, Vec::new())]);
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, absent, architecture).unwrap();
        seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
        story();
    })
    .join()
    .unwrap();
}
