//! Bytes that are no request, or a request that no client of ours would write. Whatever comes, it ends
//! nothing but its own connection.

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

use crate::local::Local;

/// How long an answer may take; nothing here has to wait for anything.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Connections that a slow stranger opens.
const SLOW: usize = 200;

/// What comes back for these bytes until the connection ends; `and_ends` says that nothing follows
/// them. A reset is an empty answer.
async fn answer(loopgate: &Loopgate, bytes: &[u8], and_ends: bool) -> Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", loopgate.ready().gateway_port)).await?;
    let mut answer = Vec::new();
    let talk = async {
        // The other side may close before it has read everything.
        let _ = stream.write_all(bytes).await;
        if and_ends {
            let _ = stream.shutdown().await;
        }
        let _ = stream.read_to_end(&mut answer).await;
    };
    tokio::time::timeout(TIMEOUT, talk).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

async fn answers_still(loopgate: &Loopgate, after: &str) -> Result<()> {
    let health = loopgate.gateway_bare(Method::GET, "/health").timeout(TIMEOUT).send().await;
    ensure!(health.is_ok_and(|health| health.status() == 200), "no /health after {after}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strange_requests_are_answered_and_survived() -> Result<()> {
    let local = Local::new().await?;
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
    // What is sent, and the status of its answer; where several are right, or none, it is 0, and the
    // connection ends with what was sent.
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
        let got = answer(loopgate, sent.as_bytes(), status == 0).await?;
        let line = got.lines().next().unwrap_or_default();
        let code = line.split(' ').nth(1).and_then(|code| code.parse::<u16>().ok()).unwrap_or_default();
        ensure!(status == 0 || code == status, "{shown:?}: wanted {status}, got {got}");
        ensure!(code < 500 || code == 501, "{shown:?}: {got}");
        ensure!(code < 400 || !got.contains(token), "{shown:?} shows the token: {got}");
        answers_still(loopgate, &shown).await?;
    }
    ensure!(!loopgate.output().contains("panicked"), "{}", loopgate.output());
    Ok(())
}

/// Pieces of requests in any order, with any bytes between them; the same ones at each run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arbitrary_bytes_do_not_panic() -> Result<()> {
    let local = Local::new().await?;
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
        let got = answer(loopgate, &bytes, true).await?;
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        ensure!(!got.starts_with("HTTP/1.1 500"), "{shown:?}: {got}");
    }
    answers_still(loopgate, "any bytes").await?;
    ensure!(!loopgate.output().contains("panicked"), "{}", loopgate.output());
    Ok(())
}

/// Strangers that send a byte and then nothing hold nobody up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_connections_do_not_block_others() -> Result<()> {
    let local = Local::new().await?;
    let loopgate = &local.loopgate;
    let port = loopgate.ready().gateway_port;
    let token = loopgate.gateway_token();
    let begun = [
        "G".to_owned(),
        format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Slow: "),
        format!(
            "POST /api/gateway/repos HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Desktop-Gateway-Token: {token}\r\n\
             Content-Length: 1000\r\n\r\n{{"
        ),
    ];
    let mut strangers = Vec::new();
    for n in 0..SLOW {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.write_all(begun[n % begun.len()].as_bytes()).await?;
        strangers.push(stream);
    }
    for path in ["/health", "/api/gateway/version", "/api/gateway/repos"] {
        let answer = loopgate.gateway(Method::GET, path).timeout(TIMEOUT).send().await?;
        ensure!(answer.status() == 200, "{path}: {}", answer.status());
    }
    drop(strangers);
    answers_still(loopgate, "slow strangers").await
}
