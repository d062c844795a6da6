//! Cross-site request forgery: forms and requests without a preflight, which any page can make a browser
//! send. They have no effect, whatever credentials they carry.

use anyhow::{Context as _, Result, ensure};
use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::test_gateway::TestGateway;
use crate::test_system::TestSystem;

const REPOS: &str = "/api/gateway/repos";
const EXCHANGE: &str = "/gateway-auth/exchange";
/// Content types that a browser sends cross-origin without a preflight.
const SIMPLE: [&str; 5] = [
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/x-www-form-urlencoded",
    "Multipart/Form-Data; boundary=x",
    "",
];

fn refusal() -> Value {
    json!({"error": "content type not supported, send application/json", "code": "unsupported_media_type"})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn simple_requests_are_refused_even_with_a_session() -> Result<()> {
    let system = TestSystem::story().await?;
    let (loopgate, page) = (&system.loopgate, system.loopgate.ready().page_url.clone());
    let challenge = async || {
        let body = json!({"origin": page});
        let response = system.page.0.post("/compute-targets/local-auth/challenge", &body).await?;
        anyhow::Ok(json!({"challengeToken": response["data"]["challengeToken"]}).to_string())
    };
    let exchange = |kind: &str, body: String| {
        let request = loopgate.gateway_bare(Method::POST, EXCHANGE).header(header::ORIGIN, &page);
        request.header(header::CONTENT_TYPE, kind).body(body)
    };
    let good = challenge().await?;
    for kind in SIMPLE {
        let answer = exchange(kind, good.clone()).send().await?;
        ensure!(answer.headers()[header::CACHE_CONTROL] == "no-store");
        ensure!((answer.status().as_u16(), answer.json::<Value>().await?) == (415, refusal()), "{kind}");
    }
    // A challenge is valid once. Its exchange succeeds here, so the refused requests did not consume it.
    let granted: Value = exchange("application/json", good).send().await?.error_for_status()?.json().await?;
    let session = granted["sessionToken"].as_str().context("a session")?;

    let repository = system.testbed.sandbox().join("more");
    std::fs::create_dir_all(&repository)?;
    let add = |kind: Option<&str>| {
        let request = loopgate.gateway_bare(Method::POST, REPOS).header(header::ORIGIN, &page);
        let request =
            request.header("x-desktop-session-token", session).body(json!({"path": repository}).to_string());
        match kind {
            Some(kind) => request.header(header::CONTENT_TYPE, kind),
            None => request.header("sec-fetch-mode", "no-cors"),
        }
    };
    for kind in SIMPLE.map(Some).into_iter().chain([None]) {
        let answer = add(kind).send().await?;
        ensure!((answer.status().as_u16(), answer.json::<Value>().await?) == (415, refusal()), "{kind:?}");
    }
    let listed: Value = loopgate.gateway(Method::GET, REPOS).send().await?.json().await?;
    ensure!(!listed.to_string().contains("/more\""), "{listed}");
    // The gateway token is not sent by browsers, so the content type of its requests does not matter.
    let own = loopgate.gateway(Method::GET, REPOS).header(header::CONTENT_TYPE, "text/plain").body("x");
    ensure!(own.send().await?.status() == 200);
    ensure!(add(Some("application/json; charset=utf-8")).send().await?.status() == 200);
    Ok(())
}

// Without authentication, the content type of the body is the only protection against other sites.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cross_site_form_is_refused_without_authentication() -> Result<()> {
    let local = TestGateway::with(|setup| setup.env("LOOPGATE_LOCAL_GATEWAY_NO_AUTH", "1")).await?;
    let repository = local.at("more");
    std::fs::create_dir_all(&repository)?;
    let post = |kind: &str| {
        let request = local.loopgate.gateway_bare(Method::POST, REPOS).header(header::CONTENT_TYPE, kind);
        request.body(json!({"path": repository}).to_string())
    };
    for origin in ["https://evil.test", "null", "http://localhost:3000"] {
        for kind in SIMPLE {
            let answer = post(kind).header(header::ORIGIN, origin).send().await?;
            ensure!(answer.status() == 415, "{kind} of {origin}: {}", answer.status());
        }
    }
    let listed: Value = local.loopgate.gateway_bare(Method::GET, REPOS).send().await?.json().await?;
    ensure!(listed["repos"] == json!([]), "{listed}");
    ensure!(post("application/json").send().await?.status() == 200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exchanges_and_failed_sign_ins_are_limited_per_origin() -> Result<()> {
    let local = TestGateway::new().await?;
    let exchange = |origin: &str| {
        let request = local.loopgate.gateway_bare(Method::POST, EXCHANGE).header(header::ORIGIN, origin);
        request.json(&json!({"challengeToken": "x"})).send()
    };
    let guess = |origin: &str| {
        let request = local.loopgate.gateway_bare(Method::GET, REPOS).header(header::ORIGIN, origin);
        request.header("x-desktop-session-token", "0".repeat(64)).send()
    };
    let (greedy, other) = ("http://localhost:1", "http://localhost:2");
    for (refused, most) in [(false, 200), (true, 2_000)] {
        // Requests without a pause must be limited at some point, at the latest after `most`.
        let send = async |origin| if refused { guess(origin).await } else { exchange(origin).await };
        let mut granted = 0;
        let last = loop {
            let answer = send(greedy).await?;
            if answer.status() == 429 {
                break answer;
            }
            granted += 1;
            ensure!(granted < most, "{granted} requests without a 429");
        };
        ensure!(granted >= 60, "only {granted} requests, fewer than a page may need");
        let wait = last.headers().get(header::RETRY_AFTER).context("no retry-after")?.to_str()?;
        ensure!((1..=2).contains(&wait.parse::<u64>()?), "{wait}");
        let body: Value = last.json().await?;
        ensure!(body["code"] == "too_many_requests", "{body}");
        ensure!(send(other).await?.status() != 429, "the limit applies to another origin");
    }
    ensure!(local.loopgate.gateway(Method::GET, REPOS).send().await?.status() == 200);
    Ok(())
}
