//! Requests that no handler takes, handed to another gateway that the owner names.

use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result, ensure};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::IntoResponse;
use loopgate_testkit::free_port;
use loopgate_testkit::home::UserHome;
use serde_json::{Value, json};

use crate::cli::refusal;
use crate::local::Local;

const VARIABLE: &str = "ORCHESTRATOR_GATEWAY_FALLBACK_ORIGIN";
/// A path of ours, which takes no POST.
const OTHER_METHOD: &str = "/api/gateway/version?a=1&b=%2F";

/// What the other gateway was asked.
#[derive(Clone)]
struct ReceivedRequest {
    method: Method,
    target: String,
    headers: HeaderMap,
    body: Bytes,
}

type RecordedRequests = Arc<Mutex<Vec<ReceivedRequest>>>;

async fn answer(
    State(seen): State<RecordedRequests>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> impl IntoResponse {
    let target = uri.to_string();
    seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(ReceivedRequest {
        method,
        target,
        headers,
        body,
    });
    let headers = [
        ("access-control-allow-origin", "*"),
        ("x-upstream", "one"),
        ("location", "/elsewhere"),
        ("keep-alive", "timeout=1"),
        ("content-type", "text/strange"),
    ];
    (StatusCode::FOUND, headers, "from elsewhere")
}

async fn other_gateway() -> Result<(String, RecordedRequests)> {
    let seen = RecordedRequests::default();
    let router = Router::new().fallback(answer).with_state(seen.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let origin = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok((origin, seen))
}

// GC-29
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_handler_takes_goes_to_the_other_gateway() -> Result<()> {
    let (origin, seen) = other_gateway().await?;
    let local = Local::with(|setup| setup.env(VARIABLE, format!("{origin}/"))).await?;
    let page = "http://localhost:3000";
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    let ask = |method: Method, path: &str| {
        let url = format!("{}{path}", local.loopgate.gateway_origin());
        client
            .request(method, url)
            .header("x-desktop-gateway-token", local.loopgate.gateway_token())
            .header("x-desktop-session-token", "a-session")
            .header("origin", page)
            .header("connection", "x-private")
            .header("x-private", "1")
            .header("x-kept", "2")
    };
    let answered = ask(Method::POST, OTHER_METHOD).body("a body").send().await?;
    ensure!(answered.status() == 302, "{}", answered.status());
    let headers = answered.headers();
    ensure!(headers["access-control-allow-origin"] == page, "{headers:?}");
    ensure!(headers.get_all("access-control-allow-origin").iter().count() == 1);
    ensure!(headers["x-upstream"] == "one" && headers["content-type"] == "text/strange", "{headers:?}");
    ensure!(!headers.contains_key("keep-alive"), "{headers:?}");
    ensure!(answered.text().await? == "from elsewhere");

    let asked = seen.lock().ok().and_then(|seen| seen.first().cloned()).context("it was asked")?;
    ensure!((asked.method, asked.target.as_str()) == (Method::POST, OTHER_METHOD));
    ensure!(&asked.body[..] == b"a body");
    ensure!(asked.headers.get("host") == Some(&HeaderValue::from_str(origin.trim_start_matches("http://"))?));
    ensure!(asked.headers["x-kept"] == "2" && asked.headers["origin"] == page, "{:?}", asked.headers);
    for own in ["x-desktop-gateway-token", "x-desktop-session-token", "x-private"] {
        ensure!(!asked.headers.contains_key(own), "{own}: {:?}", asked.headers);
    }
    // So does another method; what is answered or refused here does not.
    ask(Method::DELETE, "/api/gateway/health-check").send().await?;
    let kept = seen.lock().map(|seen| seen.len()).unwrap_or_default();
    ensure!(kept == 2, "{kept}");
    for (path, status) in [("/api/gateway/version", 200), ("/api/gateway/nope", 403), ("/nope", 404)] {
        ensure!(ask(Method::GET, path).send().await?.status() == status, "{path}");
    }
    let stranger = local.loopgate.gateway_bare(Method::POST, OTHER_METHOD).send().await?;
    ensure!(stranger.status() == 401);
    ensure!(seen.lock().is_ok_and(|seen| seen.len() == 2));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreachable_fallback_gateway_is_reported() -> Result<()> {
    let nobody = format!("http://127.0.0.1:{}", free_port()?);
    let local = Local::with(|setup| setup.env(VARIABLE, nobody)).await?;
    let answer = local.loopgate.gateway(Method::POST, OTHER_METHOD).send().await?;
    ensure!(answer.status() == 502);
    let body: Value = answer.json().await?;
    ensure!(
        body == json!({"error": "fallback gateway unreachable", "code": "fallback_unreachable"}),
        "{body}"
    );
    // An origin that is none is told at the start.
    let home = UserHome::temporary()?;
    let data = home.path().join("data").to_string_lossy().into_owned();
    for wrong in ["nonsense", "http://example.com"] {
        let message =
            refusal(&home, &["gateway", "--home", &data, "--port", "0"], &[(VARIABLE, wrong)]).await?;
        ensure!(message.contains(VARIABLE), "{message}");
    }
    Ok(())
}
