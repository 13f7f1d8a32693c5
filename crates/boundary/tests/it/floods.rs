//! Floods of requests: they fill the agent's own time, and not the harness's memory and open files.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use fro_boundary::{Keys, ModelProxy, Plan};
use fro_http::{Client, ClientSettings};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{sleep, timeout},
};

async fn proxy() -> ModelProxy {
    let options = json!({ "baseURL": "http://127.0.0.1:1" });
    let config = json!({ "model": "mine/m1", "provider": {
        "mine": { "npm": "@ai-sdk/openai-compatible", "options": options } } });
    let plan = Plan::draw(&config, None, &Keys::default()).unwrap();
    ModelProxy::open(plan, Client::new(ClientSettings::loopback()).unwrap(), None).await.unwrap()
}

/// Sends a body of so many bytes but for its last one, and counts what is taken of it.
async fn pour(address: SocketAddr, size: usize, poured: Arc<AtomicUsize>) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("POST /mine/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let piece = vec![b' '; 64 << 10];
    for _ in 0..(size / piece.len() - 1) {
        if stream.write_all(&piece).await.is_err() {
            return;
        }
        poured.fetch_add(piece.len(), Ordering::Relaxed);
    }
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn large_bodies_are_taken_in_one_after_another() {
    let proxy = proxy().await;
    let poured = Arc::new(AtomicUsize::new(0));
    let pouring: Vec<_> =
        (0..12).map(|_| tokio::spawn(pour(proxy.address(), 40 << 20, Arc::clone(&poured)))).collect();
    // Until nothing more is taken, twice in a row.
    let (mut before, mut still) = (usize::MAX, 0);
    while still < 3 {
        sleep(Duration::from_millis(500)).await;
        let now = poured.load(Ordering::Relaxed);
        still = if now == before { still + 1 } else { 0 };
        before = now;
    }
    // One body, and what the kernel keeps of the eleven others.
    assert!(before < 200 << 20, "{} MB were taken in", before >> 20);
    for pouring in pouring {
        pouring.abort();
    }
}

#[tokio::test]
async fn connections_beyond_the_most_wait_outside() {
    let proxy = proxy().await;
    let mut idle = Vec::new();
    for _ in 0..128 {
        idle.push(TcpStream::connect(proxy.address()).await.unwrap());
    }
    let mut late = TcpStream::connect(proxy.address()).await.unwrap();
    late.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut said = Vec::new();
    assert!(timeout(Duration::from_millis(700), late.read_to_end(&mut said)).await.is_err(), "{said:?}");
    drop(idle);
    late.read_to_end(&mut said).await.unwrap();
    assert!(said.starts_with(b"HTTP/1.1 403 "), "{}", String::from_utf8_lossy(&said));
}
