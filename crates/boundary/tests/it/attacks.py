"""Attacks from behind the wall; prints one line for each of a group: its name and what came of it."""
import ctypes, errno, fcntl, glob, mmap, os, platform, shutil, signal, socket, subprocess, sys

group, outside, secret_file, shown = sys.argv[1:5]
harness, allowed, other, listen = map(int, sys.argv[5:9])
libc = ctypes.CDLL(None, use_errno=True)
SECRET = b"plan" + b"ted-"

# The numbers of the calls on x86-64 and on 64-bit ARM.
CALLS = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "pidfd_getfd": (438, 438),
    "io_uring_setup": (425, 425),
    "unshare": (272, 97),
    "clone": (56, 220),
    "clone3": (435, 435),
    "setns": (308, 268),
    "mount": (165, 40),
    "open_by_handle_at": (304, 265),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "keyctl": (250, 219),
    "userfaultfd": (323, 282),
    "prlimit64": (302, 261),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    "rt_sigqueueinfo": (129, 138),
    "pidfd_send_signal": (424, 424),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "timer_create": (222, 107),
    "fchmodat2": (452, 452),
    "setxattrat": (463, 463),
    "file_setattr": (469, 469),
    "open_tree_attr": (467, 467),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
}


def told(name, attack):
    try:
        outcome = attack()
        print(f"{name}: {'OPEN' if outcome is None else outcome}")
    except OSError as error:
        print(f"{name}: {errno.errorcode[error.errno]}")


def call(name, *arguments):
    number = CALLS[name][platform.machine() == "aarch64"]
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(word) for word in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


def pointed(value):
    """Keeps what is pointed to for as long as this program runs."""
    KEPT.append(value)
    return ctypes.addressof(value)


KEPT = []


def words(text):
    return pointed(ctypes.create_string_buffer(text.encode()))


def signal_by_handle():
    call("pidfd_send_signal", os.pidfd_open(harness), 0, 0, 0)


def limit():
    call("prlimit64", harness, 0, pointed((ctypes.c_ulong * 2)(1, 1)), 0)


def set_scheduling(name):
    room = pointed((ctypes.c_uint * 14)(56 if name == "sched_setattr" else 0))
    call(name, harness, *([room, 0] if name == "sched_setattr" else [0, room] if name == "sched_setscheduler" else [room]))


def watch(path):
    watcher = libc.inotify_init1(0)
    if libc.inotify_add_watch(watcher, path.encode(), 0x3CE) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    os.set_blocking(watcher, False)
    open("watched", "w").close()
    try:
        return "works" if len(os.read(watcher, 4096)) > 0 else "silent"
    except BlockingIOError:
        return "OPEN"


def open_only(path, deed):
    file = os.open(path, os.O_RDONLY)
    try:
        deed(file)
    finally:
        os.close(file)


def by_handle(path, deed):
    """Past the open files: a handle that names a file without a right to read it."""
    file = os.open(path, os.O_PATH)
    try:
        deed(f"/proc/self/fd/{file}")
    finally:
        os.close(file)


def flags(file):
    room = (ctypes.c_long * 1)(0x80)
    fcntl.ioctl(file, 0x40086602, room)


def attributes_of_own():
    open("own", "w").close()
    os.symlink("own", "way")
    os.chmod("own", 0o640)
    with open("own") as file:
        os.fchmod(file.fileno(), 0o751)
        os.utime(file.fileno(), (1, 2))
        before = os.stat("own")
        os.setxattr(file.fileno(), "user.mark", b"inner")
    call("fchmodat2", -100, words("own"), 0o750, 0x100)
    os.chmod(f"{os.getcwd()}/way", 0o740)
    os.utime("way", ns=(3, 4_000_000_001), follow_symlinks=False)
    os.chown("way", -1, os.getgid())
    os.setxattr("own", "user.name", b"value")
    os.removexattr("own", "user.mark")
    by_handle("own", lambda path: os.chmod(path, 0o741))
    folder = os.open(".", os.O_RDONLY)
    os.utime("own", (5, 6), dir_fd=folder)
    os.chown("own", os.getuid(), os.getgid(), dir_fd=folder)
    after, link = os.stat("own"), os.lstat("way")
    told = [oct(after.st_mode)[-3:], int(before.st_mtime), int(after.st_mtime), link.st_mtime_ns, *os.listxattr("own")]
    return " ".join(map(str, told))


