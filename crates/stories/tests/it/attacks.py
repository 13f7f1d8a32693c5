# Attempts to get out of the wall, from the engine's own shell. Prints a line for each: OPEN or closed.
import ctypes, errno, fcntl, os, re, signal, socket, subprocess, sys

story, event, home = sys.argv[1], sys.argv[2], sys.argv[3]
other, other_udp, victim = (int(number) for number in sys.argv[4:7])
libc = ctypes.CDLL(None, use_errno=True)
SECRET = b"plan" + b"ted-"


class Closed(Exception):
    pass


def attempt(name, deed):
    try:
        outcome = deed()
        print(f"{name}: OPEN" if outcome is not False else f"{name}: closed")
    except Closed as reason:
        print(f"{name}: closed ({reason})")
    except OSError as error:
        print(f"{name}: closed ({errno.errorcode.get(error.errno, error)})")
    except Exception as error:
        print(f"{name}: closed ({type(error).__name__})")


def call(number, *arguments):
    result = libc.syscall(number, *arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), "")
    return result


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def command_line(pid):
    try:
        return open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0")
    except OSError:
        return []


def above():
    """The processes that led to this one. Another run of the same user has an engine and a harness of its own."""
    pid = os.getpid()
    while pid > 0:
        yield pid
        with open(f"/proc/{pid}/stat") as stat:
            pid = int(stat.read().rsplit(")", 1)[1].split()[1])


def first(wanted):
    for pid in above():
        line = command_line(pid)
        if len(line) > 1 and wanted(line):
            return pid
    raise Closed("not to be seen")


def others():
    """The processes outside the wall that are seen: the harness, and somebody who has nothing to do with it."""
    harness = lambda line: line[0].endswith(b"fro-bot") and line[1] == b"action"
    stranger = lambda line: line[0].endswith(b"sleep") and line[1] == b"600"
    return [pid for pid in processes() if len(command_line(pid)) > 1 and (harness(command_line(pid)) or stranger(command_line(pid)))]


try:
    harness = first(lambda line: line[0].endswith(b"fro-bot") and line[1] == b"action")
except Closed:
    harness = None
# Where the harness is out of sight, its supervisor is the nearest thing.
nearest = harness or 1
engine = first(lambda line: b"serve" in line and b"opencode" in line[0])
proxy = int(re.search(r"http://127\.0\.0\.1:(\d+)", os.environ["OPENCODE_CONFIG_CONTENT"]).group(1))
engine_port = int(re.search(rb"--port[= \0](\d+)", b"\0".join(command_line(engine))).group(1))
gh_socket = open(os.path.join(os.environ["GH_CONFIG_DIR"], "config.yml")).read().split(": ")[1].strip()


def read(path):
    return lambda: open(path, "rb").read(1)


def append(path):
    return lambda: open(path, "ab").write(b"x") and None


def holds_secret(path):
    return lambda: SECRET in open(path, "rb").read()


def connect(host, port, kind=socket.SOCK_STREAM, protocol=0):
    def deed():
        with socket.socket(socket.AF_INET, kind, protocol) as opened:
            opened.settimeout(5)
            try:
                opened.connect((host, port))
            except ConnectionRefusedError:
                pass  # Nobody listens there, but the wall let it through.

    return deed


def fast_open():
    with socket.socket() as opened:
        opened.sendto(b"x", 0x20000000, ("127.0.0.1", other))


def udp(host):
    def deed():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
            opened.sendto(b"x", (host, other_udp))

    return deed


def unix(path):
    def deed():
        with socket.socket(socket.AF_UNIX) as opened:
            opened.connect(path)

    return deed


def make(family, kind=socket.SOCK_STREAM):
    return lambda: socket.socket(family, kind).close()


def bind():
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 5999))
        opened.listen()


def setuid():
    said = subprocess.run(["./suid-id", "-u"], capture_output=True, text=True).stdout.strip()
    return said not in ("", str(os.getuid()))


def vm_read():
    room = ctypes.create_string_buffer(8)
    local = (ctypes.c_size_t * 2)(ctypes.addressof(room), 8)
    remote = (ctypes.c_size_t * 2)(0x400000, 8)
    call(310, nearest, local, 1, remote, 1, 0)


