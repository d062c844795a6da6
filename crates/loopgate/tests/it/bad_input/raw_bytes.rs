//! Raw bytes on the gateway's port: malformed requests and arbitrary data affect nothing but their own
//! connection.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Result, ensure};
use loopgate_testkit::loopgate::Loopgate;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use reqwest::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::test_gateway::TestGateway;

/// Timeout of a response. Nothing here waits for another request.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Number of slow connections.
const SLOW: usize = 200;

/// Sends bytes and returns what is received until the connection ends. With `and_ends`, the sending side is
/// closed after the bytes. A reset counts as an empty response.
async fn answer(loopgate: &Loopgate, bytes: &[u8], and_ends: bool) -> Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", loopgate.ready().gateway_port)).await?;
    let mut answer = Vec::new();
    let talk = async {
        // The gateway may close the connection before it has read everything, so errors are expected.
        let _ = stream.write_all(bytes).await;
        if and_ends {
            let _ = stream.shutdown().await;
        }
        let _ = stream.read_to_end(&mut answer).await;
    };
    tokio::time::timeout(TIMEOUT, talk).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

async fn expect_healthy(loopgate: &Loopgate, after: &str) -> Result<()> {
    let health = loopgate.gateway_bare(Method::GET, "/health").timeout(TIMEOUT).send().await;
    ensure!(health.is_ok_and(|health| health.status() == 200), "no /health after {after}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_requests_do_not_affect_later_ones() -> Result<()> {
    let local = TestGateway::new().await?;
    let loopgate = &local.loopgate;
    let port = loopgate.ready().gateway_port;
    let token = loopgate.gateway_token();
    let own = format!("Host: 127.0.0.1:{port}\r\nX-Desktop-Gateway-Token: {token}\r\nConnection: close\r\n");
    let get = |target: &str| format!("GET {target} HTTP/1.1\r\n{own}\r\n");
    let post =
        |headers: &str, body: &str| format!("POST /api/gateway/repos HTTP/1.1\r\n{own}{headers}\r\n{body}");
    let mut many = String::new();
    for n in 0..150 {
        write!(many, "X-{n}: 1\r\n")?;
    }
    let long = "x".repeat(20_000);
    // The bytes and the expected status. 0 accepts every status and also no response, and closes the sending
    // side.
    let table = vec![
        (get("/api/gateway/work-directory/%E0%A4%A"), 400),
        (get("/api/gateway/orchestrator/status/%"), 400),
        (get("/api/gateway/orchestrator/status/%zz"), 400),
        (get("/api/gateway/files/search?q=%&repo=%E0%A4"), 0),
        (get("/health%"), 404),
        (get("//"), 400),
        (get("///"), 400),
        (get("/\\"), 400),
        (get("http://127.0.0.1/health"), 403),
        (get(&format!("http://127.0.0.1:{port}/health")), 200),
        (get("http://evil.test/health"), 403),
        (get("*"), 400),
        (get(&format!("/{long}")), 0),
        (get(&format!("/health?{long}")), 0),
        (format!("CONNECT evil.test:443 HTTP/1.1\r\n{own}\r\n"), 0),
        (format!("OPTIONS * HTTP/1.1\r\n{own}\r\n"), 204),
        (format!("GET /health HTTP/1.1\r\n{own}X-Long: {long}\r\n\r\n"), 431),
        (format!("GET /health HTTP/1.1\r\n{own}{many}\r\n"), 431),
        ("GET /health HTTP/1.1\r\nConnection: close\r\n\r\n".to_owned(), 403),
        ("GET /health HTTP/1.0\r\n\r\n".to_owned(), 403),
        (format!("GET /health HTTP/1.0\r\nHost: localhost:{port}\r\n\r\n"), 200),
        (format!("GET /health HTTP/1.1\r\n{own}Host: evil.test\r\n\r\n"), 403),
        (format!("GET /health HTTP/1.1\r\nHost: \r\n{own}\r\n"), 403),
        (format!("GET /health HTTP/1.1\r\n{own}no colon here\r\n\r\n"), 400),
        (format!("GET /health HTTP/1.1\r\n{own}X : spaced\r\n\r\n"), 400),
        (format!("GET /health HTTP/1.1\r\n{own}X-Nul: a\0b\r\n\r\n"), 400),
        (post("Content-Length: 5\r\nContent-Length: 6\r\n", "{}{}{}"), 400),
        (post("Content-Length: -1\r\n", ""), 400),
        (post("Content-Length: 99999999999999999999\r\n", ""), 400),
        (post("Content-Length: 18446744073709551615\r\n", ""), 0),
        (post("Content-Length: 100\r\n", "{"), 0),
        (post("Transfer-Encoding: chunked\r\n", "zz\r\nrubbish\r\n0\r\n\r\n"), 400),
        (post("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n"), 400),
        (post("Transfer-Encoding: chunked\r\n", "5\r\n{}"), 0),
        (post("Transfer-Encoding: chunked\r\n", "-1\r\n"), 400),
        (post("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", "2\r\n{}\r\n0\r\n\r\n"), 0),
        (post("Transfer-Encoding: identity\r\nContent-Length: 2\r\n", "{}"), 0),
        (post("Expect: 200-ok\r\nContent-Length: 2\r\n", "{}"), 0),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), 0),
        ("\u{16}\u{3}\u{1}\0\u{5}hello".to_owned(), 0),
        ("\r\n\r\n\r\n".to_owned(), 0),
        ("GET".to_owned(), 0),
        (String::new(), 0),
    ];
    for (sent, status) in table {
        let shown = sent.replace(token, "TOKEN").chars().take(300).collect::<String>();
        let response = answer(loopgate, sent.as_bytes(), status == 0).await?;
        let line = response.lines().next().unwrap_or_default();
        let code = line.split(' ').nth(1).and_then(|code| code.parse::<u16>().ok()).unwrap_or_default();
        ensure!(status == 0 || code == status, "{shown:?}: expected {status}, got {response}");
        ensure!(code < 500 || code == 501, "{shown:?}: {response}");
        // Error messages often repeat the request, which contains the token.
        ensure!(code < 400 || !response.contains(token), "{shown:?} discloses the token: {response}");
        expect_healthy(loopgate, &shown).await?;
    }
    ensure!(!loopgate.output().contains("panicked"), "{}", loopgate.output());
    Ok(())
}

