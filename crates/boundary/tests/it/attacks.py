"""Attacks from behind the wall; prints one line for each of a group: its name and what came of it."""
import ctypes, errno, glob, mmap, os, platform, shutil, socket, subprocess, sys

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


globals()[group]()
