//! Ports, the discovery file, connection limits and shutdown.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::test_gateway::{TestGateway, TestOptions, within};
use crate::{BindError, ListenerHealth};

async fn occupied_port() -> (TcpListener, u16) {
    // The caller keeps the listener, so the port stays occupied.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

// GC-01
#[tokio::test]
async fn port_in_use_falls_through_to_the_next() {
    let (_holder, occupied) = occupied_port().await;
    let mut fixture = TestGateway::on_ports(TestOptions::default(), &[occupied, 0]).await;
    assert_ne!(fixture.port, occupied);
    assert_eq!(fixture.anonymous("GET", "/health").send().await.json()["port"], fixture.port);
    assert_eq!(std::fs::read_to_string(fixture.discovery_file()).unwrap(), fixture.port.to_string());
    fixture.stop().await;
    assert!(!fixture.discovery_file().exists(), "removed on shutdown");
}

// GC-02
#[tokio::test]
async fn error_names_all_ports_that_are_in_use() {
    let fixture = TestGateway::new().await;
    let (_one, first) = occupied_port().await;
    let (_two, second) = occupied_port().await;
    let error = fixture.gateway.bind(&[first, second]).await.err().unwrap();
    let text = error.to_string();
    let start = format!("failed to bind gateway server to any candidate port ({first}, {second}): ");
    assert!(text.starts_with(&start), "{text}");
    assert!(matches!(fixture.gateway.bind(&[]).await, Err(BindError::NoPort)));
}

#[tokio::test]
async fn discovery_file_of_another_gateway_is_not_removed() {
    let mut fixture = TestGateway::new().await;
    std::fs::write(fixture.discovery_file(), "1").unwrap();
    fixture.stop().await;
    assert_eq!(std::fs::read_to_string(fixture.discovery_file()).unwrap(), "1");
}

fn is_reopened(health: &ListenerHealth) -> bool {
    *health == ListenerHealth { recovering: None, recoveries: 1 }
}

#[tokio::test]
async fn lost_listener_is_reported_and_reopened_on_its_port() {
    let mut fixture = TestGateway::with(TestOptions { lost_listener: true, ..TestOptions::default() }).await;
    within(fixture.health.wait_for(is_reopened)).await.unwrap();
    assert_eq!(fixture.anonymous("GET", "/health").send().await.json()["port"], fixture.port);
    assert_eq!(std::fs::read_to_string(fixture.discovery_file()).unwrap(), fixture.port.to_string());
    fixture.stop().await;
    assert!(!fixture.discovery_file().exists());
}

#[tokio::test]
async fn unresponsive_listener_is_reopened() {
    let mut fixture = TestGateway::new().await;
    within(fixture.gateway.probe()).await;
    assert!(!fixture.health.has_changed().unwrap());
    // The overridden port accepts connections but never responds, so the probe times out.
    let (_mute, port) = occupied_port().await;
    fixture.gateway.override_port_for_test(port);
    within(fixture.gateway.probe()).await;
    within(fixture.health.wait_for(is_reopened)).await.unwrap();
    assert_eq!(fixture.anonymous("GET", "/health").send().await.json()["port"], fixture.port);
}

#[tokio::test]
async fn stop_closes_idle_and_busy_connections() {
    let mut fixture = TestGateway::with(TestOptions {
        settings: "default_approval_tier = \"none\"",
        ..TestOptions::default()
    })
    .await;
    let mut idle = TcpStream::connect(("127.0.0.1", fixture.port)).await.unwrap();
    let held = tokio::spawn(fixture.internal("GET", "/api/gateway/version").raw_bytes());
    let mut waiting = fixture.gateway.approvals().subscribe();
    within(waiting.wait_for(|count| *count == 1)).await.unwrap();
    fixture.stop().await;
    assert_eq!(within(idle.read(&mut [0; 16])).await.unwrap_or_default(), 0);
    assert!(within(held).await.unwrap().is_empty(), "a held request is dropped without an answer");
    assert!(TcpStream::connect(("127.0.0.1", fixture.port)).await.is_err());
}

#[tokio::test]
async fn endless_request_head_times_out() {
    let mut options = TestOptions::default();
    options.limits.header_timeout = std::time::Duration::from_millis(50);
    let fixture = TestGateway::with(options).await;
    let mut stream = TcpStream::connect(("127.0.0.1", fixture.port)).await.unwrap();
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: ").await.unwrap();
    // The server may close or reset the connection.
    let mut response = Vec::new();
    let _ = within(stream.read_to_end(&mut response)).await;
    assert!(!response.starts_with(b"HTTP/1.1 200"));
}

#[tokio::test]
async fn head_of_more_than_16_kib_is_refused() {
    let fixture = TestGateway::new().await;
    let reply = fixture.anonymous("GET", "/health").header("X-Long", &"x".repeat(17 * 1024)).send().await;
    assert_eq!(reply.status, 431);
    let reply = fixture.anonymous("GET", "/health").header("X-Long", &"x".repeat(15 * 1024)).send().await;
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn idle_connections_beyond_the_limit_are_closed_oldest_first() {
    let mut options = TestOptions::default();
    options.limits.connections = 4;
    let fixture = TestGateway::with(options).await;
    let mut idle = Vec::new();
    for _ in 0..12 {
        idle.push(TcpStream::connect(("127.0.0.1", fixture.port)).await.unwrap());
    }
    assert_eq!(fixture.anonymous("GET", "/health").send().await.status, 200);
    // 12 idle connections and one request exceed the limit of four by nine.
    for stream in &mut idle[..9] {
        assert_eq!(within(stream.read(&mut [0; 16])).await.unwrap_or_default(), 0, "closed by the server");
    }
    let request = fixture.anonymous("GET", "/health");
    assert_eq!(request.send_on(&mut idle[11]).await.status, 200, "the newest connection stays open");
}

#[tokio::test]
async fn health_is_answered_while_all_other_connections_are_busy() {
    let mut options = TestOptions { settings: "default_approval_tier = \"none\"", ..TestOptions::default() };
    options.limits.connections = 2;
    let fixture = TestGateway::with(options).await;
    let mut waiting = fixture.gateway.approvals().subscribe();
    // Distinct requests: identical ones would share a pending approval.
    let paths = ["/api/gateway/version", "/api/gateway/repos"];
    let held = paths.map(|path| tokio::spawn(fixture.internal("GET", path).raw_bytes()));
    within(waiting.wait_for(|count| *count == 2)).await.unwrap();
    assert_eq!(fixture.internal("GET", "/api/gateway/version").send().await.status, 503);
    let health = fixture.anonymous("GET", "/health").send().await;
    assert_eq!((health.status, health.header("connection")), (200, Some("close")));
    assert!(held.iter().all(|request| !request.is_finished()), "no request in flight was dropped");
}