// Fragments of requests in any order with arbitrary bytes between them. The seed is fixed, so every run sends
// the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arbitrary_bytes_do_not_panic() -> Result<()> {
    let local = TestGateway::new().await?;
    let loopgate = &local.loopgate;
    let host = format!("Host: 127.0.0.1:{}\r\n", loopgate.ready().gateway_port);
    let token = format!("X-Desktop-Gateway-Token: {}\r\n", loopgate.gateway_token());
    let pieces: Vec<String> = [
        "GET ",
        "POST ",
        "/health",
        "/api/gateway/repos",
        "/api/gateway/orchestrator/upload/T",
        "//",
        "%",
        " HTTP/1.1\r\n",
        " HTTP/1.0\r\n",
        &host,
        &token,
        "Transfer-Encoding: chunked\r\n",
        "Content-Length: 7\r\n",
        "Content-Type: multipart/form-data; boundary=b\r\n",
        "\r\n",
        "--b\r\n",
        "{\"path\":",
        "0\r\n\r\n",
        "5\r\n",
    ]
    .map(str::to_owned)
    .to_vec();
    let piece = prop_oneof![
        3 => prop::sample::select(pieces).prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..12),
    ];
    let requests = prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat());
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    for _ in 0..600 {
        let bytes = requests.new_tree(&mut runner).map_err(|error| anyhow::anyhow!("{error}"))?.current();
        let response = answer(loopgate, &bytes, true).await?;
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        ensure!(!response.starts_with("HTTP/1.1 500"), "{shown:?}: {response}");
    }
    expect_healthy(loopgate, "arbitrary bytes").await?;
    ensure!(!loopgate.output().contains("panicked"), "{}", loopgate.output());
    Ok(())
}

// Connections that send an incomplete request and then nothing do not block others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_connections_do_not_block_others() -> Result<()> {
    let local = TestGateway::new().await?;
    let loopgate = &local.loopgate;
    let port = loopgate.ready().gateway_port;
    let token = loopgate.gateway_token();
    let beginnings = [
        "G".to_owned(),
        format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Slow: "),
        format!(
            "POST /api/gateway/repos HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Desktop-Gateway-Token: {token}\r\n\
             Content-Length: 1000\r\n\r\n{{"
        ),
    ];
    let mut connections = Vec::new();
    for n in 0..SLOW {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.write_all(beginnings[n % beginnings.len()].as_bytes()).await?;
        connections.push(stream);
    }
    for path in ["/health", "/api/gateway/version", "/api/gateway/repos"] {
        let answer = loopgate.gateway(Method::GET, path).timeout(TIMEOUT).send().await?;
        ensure!(answer.status() == 200, "{path}: {}", answer.status());
    }
    drop(connections);
    expect_healthy(loopgate, "slow connections").await
}
