//! Which calls to the kernel the engine may make: the seccomp filter.
//!
//! Landlock knows files and TCP. This closes what goes round it: other protocols, `io_uring`,
//! foreign processes, namespaces, mounts, and the foreign tongues of the kernel (32-bit and x32),
//! in which every number means another call. `connect`, and what else depends on more than numbers, goes to the broker.

use std::{collections::BTreeMap, io};

use libc::{c_int, c_long};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

use crate::wall::{
    kernel::{self, Listener},
    refused_calls::{ABSENT, FILE_COMMANDS, REFUSED, REQUESTS, SOCKET_OPTIONS},
};

/// What becomes of the engine's connections.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Connections {
    /// The broker makes them.
    Brokered,
    /// The engine makes them itself, so whatever Landlock cannot tell apart is refused.
    Direct,
}

/// Hands some calls of this thread, and of all that come after it, to whoever holds the listener.
pub(super) fn hand_over(calls: &[c_long]) -> Result<Listener, String> {
    let instruction = |code, jt, k| libc::sock_filter { code, jt, jf: 0, k };
    let mut program = vec![instruction(0x20, 0, 0)];
    for (place, call) in calls.iter().enumerate() {
        let number = u32::try_from(*call).map_err(|error| error.to_string())?;
        // To the last instruction, past the calls that follow and the one that allows.
        let distance = u8::try_from(calls.len() - place).map_err(|error| error.to_string())?;
        program.push(instruction(0x15, distance, number));
    }
    program.push(instruction(0x06, 0, libc::SECCOMP_RET_ALLOW));
    program.push(instruction(0x06, 0, libc::SECCOMP_RET_USER_NOTIF));
    kernel::hand_over(&mut program)
        .map_err(|error| format!("the kernel does not hand connections over: {error}"))
}

/// Puts the filter before this thread and all that come after it.
pub(super) fn filter(connections: Connections) -> Result<(), String> {
    let programs = programs(connections).map_err(|error| error.to_string())?;
    programs.iter().try_for_each(|program| seccompiler::apply_filter(program)).map_err(|error| match error {
        seccompiler::Error::Seccomp(error) if error.kind() == io::ErrorKind::InvalidInput => {
            "this kernel has no seccomp filters".to_owned()
        }
        other => format!("the seccomp filter was refused: {other}"),
    })
}

const NAMESPACES: [c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// The part of a socket's type that is not a flag.
const KIND: u64 = 0xf;

fn programs(connections: Connections) -> Result<[BpfProgram; 2], BackendError> {
    let refused = REFUSED.iter().map(|call| (*call, Vec::new()));
    let some = [
        (libc::SYS_socket, sockets(connections)?),
        (libc::SYS_socketpair, datagram_pairs()?),
        (libc::SYS_sendto, vec![with_flag(3, libc::MSG_FASTOPEN)?]),
        (libc::SYS_sendmsg, vec![with_flag(2, libc::MSG_FASTOPEN)?]),
        (libc::SYS_sendmmsg, vec![with_flag(3, libc::MSG_FASTOPEN)?]),
        (libc::SYS_setsockopt, socket_options()?),
        (libc::SYS_prctl, vec![waking_when_the_parent_ends()?]),
        (libc::SYS_clone, NAMESPACES.iter().map(|flag| with_flag(0, *flag)).collect::<Result<_, _>>()?),
        (libc::SYS_ioctl, requests()?),
        (libc::SYS_fcntl, file_commands()?),
        (libc::SYS_prlimit64, vec![unless_own(0)?]),
        (libc::SYS_sched_setaffinity, vec![unless_own(0)?]),
        (libc::SYS_sched_setscheduler, vec![unless_own(0)?]),
        (libc::SYS_sched_setparam, vec![unless_own(0)?]),
        (libc::SYS_sched_setattr, vec![unless_own(0)?]),
        (libc::SYS_setpriority, vec![unless_own(1)?, of_user(2)?]),
        (libc::SYS_ioprio_set, vec![unless_own(1)?, of_user(3)?]),
    ];
    let refusals = refusing(refused.chain(some).collect(), libc::EPERM)?;
    let absences = refusing(ABSENT.iter().map(|call| (*call, Vec::new())).collect(), libc::ENOSYS)?;
    Ok([own_tongue_only(refusals), absences])
}

fn refusing(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: c_int) -> Result<BpfProgram, BackendError> {
    let refusal = SeccompAction::Errno(errno.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, refusal, architecture)?.try_into()
}

/// Leaves TCP over IPv4 and IPv6, streams of unix sockets, and questions about the network's interfaces.
///
/// Unix sockets lead to daemons that do as they are told (Docker's is as good as root), and their
/// paths cannot be told apart here: without the broker there are none.
fn sockets(connections: Connections) -> Result<Vec<SeccompRule>, BackendError> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let [domain, kind, protocol] = [0, 1, 2];
    let mut families = vec![libc::AF_INET, libc::AF_INET6];
    families.extend((connections == Connections::Brokered).then_some(libc::AF_UNIX));
    let known = families.iter().chain(&[libc::AF_NETLINK]);
    let foreign: Vec<_> = known.map(|family| (domain, Ne, *family)).collect();
    let mut rules =
        vec![all(&foreign)?, all(&[(domain, Eq, libc::AF_NETLINK), (protocol, Ne, libc::NETLINK_ROUTE)])?];
    for family in families {
        rules.push(all(&[(domain, Eq, family), (protocol, Ne, 0), (protocol, Ne, libc::IPPROTO_TCP)])?);
        for other in (0..=0xf).filter(|kind| *kind != libc::SOCK_STREAM) {
            rules.push(all(&[(domain, Eq, family), (kind, MaskedEq(KIND), other)])?);
        }
    }
    Ok(rules)
}

