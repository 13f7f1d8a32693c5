//! When a request is sent again, on a clock that jumps.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use fro_core::{Fault, fault};
use fro_http::{Client, ClientSettings, Retry};
use tokio::{net::TcpSocket, time::Instant};
use tracing::{Level, Metadata, Subscriber, span};

use crate::server::{Play, Server, answer, client};

/// Returns when each request arrived, in seconds.
fn arrivals(server: &Server) -> Vec<u64> {
    server.asked().iter().map(|asked| asked.after_secs).collect()
}

#[test]
fn the_pauses_are_those_that_were_promised() {
    let secs = |secs: [u64; 3]| secs.map(Duration::from_secs).to_vec();
    let promised =
        Retry { limited: secs([30, 60, 120]), failing: secs([1, 5, 15]), longest: Duration::from_mins(5) };
    assert_eq!(Retry::default(), promised);
}

#[tokio::test(start_paused = true)]
async fn a_limited_request_is_sent_again_after_30_60_and_120_seconds_and_then_given_up() {
    let server = Server::playing((0..4).map(|_| answer(429, &[], r#"{"message":"slow down"}"#))).await;
    let error = client().get(&server.url).send().await.unwrap_err();
    assert_eq!(arrivals(&server), [0, 30, 90, 210]);
    assert_eq!(error.to_string(), format!("GET {}/: answered 429 (slow down)", server.url));
    assert!(error.retryable());
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_obeyed_instead() {
    let limited = || answer(429, &[("retry-after", "7")], "");
    let server = Server::playing([limited(), limited(), answer(200, &[], "done")]).await;
    let answer = client().get(&server.url).send().await.unwrap();
    assert_eq!((answer.bytes(), arrivals(&server)), (&b"done"[..], vec![0, 7, 14]));
}

#[tokio::test(start_paused = true)]
async fn the_reset_of_a_used_up_limit_is_waited_for_on_the_servers_clock() {
    let headers = [
        ("date", "Sat, 15 Nov 2025 12:00:00 GMT"),
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "1763208100"),
    ];
    let server = Server::playing([answer(403, &headers, "{}"), answer(200, &[], "done")]).await;
    client().get(&server.url).send().await.unwrap();
    assert_eq!(arrivals(&server), [0, 101]);
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_cap_is_an_error_at_once_that_says_when() {
    let server = Server::playing([answer(429, &[("retry-after", "61200")], "")]).await;
    let error = client().get(&server.url).send().await.unwrap_err();
    assert_eq!(arrivals(&server), [0]);
    assert_eq!(error.fault().hint(), "try again in 17 h 0 min");
}

#[tokio::test(start_paused = true)]
async fn a_failing_server_is_asked_again_soon() {
    let server = Server::playing((0..4).map(|_| answer(502, &[], "<html>"))).await;
    let error = client().get(&server.url).send().await.unwrap_err();
    assert_eq!(arrivals(&server), [0, 1, 6, 21]);
    assert_eq!(error.to_string(), format!("GET {}/: answered 502 (Bad Gateway)", server.url));
}

#[tokio::test(start_paused = true)]
async fn a_cut_answer_is_asked_for_again() {
    let cut = || Play::SendAndClose("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_owned());
    let server = Server::playing([cut(), answer(200, &[], "whole")]).await;
    let answer = client().get(&server.url).send().await.unwrap();
    assert_eq!((answer.bytes(), arrivals(&server)), (&b"whole"[..], vec![0, 1]));
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_left_after_the_timeout_and_asked_again() {
    let server = Server::playing([Play::Stall, answer(200, &[], "awake")]).await;
    client().get(&server.url).send().await.unwrap();
    assert_eq!(arrivals(&server), [0, 31]);
}

#[tokio::test(start_paused = true)]
async fn a_closed_door_is_knocked_on_again_even_with_a_post() {
    // Bound, so that it is nobody else's, and without a listener.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let closed = socket.local_addr().unwrap();
    let start = Instant::now();
    let error = client().post(format!("http://{closed}/")).send().await.unwrap_err();
    assert_eq!((start.elapsed().as_secs(), error.ambiguous()), (21, false));
    let what = format!("POST http://{closed}/: no connection: Connection refused (os error 111)");
    assert_eq!(error.fault(), Fault::upstream(what, fault::Retry::Later));
}

#[tokio::test(start_paused = true)]
async fn a_post_whose_answer_was_lost_is_sent_once_and_ambiguous() {
    let half = "HTTP/1.1 201 Created\r\ncontent-length: 10\r\n\r\nhalf".to_owned();
    let lost = [
        (Play::SendAndClose(String::new()), "the connection broke before the answer was whole"),
        (Play::SendAndClose(half), "the connection broke before the answer was whole"),
        (Play::Stall, "no whole answer within 30 s"),
        (answer(502, &[], ""), "answered 502 (Bad Gateway)"),
    ];
    for (play, why) in lost {
        let server = Server::playing([play]).await;
        let error = client().post(&server.url).json(&"hello").send().await.unwrap_err();
        let told = format!("POST {}/: {why}; it may have been done all the same", server.url);
        assert_eq!((error.to_string(), error.ambiguous(), error.retryable()), (told, true, false));
        assert_eq!(arrivals(&server), [0]);
    }
}

#[tokio::test]
async fn a_post_with_an_unreadable_answer_is_ambiguous() {
    let server = Server::playing([answer(201, &[], "{}"), answer(201, &[], "{}")]).await;
    let made = client().post(&server.url).send().await.unwrap();
    assert!(made.json::<u64>().unwrap_err().ambiguous());
    let harmless = client().post(&server.url).idempotent().send().await.unwrap();
    assert!(!harmless.json::<u64>().unwrap_err().ambiguous());
}

#[tokio::test(start_paused = true)]
async fn a_post_that_was_held_back_by_a_limit_is_sent_again() {
    let secondary = r#"{"message":"You have exceeded a secondary rate limit."}"#;
    let server = Server::playing([answer(403, &[], secondary), answer(201, &[], "")]).await;
    let answer = client().post(&server.url).send().await.unwrap();
    assert_eq!((answer.status(), arrivals(&server)), (201, vec![0, 30]));
}

#[tokio::test(start_paused = true)]
async fn a_post_declared_idempotent_is_sent_again() {
    let server = Server::playing([answer(502, &[], ""), answer(200, &[], "")]).await;
    client().post(&server.url).idempotent().send().await.unwrap();
    assert_eq!(server.lines(), ["POST / HTTP/1.1", "POST / HTTP/1.1"]);
}

#[tokio::test(start_paused = true)]
async fn a_plain_refusal_stands_at_once() {
    for status in [400, 401, 403, 404, 409, 422] {
        let server = Server::playing([answer(status, &[], "")]).await;
        let error = client().get(&server.url).send().await.unwrap_err();
        assert_eq!((error.status(), error.retryable(), arrivals(&server)), (Some(status), false, vec![0]));
    }
}

#[tokio::test]
async fn a_road_that_never_retries_sends_once() {
    let server = Server::playing([answer(503, &[("retry-after", "0")], "")]).await;
    let client = Client::new(ClientSettings::loopback()).unwrap();
    assert_eq!(client.get(&server.url).send().await.unwrap_err().status(), Some(503));
}

/// Counts what is told to somebody who hears only warnings.
struct Warnings(Arc<AtomicUsize>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN && metadata.target().starts_with("fro_http")
    }

    fn new_span(&self, _span: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _span: &span::Id, _values: &span::Record<'_>) {}

    fn record_follows_from(&self, _span: &span::Id, _follows: &span::Id) {}

    fn event(&self, _event: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _span: &span::Id) {}

    fn exit(&self, _span: &span::Id) {}
}

#[tokio::test(start_paused = true)]
async fn without_a_network_one_warning_is_enough_for_every_request_and_try() {
    // Bound, so that it is nobody else's, and without a listener.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let nowhere = socket.local_addr().unwrap();
    let (warnings, client) = (Arc::<AtomicUsize>::default(), client());
    let heard = tracing::subscriber::set_default(Warnings(Arc::clone(&warnings)));
    let ask = || client.get(format!("http://{nowhere}/")).send();
    let asked = tokio::join!(ask(), ask(), ask());
    assert!(asked.0.is_err() && asked.1.is_err() && asked.2.is_err());
    drop(heard);
    assert_eq!(warnings.load(Ordering::Relaxed), 1);
}