def listen_anywhere(address=None, reached=None):
    opened = socket.socket()
    if address:
        opened.bind(address)
    opened.listen()


def listen_on_a_path():
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind("socket")
        opened.listen()
    return "works"


def listen_and_answer():
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    opened.bind(("127.0.0.1", listen))
    opened.listen()
    return "works"


def dies(deed):
    child = os.fork()
    if child == 0:
        deed()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return "killed" if os.WIFSIGNALED(status) else "OPEN"


def seen(pattern):
    hits = 0
    for path in glob.glob(pattern):
        try:
            hits += SECRET in open(path, "rb").read()
        except OSError:
            pass
    return f"{hits} hits"


def connect(port, address="127.0.0.1", protocol=0):
    socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol).connect((address, port))


def fast_open(port):
    socket.socket().sendto(b"x", socket.MSG_FASTOPEN, ("127.0.0.1", port))


# To 127.0.0.1, but by way of 127.0.0.2; and a header with one host to go through, which is ::1.
SOURCE_ROUTE = bytes([131, 7, 4, 127, 0, 0, 2, 0])
ROUTE_HEADER = bytes([0, 2, 4, 0, 0, 0, 0, 0]) + bytes(15) + b"\1"


def connect_with(option):
    with socket.socket(socket.AF_INET6 if option[0] == socket.IPPROTO_IPV6 else socket.AF_INET) as opened:
        opened.setsockopt(*option)
        if opened.family == socket.AF_INET:
            opened.connect(("127.0.0.1", allowed))


def bind(port):
    socket.socket().bind(("127.0.0.1", port))


def write(path):
    with open(path, "a") as file:
        file.write("x")


def foreign_tongue():
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("b814000000cd80c3"))  # getpid by the 32-bit gate
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()


def own_program():
    shutil.copy("/bin/true", "program")
    return "works" if subprocess.run(["./program"]).returncode == 0 else "refused"


def secrets():
    told("the secret in the own environment", lambda: f"{sum(SECRET in value for value in os.environb.values())} hits")
    told("the secret in any environment", lambda: seen("/proc/[0-9]*/environ"))
    told("the secret in any command line", lambda: seen("/proc/[0-9]*/cmdline"))
    told("the harness's environment", lambda: open(f"/proc/{harness}/environ").close())
    told("the harness's memory", lambda: open(f"/proc/{harness}/mem").close())
    told("the harness's folder", lambda: os.listdir(f"/proc/{harness}/cwd/"))
    told("the secret file", lambda: open(secret_file).close())
    told("the folder of the secret file", lambda: os.listdir(outside))
    told("/etc/shadow", lambda: open("/etc/shadow").close())
    told("/dev/kmsg", lambda: open("/dev/kmsg").close())


def files():
    told("write beside the secret", lambda: write(outside + "/new"))
    told("write to the secret", lambda: write(secret_file))
    told("write to what is shown", lambda: write(shown + "/new"))
    told("write to /tmp", lambda: write("/tmp/fro-bot-was-here"))
    told("write to /usr/local/bin", lambda: write("/usr/local/bin/fro-bot-was-here"))
    told("write to /dev/shm", lambda: write("/dev/shm/fro-bot-was-here"))
    told("move a file out", lambda: (write("mine"), os.rename("mine", outside + "/mine")) and None)
    told("link the secret in", lambda: os.link(secret_file, "linked"))
    told("look at what is shown", lambda: f"{len(os.listdir(shown))} files")
    told("write to the own folder", lambda: write("mine"))
    told("run a program of the own folder", own_program)


