//! Invalid input to the running program: every documented error with its whole body. The rows of a test share
//! a home and change nothing, so their order does not matter.

mod access;
mod launch;
mod local_routes;
mod loops;
mod raw_bytes;
mod repositories;
mod routing;
mod tickets;

use anyhow::{Context as _, Result};
use loopgate_testkit::loopgate::Loopgate;
use reqwest::{Method, header};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const LOOP: &str = "/api/gateway/orchestrator/loop";
const KILL: &str = "/api/gateway/orchestrator/loop/kill";
const REPOS: &str = "/api/gateway/repos";
const EXCHANGE: &str = "/gateway-auth/exchange";
const ID: &str = "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718";
/// A valid API key for homes without a control plane.
const API_KEY: &str = "lgk_live_0123456789abcdef0123456789abcdef";
/// Error text and code for a path outside the sandbox.
const DENIED: (&str, &str) = ("directory not allowed", "directory_not_allowed");

/// A request and the expected error.
struct RefusalRow {
    request: (Method, String, String),
    status: u16,
    body: Value,
}

fn row(method: Method, path: impl Into<String>, sent: impl ToString, status: u16, body: Value) -> RefusalRow {
    RefusalRow { request: (method, path.into(), sent.to_string()), status, body }
}

/// Returns a row whose error has the members `error` and `code` only.
fn post(path: &str, sent: impl ToString, status: u16, error: &str, code: &str) -> RefusalRow {
    row(Method::POST, path, sent, status, json!({"error": error, "code": code}))
}

fn get(path: impl Into<String>, status: u16, error: &str, code: &str) -> RefusalRow {
    row(Method::GET, path, "", status, json!({"error": error, "code": code}))
}

fn too_large(path: &str, bytes: usize, max: usize) -> RefusalRow {
    let body = json!({"error": "request body too large", "code": "request_body_too_large", "maxBytes": max});
    row(Method::POST, path, "x".repeat(bytes), 413, body)
}

/// Sends every row with the gateway's token, and fails with a list of the rows whose response differs.
async fn check(loopgate: &Loopgate, rows: Vec<RefusalRow>) -> Result<()> {
    let mut mismatches = Vec::new();
    for RefusalRow { request: (method, path, sent), status, body } in rows {
        let line = format!("{method} {path} {}", sent.chars().take(300).collect::<String>());
        let answer = loopgate.gateway(method, &path).body(sent).send().await.context(line.clone())?;
        let kind = answer.headers().get(header::CONTENT_TYPE).cloned();
        let (actual, text) = (answer.status().as_u16(), answer.text().await?);
        let json = serde_json::from_str::<Value>(&text).unwrap_or_default();
        if (actual, &json) != (status, &body) || kind.is_none_or(|kind| kind != "application/json") {
            mismatches.push(format!("{line}\n   expected {status} {body}\n   got      {actual} {text}"));
        }
    }
    anyhow::ensure!(
        mismatches.is_empty(),
        "{} responses differ:\n{}",
        mismatches.len(),
        mismatches.join("\n")
    );
    Ok(())
}

/// Sends raw bytes and returns everything that is received until the connection closes.
pub async fn raw(loopgate: &Loopgate, request: &str) -> Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", loopgate.ready().gateway_port)).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8(answer)?)
}

/// Returns status and body of a response.
async fn status_and_body(answer: reqwest::Response) -> Result<(u16, Value)> {
    Ok((answer.status().as_u16(), answer.json().await?))
}
