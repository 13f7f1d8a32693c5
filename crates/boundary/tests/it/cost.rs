//! What the wall costs, for reading: figures differ from machine to machine.

use std::{
    net::TcpListener,
    process::Command,
    time::{Duration, Instant},
};

use fro_boundary::Address;

use crate::world::{everyone, python, text};

#[test]
fn the_start_is_measured() {
    everyone(|world| {
        let bare = median(|| drop(Command::new("true").output().unwrap()));
        let walled = median(|| drop(world.shell("exec true")));
        println!("{:?}: bare {bare:?}, walled {walled:?}", world.user);
    });
}

#[test]
fn a_connection_is_measured() {
    let script = "
import socket, struct, sys, time
times = []
for _ in range(501):
    with socket.socket() as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        start = time.perf_counter()
        opened.connect(('127.0.0.1', int(sys.argv[1])))
        times.append(time.perf_counter() - start)
print(round(sorted(times)[250] * 1e6))";
    everyone(|mut world| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || listener.incoming().for_each(drop));
        world.spec.connect.push(Address::Tcp(address));
        let port = address.port().to_string();

        let mut bare = world.outsider(python(world.user).program.as_os_str());
        let [bare, walled] =
            [bare.args(["-c", script, &port]).output().unwrap(), world.python(script, &[&port])]
                .map(|output| text(&output).trim().parse::<u32>().unwrap());

        println!("{:?}: a connection takes {bare} µs bare, {walled} µs walled", world.user);
    });
}

fn median(deed: impl Fn()) -> Duration {
    let mut times: Vec<Duration> = (0..21)
        .map(|_| {
            let start = Instant::now();
            deed();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[10]
}