def network():
    told("connect to the allowed port", lambda: connect(allowed))
    told("connect to another port", lambda: connect(other))
    told("connect to another port by MPTCP", lambda: connect(other, protocol=262))
    told("connect to another port by fast open", lambda: fast_open(other))
    told("connect to the own port", lambda: connect(listen))
    told("listen on the own port", lambda: bind(listen))
    told("listen on another port", lambda: bind(other + 1))
    told("listen without a port", lambda: listen_anywhere())
    told("listen on the own port of every address", lambda: listen_anywhere(("0.0.0.0", listen)))
    told("listen and answer on the own port", listen_and_answer)
    told("listen on a unix socket", listen_on_a_path)
    told("lead a connection through another host", lambda: connect_with((socket.IPPROTO_IP, 4, SOURCE_ROUTE)))
    told("lead it through another host over IPv6", lambda: connect_with((socket.IPPROTO_IPV6, 57, ROUTE_HEADER)))
    told("lead it through another host as of old", lambda: connect_with((socket.IPPROTO_IPV6, 5, ROUTE_HEADER)))
    told("lead it through a device", lambda: connect_with((socket.SOL_SOCKET, 25, b"lo")))
    told("lead it through a device by number", lambda: connect_with((socket.SOL_SOCKET, 62, 1)))
    told("connect with the first data", lambda: connect_with((socket.IPPROTO_TCP, 30, 1)))
    told("connect with data and without a cookie", lambda: connect_with((socket.IPPROTO_TCP, 34, 1)))
    told("connect without delay", lambda: connect_with((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)) or "works")
    told("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close())
    told("udp over IPv6", lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).close())
    told("raw IP", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close())
    told("AF_PACKET", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close())
    told("AF_VSOCK", lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close())
    told("AF_ALG", lambda: socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET).close())
    told("unix stream", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) and "works")
    told("unix datagram", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).close())
    told("unix packets", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).close())
    told("unix datagram pair", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) and None)
    told("unix stream pair", lambda: socket.socketpair() and "works")
    told("netlink for routes", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) and "works")
    told("netlink for audit", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9).close())


def kernel():
    told("ptrace of the harness", lambda: call("ptrace", 16, harness, 0, 0))
    told("process_vm_readv", lambda: call("process_vm_readv", harness, 0, 0, 0, 0, 0))
    told("pidfd_getfd", lambda: call("pidfd_getfd", 0, 0, 0))
    told("io_uring_setup", lambda: call("io_uring_setup", 8, 0))
    told("unshare of the user", lambda: call("unshare", 0x10000000))
    told("clone into a new user", lambda: call("clone", 0x10000000 | 17, 0, 0, 0, 0))
    told("clone3", lambda: call("clone3", 0, 0))
    told("setns", lambda: call("setns", 0, 0))
    told("mount", lambda: call("mount", 0, 0, 0, 0, 0))
    told("a tree of mounts", lambda: call("open_tree_attr", -100, words("/"), 1, 0, 0))
    told("chroot", lambda: os.chroot("."))
    told("open_by_handle_at", lambda: call("open_by_handle_at", 0, 0, 0))
    told("bpf", lambda: call("bpf", 0, 0, 0))
    told("perf_event_open", lambda: call("perf_event_open", 0, 0, -1, -1, 0))
    told("keyctl", lambda: call("keyctl", 0, -3, 0))
    told("userfaultfd", lambda: call("userfaultfd", 0))
    told("x32", lambda: dies(lambda: libc.syscall(ctypes.c_long(0x40000000 + 39))))
    told("32 bits", lambda: dies(foreign_tongue))
    told("become another user", lambda: os.setuid(1 if os.getuid() != 1 else 2))
    told("give a file away", lambda: (write("mine"), os.chown("mine", 1, 1)) and None)


