//! The thread for connections that begin with `/health`: what it serves, how many, and its end.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::place::{Ask, PATIENCE, Place, Reply, Wish, within};

async fn connected(place: &Place) -> TcpStream {
    within(TcpStream::connect(("127.0.0.1", place.port))).await.unwrap()
}

/// A connection on which the first request was for health.
async fn asking(place: &Place) -> TcpStream {
    let mut stream = connected(place).await;
    assert_eq!(health(place, &mut stream).await.status, 200);
    stream
}

fn for_health(place: &Place) -> Ask {
    place.ask("GET", "/health")
}

async fn health(place: &Place, stream: &mut TcpStream) -> Reply {
    for_health(place).send_on(stream).await
}

fn places(place: &Place) -> usize {
    place.express.upgrade().unwrap().places.available_permits()
}

/// The connection, for somebody who does not let any other task run meanwhile.
fn blocking(stream: TcpStream) -> std::net::TcpStream {
    let stream = stream.into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

#[tokio::test]
async fn health_is_answered_while_nobody_else_can_work() {
    let place = Place::new().await;
    let mut first = Vec::new();
    for _ in 0..4 {
        first.push(blocking(asking(&place).await));
    }
    assert_eq!(places(&place), 0);
    let (mut fifth, question) = (blocking(asking(&place).await), for_health(&place).head());
    fifth.write_all(&question).unwrap();
    // All tasks of this test, the gateway's too, share the one thread that waits here.
    for stream in &mut first {
        let mut start = [0; 12];
        stream.write_all(&question).unwrap();
        stream.read_exact(&mut start).unwrap();
        assert_eq!(&start, b"HTTP/1.1 200");
    }
    fifth.set_nonblocking(true).unwrap();
    let unanswered = fifth.read(&mut [0; 12]).unwrap_err();
    assert_eq!(unanswered.kind(), std::io::ErrorKind::WouldBlock, "a crowd is served among all else");
    let mut fifth = TcpStream::from_std(fifth).unwrap();
    let mut start = [0; 12];
    within(fifth.read_exact(&mut start)).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
}

#[tokio::test]
async fn a_connection_that_ends_leaves_its_place() {
    let place = Place::new().await;
    let mut asking_now = Vec::new();
    for left in (0..4).rev() {
        asking_now.push(asking(&place).await);
        assert_eq!(places(&place), left);
    }
    let crowd = asking(&place).await;
    let left = place.express.upgrade().unwrap().places.clone();
    drop(asking_now.pop());
    drop(within(left.acquire()).await.unwrap());
    let _next = asking(&place).await;
    assert_eq!(places(&place), 0);
    drop(crowd);
    asking_now.clear();
    drop(within(left.acquire_many(3)).await.unwrap());
}

#[tokio::test]
async fn what_else_comes_there_is_answered_as_anywhere() {
    let place = Place::new().await;
    let mut stream = asking(&place).await;
    let body = format!(r#"{{"path":"{}"}}"#, "x".repeat(200_000));
    for ask in [
        place.internal("POST", "/api/gateway/repos").body(body.clone()),
        place.internal("POST", "/api/gateway/repos").chunked(body.as_bytes()),
        place.internal("GET", "/api/gateway/repos"),
        place.ask("GET", "/api/gateway/repos"),
    ] {
        let (there, elsewhere) = (ask.clone().send_on(&mut stream).await, ask.send().await);
        assert_eq!((there.status, there.text()), (elsewhere.status, elsewhere.text()));
    }
    assert_eq!(health(&place, &mut stream).await.status, 200);
    assert_eq!(places(&place), 3, "it is still the same connection");
}

#[tokio::test]
async fn a_head_in_pieces_is_answered() {
    let place = Place::new().await;
    let head = for_health(&place).head();
    for pieces in [8, 12, 30].map(|end| head.split_at(end)) {
        let mut stream = connected(&place).await;
        stream.write_all(pieces.0).await.unwrap();
        // Who asks afterwards is answered meanwhile.
        asking(&place).await;
        stream.write_all(pieces.1).await.unwrap();
        let mut start = [0; 12];
        within(stream.read_exact(&mut start)).await.unwrap();
        assert_eq!(&start, b"HTTP/1.1 200");
    }
}

#[tokio::test]
async fn who_says_nothing_is_sent_away_and_takes_no_place() {
    let place = Place::new().await;
    let mut crowd = Vec::new();
    for _ in 0..4 {
        crowd.push(connected(&place).await);
    }
    let _asking = asking(&place).await;
    assert_eq!(places(&place), 3);

    let mut wish = Wish::default();
    wish.limits.header_timeout = Duration::from_millis(50);
    let place = Place::with(wish).await;
    let mut silent = connected(&place).await;
    assert_eq!(within(silent.read(&mut [0; 16])).await.unwrap(), 0);
}

#[tokio::test]
async fn a_stop_ends_the_thread_and_all_that_lives_on_it() {
    let settings = "default_approval_tier = \"none\"";
    let mut place = Place::with(Wish { settings, ..Wish::default() }).await;
    let (mut idle, mut busy) = (asking(&place).await, asking(&place).await);
    let held = place.internal("GET", "/api/gateway/version").head();
    busy.write_all(&held).await.unwrap();
    let mut waiting = place.gateway.approvals().subscribe();
    within(waiting.wait_for(|count| *count == 1)).await.unwrap();
    place.stop().await;
    assert_eq!(*waiting.borrow(), 0, "nobody works on it any more");
    assert!(place.express.upgrade().is_none());
    for stream in [&mut idle, &mut busy] {
        assert_eq!(within(stream.read(&mut [0; 16])).await.unwrap_or_default(), 0);
    }
}
