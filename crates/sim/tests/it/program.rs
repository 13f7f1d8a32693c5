//! The program `fro-sim`.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpListener,
    process::{Command, Stdio},
};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fro-sim"))
}

#[test]
fn a_busy_port_is_a_clear_error() {
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = busy.local_addr().unwrap().port().to_string();
    let output = program().args(["--port", &port]).output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap().replace(&port, "PORT");
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(complaint, @"
    error: cannot serve on 127.0.0.1:PORT: Address already in use (os error 98)

    hint: choose another port with `--port`, or leave it out
    ");
}

#[test]
fn it_says_where_it_is_and_ends_by_an_interrupt() {
    let mut running = program().stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(running.stdout.take().unwrap()).lines();
    let said: Vec<_> = lines.map(Result::unwrap).take_while(|line| line != "running until Ctrl-C").collect();
    let kinds: Vec<_> = said.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(kinds, ["page", "REST", "GraphQL", "model", "token", ""]);
    assert!(Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap().success());
    assert_eq!(running.wait().unwrap().code(), Some(0));
}
