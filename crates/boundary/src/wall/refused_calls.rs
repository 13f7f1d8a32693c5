//! Calls to the kernel that nobody behind the wall may make, and what of others is refused.

use libc::{c_int, c_long};

/// Refused whatever their arguments are.
pub(super) const REFUSED: &[c_long] = &[
    // Other processes: their memory, their open files.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // A second road for every other call, past this filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other views of the machine.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_chroot,
    libc::SYS_pivot_root,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    // `open_tree_attr`.
    467,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    // Keys of the user's session, which no folder shows.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_syslog,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// As if the kernel had none of them, so that programs fall back to something else.
pub(super) const ABSENT: &[c_long] = &[
    // Its flags lie in memory, where a filter cannot look. The other way is `clone`.
    libc::SYS_clone3,
    // Files by new names: `setxattrat`, `removexattrat`, `file_setattr`. The older calls can be judged.
    463,
    466,
    469,
    // What processes of a user share without any file.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Whoever is stopped wakes up by a timer whose signal is SIGCONT. `setitimer` knows only signals that wake nobody.
    libc::SYS_timer_create,
];

/// Commands about an open file that reach others. A lease holds up whoever opens the file, for most of a minute; a
/// signal of one's own choice for what happens to a file could be SIGCONT, which wakes whoever is stopped; and watching a
/// folder was done like this before inotify, which the broker decides on.
pub(super) const FILE_COMMANDS: [c_int; 4] = [libc::F_SETLEASE, F_SETDELEG, F_SETSIG, libc::F_NOTIFY];

/// `libc` has no name for it.
const F_SETSIG: c_int = 10;

/// The lease of Linux 6.19, which folders can have, too.
const F_SETDELEG: c_int = 1040;

/// Options of a socket, with their levels, that send its packets another way than to the address that the broker looked
/// at: a route through hosts of one's own choice (of IPv4, of IPv6 by its new and old names), a network device, and a
/// connection that is made only with the first data, after the broker's look.
pub(super) const SOCKET_OPTIONS: [(c_int, c_int); 10] = [
    (libc::IPPROTO_IP, libc::IP_OPTIONS),
    (libc::IPPROTO_IP, libc::IP_UNICAST_IF),
    (libc::IPPROTO_IPV6, libc::IPV6_RTHDR),
    (libc::IPPROTO_IPV6, libc::IPV6_2292RTHDR),
    (libc::IPPROTO_IPV6, libc::IPV6_2292PKTOPTIONS),
    (libc::IPPROTO_IPV6, libc::IPV6_UNICAST_IF),
    (libc::SOL_SOCKET, libc::SO_BINDTODEVICE),
    (libc::SOL_SOCKET, SO_BINDTOIFINDEX),
    (libc::IPPROTO_TCP, libc::TCP_FASTOPEN_CONNECT),
    (libc::IPPROTO_TCP, libc::TCP_FASTOPEN_NO_COOKIE),
];

/// `libc` has no name for it.
const SO_BINDTOIFINDEX: c_int = 62;

/// Requests about an open file that change it though it was opened for reading only: flags, attributes, version,
/// verity, encryption. After them, requests that type into a terminal in its user's name: `TIOCSTI` and `TIOCLINUX`.
pub(super) const REQUESTS: [u64; 8] =
    [0x4008_6602, 0x4004_6602, 0x401c_5820, 0x4008_7602, 0x4080_6685, 0x800c_6613, 0x5412, 0x541c];