attempt("/proc/harness/environ", read(f"/proc/{nearest}/environ"))
attempt("/proc/harness/mem", read(f"/proc/{nearest}/mem"))
attempt("/proc/harness/cmdline", lambda: bool(harness and command_line(harness)))
attempt("process list", lambda: bool(others()))
attempt("/proc/harness/fd", lambda: os.listdir(f"/proc/{harness}/fd"))
attempt("ptrace attach", lambda: call(101, 16, nearest, 0, 0))
attempt("process_vm_readv", vm_read)
attempt("kill(harness, 0)", lambda: os.kill(nearest, 0))
attempt("SIGTERM to a process of the same user", lambda: os.kill(victim, signal.SIGTERM))
attempt("a secret in the own environment", lambda: any(SECRET in value for value in os.environb.values()))
attempt("a secret in the engine's environment", holds_secret(f"/proc/{engine}/environ"))
attempt("read the event", read(event))
attempt("read state", read(f"{story}/runner/state"))
attempt("read command", read(f"{story}/runner/command"))
attempt("read output", read(f"{story}/runner/output"))
attempt("read the checkout's .git/config", read(f"{story}/garden/.git/config"))
attempt("read ~/.ssh", read(f"{home}/.ssh/id_rsa"))
attempt("read another's temporary file", read(f"{story}/runner/temporary"))
attempt("append to state", append(f"{story}/runner/state"))
attempt("append to command", append(f"{story}/runner/command"))
attempt("append to the checkout's .git/config", append(f"{story}/garden/.git/config"))
attempt("append to an action's script", append(f"{story}/runner/action.js"))
attempt("list RUNNER_TEMP", lambda: os.listdir(f"{story}/temp"))
attempt("read /etc/shadow", read("/etc/shadow"))
attempt("read ~root/.profile", read(os.path.expanduser("~root/.profile")))
attempt("write ~/.bashrc", append(f"{home}/.bashrc"))
attempt("write /usr/local/bin/x", append("/usr/local/bin/fro-bot-attack"))
attempt("tcp to the model proxy", connect("127.0.0.1", proxy))
attempt("tcp to another port", connect("127.0.0.1", other))
attempt("tcp to another port by MPTCP", connect("127.0.0.1", other, protocol=262))
attempt("tcp to another port by fast open", fast_open)
attempt("tcp to another address", connect("127.0.0.2", other))
attempt("tcp to the proxy's port elsewhere", connect("127.0.0.2", proxy))
attempt("udp on this machine", udp("127.0.0.1"))
attempt("udp to another address", udp("192.0.2.1"))
attempt("a daemon's unix socket", unix(f"{story}/docker.sock"))
attempt("an abstract unix socket", unix("\0" + story))
attempt("the broker's unix socket", unix(gh_socket))
attempt("the engine's own API", connect("127.0.0.1", engine_port))
attempt("the engine's password", lambda: bool(os.environ.get("OPENCODE_SERVER_PASSWORD")))
attempt("AF_VSOCK", make(socket.AF_VSOCK))
attempt("AF_PACKET", make(socket.AF_PACKET, socket.SOCK_RAW))
attempt("io_uring_setup", lambda: call(425, 1, ctypes.create_string_buffer(120)))
attempt("listen on another port", bind)
attempt("a setuid program", setuid)
attempt("unshare of the user", lambda: call(272, 0x10000000))


def listen_without_a_port():
    with socket.socket() as opened:
        opened.listen()


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")


def queue_a_signal():
    checked(libc.sigqueue(victim, 0, ctypes.c_void_p(0)))


def limit():
    checked(libc.prlimit(victim, 0, (ctypes.c_ulong * 2)(1, 1), None))


def watch(path):
    checked(libc.inotify_add_watch(libc.inotify_init1(0), path.encode(), 0x3CE))


def change_open_file(deed):
    """Of a file that may be read and is the user's own, but not the engine's."""
    def attempted():
        with open(readable, "rb") as file:
            deed(file.fileno())

    return attempted


# The program that runs is one of the files that the engine may read.
readable = os.readlink(f"/proc/{engine}/exe")
attempt("listen without a port", listen_without_a_port)
attempt("queue a signal", queue_a_signal)
attempt("signal by a handle", lambda: signal.pidfd_send_signal(os.pidfd_open(victim), 0))
attempt("limit another process", limit)
attempt("another process's priority", lambda: os.setpriority(os.PRIO_PROCESS, victim, 19))
attempt("the priority of all of the user's", lambda: os.setpriority(os.PRIO_USER, 0, 19))
attempt("another process's processors", lambda: os.sched_setaffinity(victim, [0]))
attempt("another process's schedule", lambda: os.sched_setscheduler(victim, os.SCHED_BATCH, os.sched_param(0)))
attempt("another process's input and output", lambda: call(251, 1, victim, 0x6000))
attempt("shared memory", lambda: call(29, 0x5EC, 4096, 0o1600))
attempt("messages", lambda: call(68, 0x5EC, 0o1600))
attempt("semaphores", lambda: call(64, 0x5EC, 1, 0o1600))
attempt("mode of state", lambda: os.chmod(f"{story}/runner/state", 0o666))
attempt("mode of ~/.ssh", lambda: os.chmod(f"{home}/.ssh/id_rsa", 0o666))
attempt("times of state", lambda: os.utime(f"{story}/runner/state", (1, 1)))
attempt("attribute of state", lambda: os.setxattr(f"{story}/runner/state", "user.mark", b"x"))
attempt("owner of state", lambda: os.chown(f"{story}/runner/state", -1, os.getgid()))
attempt("mode of an open file", change_open_file(lambda file: os.fchmod(file, 0o755)))
attempt("times of an open file", change_open_file(lambda file: os.utime(file)))
attempt("flags of an open file", change_open_file(lambda file: fcntl.ioctl(file, 0x40086602, (ctypes.c_long * 1)(0x80))))
attempt("watch the runner's folder", lambda: watch(f"{story}/runner"))
attempt("watch RUNNER_TEMP", lambda: watch(f"{story}/temp"))