def processes():
    told("limit the harness", limit)
    told("limit oneself", lambda: call("prlimit64", 0, 7, 0, pointed((ctypes.c_ulong * 2)())) or "works")
    told("the harness's priority", lambda: os.setpriority(os.PRIO_PROCESS, harness, 19))
    told("the priority of all of the user's", lambda: os.setpriority(os.PRIO_USER, 0, 19))
    told("the own priority", lambda: os.nice(1) and "works")
    told("the harness's processors", lambda: os.sched_setaffinity(harness, [0]))
    told("the own processors", lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)) or "works")
    told("the harness's schedule", lambda: set_scheduling("sched_setscheduler"))
    told("the harness's schedule by parameter", lambda: set_scheduling("sched_setparam"))
    told("the harness's schedule by attributes", lambda: set_scheduling("sched_setattr"))
    told("the harness's input and output", lambda: call("ioprio_set", 1, harness, 0x6000))
    told("the input and output of all of the user's", lambda: call("ioprio_set", 3, os.getuid(), 0x6000))
    told("shared memory", lambda: call("shmget", 0x5EC, 4096, 0o1600))
    told("messages", lambda: call("msgget", 0x5EC, 0o1600))
    told("semaphores", lambda: call("semget", 0x5EC, 1, 0o1600))
    told("a queue", lambda: call("mq_open", words("fro-bot"), 0o102, 0o600, 0))
    told("a timer that wakes whoever is stopped", lambda: call("timer_create", 1, event(signal.SIGCONT), room(8)))
    told("a signal of one's own choice for a file", lambda: open_own(fcntl.F_SETSIG, signal.SIGCONT))
    told("a lease that holds up whoever opens a file", lambda: open_own(fcntl.F_SETLEASE, fcntl.F_RDLCK))
    told("a lease as newer kernels give it", lambda: open_own(1040, bytes(8)))
    told("to be woken by the parent's end", lambda: at_the_parents_end(signal.SIGCONT))
    told("to be ended by the parent's end", lambda: at_the_parents_end(signal.SIGTERM) or at_the_parents_end(0) or "works")
    told("another command about the own file", lambda: open_own(fcntl.F_SETFD, 0) or "works")


def room(size):
    return pointed(ctypes.create_string_buffer(size))


def event(number):
    """What `timer_create` takes: a value, a signal, and that it is sent."""
    return pointed((ctypes.c_int * 16)(0, 0, number, 0))


def open_own(command, argument):
    write("leased")
    with open("leased") as file:
        fcntl.fcntl(file, command, argument)


def at_the_parents_end(number):
    if libc.prctl(1, ctypes.c_ulong(number), 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "refused")


def watch_as_of_old(path):
    folder = os.open(path, os.O_RDONLY)
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_MODIFY | fcntl.DN_MULTISHOT)


def about():
    """What is known about files that are not the engine's; the folder that is shown may be read, too."""
    file = shown + "/file"
    told("mode of the secret", lambda: os.chmod(secret_file, 0o644))
    told("mode of the secret's folder", lambda: os.chmod(outside, 0o777))
    told("mode by another call", lambda: call("fchmodat2", -100, words(secret_file), 0o644, 0))
    told("mode by a handle", lambda: by_handle(secret_file, lambda path: os.chmod(path, 0o644)))
    told("mode by a link", lambda: (os.symlink(secret_file, "link"), os.chmod("link", 0o644)) and None)
    told("mode by a way round", lambda: os.chmod(f"{os.getcwd()}/../outside/secret", 0o644))
    told("mode of what is shown", lambda: open_only(file, lambda file: os.fchmod(file, 0o666)))
    told("times of the secret", lambda: os.utime(secret_file, (1, 1)))
    told("times of what is shown", lambda: open_only(file, lambda file: os.utime(file, (1, 1))))
    told("owner of the secret", lambda: os.chown(secret_file, -1, os.getgid()))
    told("attribute of the secret", lambda: os.setxattr(secret_file, "user.mark", b"x"))
    told("attribute of what is shown", lambda: open_only(file, lambda file: os.setxattr(file, "user.mark", b"x")))
    told("no attribute of what is shown", lambda: os.removexattr(file, "user.planted"))
    told("attribute by a new call", lambda: call("setxattrat", -100, words(secret_file), 0, words("user.x"), 0, 0))
    told("flags of what is shown", lambda: open_only(file, flags))
    told("flags by a new call", lambda: call("file_setattr", -100, words(file), 0, 0, 0))
    told("watch the secret's folder", lambda: watch(outside))
    told("watch what is shown", lambda: watch(shown))
    told("watch what is shown by the old way", lambda: watch_as_of_old(shown))
    told("watch the own folder", lambda: watch("."))
    told("watch the own folder by its name", lambda: watch(os.getcwd()))
    told("the own files", attributes_of_own)


globals()[group]()