/// A pair of streams is a pipe, but each end of a pair of datagrams can send to any address.
fn datagram_pairs() -> Result<Vec<SeccompRule>, BackendError> {
    let kinds = [libc::SOCK_DGRAM, libc::SOCK_RAW];
    kinds.iter().map(|kind| all(&[(1, SeccompCmpOp::MaskedEq(KIND), *kind)])).collect()
}

fn requests() -> Result<Vec<SeccompRule>, BackendError> {
    let rule = |request: &u64| SeccompRule::new(vec![condition(1, SeccompCmpOp::Eq, *request)?]);
    REQUESTS.iter().map(rule).collect()
}

fn file_commands() -> Result<Vec<SeccompRule>, BackendError> {
    FILE_COMMANDS.iter().map(|command| all(&[(1, SeccompCmpOp::Eq, *command)])).collect()
}

fn socket_options() -> Result<Vec<SeccompRule>, BackendError> {
    let rule = |(level, option): &(c_int, c_int)| {
        all(&[(1, SeccompCmpOp::Eq, *level), (2, SeccompCmpOp::Eq, *option)])
    };
    SOCKET_OPTIONS.iter().map(rule).collect()
}

/// A process that is stopped would go on when its parent is killed, as by a machine that runs out of memory.
fn waking_when_the_parent_ends() -> Result<SeccompRule, BackendError> {
    all(&[(0, SeccompCmpOp::Eq, libc::PR_SET_PDEATHSIG), (1, SeccompCmpOp::Eq, libc::SIGCONT)])
}

/// A process of the same user may be limited and slowed down to its end; whoever means itself says 0.
fn unless_own(argument: u8) -> Result<SeccompRule, BackendError> {
    all(&[(argument, SeccompCmpOp::Ne, 0)])
}

/// The kind of target, the first argument, that means all processes of a user.
fn of_user(kind: c_int) -> Result<SeccompRule, BackendError> {
    all(&[(0, SeccompCmpOp::Eq, kind)])
}

fn with_flag(argument: u8, flag: c_int) -> Result<SeccompRule, BackendError> {
    let mask = u64::from(flag.cast_unsigned());
    SeccompRule::new(vec![condition(argument, SeccompCmpOp::MaskedEq(mask), mask)?])
}

fn all(conditions: &[(u8, SeccompCmpOp, c_int)]) -> Result<SeccompRule, BackendError> {
    let conditions = conditions
        .iter()
        .cloned()
        .map(|(argument, operator, value)| condition(argument, operator, u64::from(value.cast_unsigned())));
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}

/// The kernel reads only the lower half of all the arguments that are compared here.
fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

/// Kills whoever calls by the numbers of x32, which pass for those of x86-64 but for one bit.
///
/// A wholly foreign architecture is killed by the check that every program here begins with.
fn own_tongue_only(program: BpfProgram) -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    let load_number = sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 };
    let skip_unless_x32 = sock_filter { code: 0x35, jt: 0, jf: 1, k: X32 };
    let kill = sock_filter { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_KILL_PROCESS };
    [load_number, skip_unless_x32, kill].into_iter().chain(program).collect()
}
