//! Forwarding of requests without a handler to the fallback gateway that the owner configures.

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
use crate::test_gateway::TestGateway;

const VARIABLE: &str = "ORCHESTRATOR_GATEWAY_FALLBACK_ORIGIN";
/// A path that this gateway serves, but not for POST.
const OTHER_METHOD: &str = "/api/gateway/version?a=1&b=%2F";

/// A request that the fallback gateway received.
#[derive(Clone)]
struct ReceivedRequest {
    method: Method,
    target: String,
    headers: HeaderMap,
    body: Bytes,
}

type RecordedRequests = Arc<Mutex<Vec<ReceivedRequest>>>;

async fn answer(
    State(recorded): State<RecordedRequests>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> impl IntoResponse {
    let target = uri.to_string();
    recorded.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(ReceivedRequest {
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

async fn start_fallback_gateway() -> Result<(String, RecordedRequests)> {
    let recorded = RecordedRequests::default();
    let router = Router::new().fallback(answer).with_state(recorded.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let origin = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok((origin, recorded))
}

// GC-29
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_without_a_handler_are_forwarded_to_the_fallback_gateway() -> Result<()> {
    let (origin, recorded) = start_fallback_gateway().await?;
    let local = TestGateway::with(|setup| setup.env(VARIABLE, format!("{origin}/"))).await?;
    let page = "http://localhost:3000";
    let client = loopgate_http_client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    let send = |method: Method, path: &str| {
        let url = format!("{}{path}", local.loopgate.gateway_origin());
        client
            .request(method, url)
            .header("x-desktop-gateway-token", local.loopgate.gateway_token())
            .header("x-desktop-session-token", "a-session")
            .header("origin", page)
            .header("connection", "x-private")
            .header("x-private", "1")
            .header("x-end-to-end", "2")
    };
    let response = send(Method::POST, OTHER_METHOD).body("a body").send().await?;
    ensure!(response.status() == 302, "{}", response.status());
    let headers = response.headers();
    ensure!(headers["access-control-allow-origin"] == page, "{headers:?}");
    ensure!(headers.get_all("access-control-allow-origin").iter().count() == 1);
    ensure!(headers["x-upstream"] == "one" && headers["content-type"] == "text/strange", "{headers:?}");
    ensure!(!headers.contains_key("keep-alive"), "{headers:?}");
    ensure!(response.text().await? == "from elsewhere");

    let forwarded = recorded
        .lock()
        .ok()
        .and_then(|recorded| recorded.first().cloned())
        .context("no request was forwarded")?;
    ensure!((forwarded.method, forwarded.target.as_str()) == (Method::POST, OTHER_METHOD));
    ensure!(&forwarded.body[..] == b"a body");
    ensure!(
        forwarded.headers.get("host") == Some(&HeaderValue::from_str(origin.trim_start_matches("http://"))?)
    );
    ensure!(
        forwarded.headers["x-end-to-end"] == "2" && forwarded.headers["origin"] == page,
        "{:?}",
        forwarded.headers
    );
    for name in ["x-desktop-gateway-token", "x-desktop-session-token", "x-private"] {
        ensure!(!forwarded.headers.contains_key(name), "{name}: {:?}", forwarded.headers);
    }
    // Other methods without a handler are forwarded as well; requests that this gateway answers or refuses
    // are not.
    send(Method::DELETE, "/api/gateway/health-check").send().await?;
    let count = recorded.lock().map(|recorded| recorded.len()).unwrap_or_default();
    ensure!(count == 2, "{count}");
    for (path, status) in [("/api/gateway/version", 200), ("/api/gateway/nope", 403), ("/nope", 404)] {
        ensure!(send(Method::GET, path).send().await?.status() == status, "{path}");
    }
    let unauthenticated = local.loopgate.gateway_bare(Method::POST, OTHER_METHOD).send().await?;
    ensure!(unauthenticated.status() == 401);
    ensure!(recorded.lock().is_ok_and(|recorded| recorded.len() == 2));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreachable_fallback_gateway_is_reported() -> Result<()> {
    let unused_origin = format!("http://127.0.0.1:{}", free_port()?);
    let local = TestGateway::with(|setup| setup.env(VARIABLE, unused_origin)).await?;
    let answer = local.loopgate.gateway(Method::POST, OTHER_METHOD).send().await?;
    ensure!(answer.status() == 502);
    let body: Value = answer.json().await?;
    ensure!(
        body == json!({"error": "fallback gateway unreachable", "code": "fallback_unreachable"}),
        "{body}"
    );
    // An invalid origin is reported at startup.
    let home = UserHome::temporary()?;
    let data = home.path().join("data").to_string_lossy().into_owned();
    for wrong in ["nonsense", "http://example.com"] {
        let message =
            refusal(&home, &["gateway", "--home", &data, "--port", "0"], &[(VARIABLE, wrong)]).await?;
        ensure!(message.contains(VARIABLE), "{message}");
    }
    Ok(())
}
