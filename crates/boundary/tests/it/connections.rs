//! Where connections lead that are made behind the wall: only to what is on its list, whoever tries and however.

use std::{
    io::Read as _,
    net::{SocketAddr, TcpListener},
    os::unix::net::UnixListener,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use fro_boundary::Address;
use rustix::process::Signal;

use crate::world::{World, eventually, everyone, send, text};

/// Tries each of its arguments with a socket that fits, and tells what came of it.
const TRY: &str = r#"
import errno, os, socket, sys

def attempt(place):
    if place.startswith("["):
        host, port = place[1:].rsplit("]:", 1)
        return socket.socket(socket.AF_INET6), (host, int(port))
    if place.startswith("unix:"):
        return socket.socket(socket.AF_UNIX), place[5:].replace("@", "\0", 1)
    host, port = place.rsplit(":", 1)
    return socket.socket(), (host, int(port))

for place in sys.argv[1:]:
    opened, address = attempt(place)
    try:
        opened.connect(address)
        opened.sendall(place.encode())
        print("reached")
    except OSError as error:
        print(errno.errorcode[error.errno])
"#;

fn tried(world: &World, places: &[&str]) -> String {
    text(&world.python(TRY, places)).replace('\n', " ")
}

fn listen(address: &str) -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(address).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[test]
fn the_same_port_of_another_address_is_not_reached() {
    everyone(|mut world| {
        let (model, allowed) = listen("127.0.0.1:0");
        let (_attacker, other) = listen(&format!("127.0.0.2:{}", allowed.port()));
        world.spec.connect.push(Address::Tcp(allowed));
        let mapped = format!("[::ffff:{}]:{}", allowed.ip(), allowed.port());

        let outcome = tried(&world, &[&allowed.to_string(), &other.to_string(), &mapped]);

        assert_eq!(outcome, "reached EACCES reached ");
        let mut said = String::new();
        model.accept().unwrap().0.read_to_string(&mut said).unwrap();
        assert_eq!(said, allowed.to_string());
    });
}

#[test]
fn an_address_of_ipv6_is_reached_by_itself_only() {
    everyone(|mut world| {
        let (_model, allowed) = listen("[::1]:0");
        world.spec.connect.push(Address::Tcp(allowed));
        let port = allowed.port();

        let others =
            [format!("[::]:{port}"), format!("127.0.0.1:{port}"), format!("[::ffff:127.0.0.1]:{port}")];
        let [any, four, mapped] = others.each_ref().map(String::as_str);

        assert_eq!(
            tried(&world, &[&allowed.to_string(), any, four, mapped]),
            "reached EACCES EACCES EACCES "
        );
    });
}

#[test]
fn a_unix_socket_is_reached_by_its_path_only() {
    everyone(|mut world| {
        let [broker, daemon] = ["broker.sock", "docker.sock"].map(|name| world.outside().join(name));
        let _listeners = [&broker, &daemon].map(|path| {
            let listener = UnixListener::bind(path).unwrap();
            world.give(path);
            listener
        });
        world.spec.connect.push(Address::Unix(broker.clone()));
        std::os::unix::fs::symlink(&daemon, world.inside().join("link.sock")).unwrap();
        let [broker, daemon] = [broker, daemon].map(|path| format!("unix:{}", path.display()));
        let round = broker.replace("/outside/", "/outside/../outside/");

        let outcome =
            tried(&world, &[&broker, &daemon, &round, "unix:link.sock", "unix:../outside/docker.sock"]);

        assert_eq!(outcome, "reached EACCES EACCES EACCES EACCES ");
    });
}

#[test]
fn an_abstract_socket_is_not_reached() {
    use std::os::linux::net::SocketAddrExt as _;
    everyone(|world| {
        let name = format!("fro-bot-{}", world.harness());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
        let _listener = UnixListener::bind_addr(&address).unwrap();

        assert_eq!(tried(&world, &[&format!("unix:@{name}")]), "EACCES ");
    });
}

#[test]
fn a_socket_that_the_engine_could_replace_is_refused_at_the_start() {
    everyone(|mut world| {
        let path = world.inside().join("broker.sock");
        world.spec.connect.push(Address::Unix(path.clone()));

        let said = text(&world.shell("echo started"));

        let unsafe_path =
            format!("`unix:{}` is no absolute path, or lies where the engine can write", path.display());
        assert_eq!(said, format!("cannot read the arguments of `wall`: {unsafe_path}\n"));
    });
}

#[test]
fn a_socket_that_does_not_wait_is_answered_at_once() {
    everyone(|mut world| {
        let (_model, allowed) = listen("127.0.0.1:0");
        world.spec.connect.push(Address::Tcp(allowed));
        let script = "
import select, socket, sys
opened = socket.socket()
opened.setblocking(False)
code = opened.connect_ex(('127.0.0.1', int(sys.argv[1])))
select.select([], [opened], [])
print(code, opened.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), opened.getpeername()[0])";

        assert_eq!(text(&world.python(script, &[&allowed.port().to_string()])), "115 0 127.0.0.1\n");
    });
}

#[test]
fn odd_addresses_are_refused_and_do_no_harm() {
    everyone(|world| {
        let script = "
import ctypes, errno, socket
libc = ctypes.CDLL(None, use_errno=True)
def outcome(place, length, opened=socket.socket()):
    code = libc.connect(opened.fileno(), place, length)
    return errno.errorcode[ctypes.get_errno()] if code else 'reached'
room = ctypes.create_string_buffer(256)
print(outcome(None, 16), outcome(ctypes.c_void_p(1), 16), outcome(room, 0), outcome(room, 129),
      outcome(room, ctypes.c_uint(0xffffffff)), outcome(room, 16))";

        assert_eq!(text(&world.python(script, &[])), "EFAULT EFAULT EACCES EINVAL EINVAL EACCES\n");
    });
}

/// Connects again and again while another thread swaps the address.
const RACE: &str = r#"
import ctypes, socket, struct, sys, threading
sys.setswitchinterval(1e-6)
libc = ctypes.CDLL(None, use_errno=True)
port, rounds = int(sys.argv[1]), int(sys.argv[2])
good, bad = (struct.pack("=H", 2) + struct.pack("!H", port) + bytes([127, 0, 0, host]) + bytes(8) for host in (1, 2))
address = ctypes.create_string_buffer(good, 16)
racing = True

def swap():
    while racing:
        ctypes.memmove(address, bad, 16)
        ctypes.memmove(address, good, 16)

swapper = threading.Thread(target=swap)
swapper.start()
allowed = refused = escaped = 0
for _ in range(rounds):
    with socket.socket() as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if libc.connect(opened.fileno(), address, 16):
            refused += 1
        elif opened.getpeername()[0] == "127.0.0.1":
            allowed += 1
        else:
            escaped += 1
racing = False
swapper.join()
print(allowed, refused, escaped)
"#;

#[test]
fn an_address_that_is_swapped_while_it_is_read_escapes_to_nowhere() {
    const ROUNDS: usize = 20_000;
    everyone(|mut world| {
        let (model, allowed) = listen("127.0.0.1:0");
        let (attacker, _) = listen(&format!("127.0.0.2:{}", allowed.port()));
        count(model);
        let escaped = count(attacker);
        world.spec.connect.push(Address::Tcp(allowed));

        let said = text(&world.python(RACE, &[&allowed.port().to_string(), &ROUNDS.to_string()]));

        println!("{:?}: allowed, refused, escaped: {said}", world.user);
        let counts: Vec<usize> = said.split_whitespace().map(|word| word.parse().expect(&said)).collect();
        let [allowed, refused, seen] = counts[..] else { panic!("{said}") };
        assert_eq!((allowed + refused, seen, escaped.load(Ordering::SeqCst)), (ROUNDS, 0, 0));
        assert!(allowed > 0 && refused > 0, "there was no race: {said}");
    });
}

/// Takes every connection and counts them.
fn count(listener: TcpListener) -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let taken = move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
    };
    thread::spawn(move || listener.incoming().for_each(taken));
    count
}

#[test]
fn without_the_broker_nobody_connects() {
    everyone(|mut world| {
        if world.is_enclosed() {
            // There is nobody left: the kernel ends what is in the namespace of an ended supervisor.
            return;
        }
        let (_model, allowed) = listen("127.0.0.1:0");
        world.spec.connect.push(Address::Tcp(allowed));
        let orphan = format!(
            "
import errno, os, socket, time
if os.fork() == 0:
    supervised = os.getppid()
    open('ready', 'w').close()
    while os.getppid() == supervised:
        time.sleep(0.01)
    code = socket.socket().connect_ex(('127.0.0.1', {}))
    open('draft', 'w').write(errno.errorcode.get(code, 'reached'))
    os.rename('draft', 'outcome')
    os._exit(0)
time.sleep(600)",
            allowed.port()
        );
        let mut supervisor = world.start_python(&orphan);
        eventually(|| world.inside().join("ready").exists(), |ready| *ready);

        send(&supervisor, Signal::KILL);
        supervisor.wait().unwrap();

        let outcome = world.inside().join("outcome");
        let said =
            eventually(|| std::fs::read_to_string(&outcome).unwrap_or_default(), |said| !said.is_empty());
        assert_eq!(said, "ENOSYS");
    });
}
