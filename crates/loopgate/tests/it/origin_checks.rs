//! Host and origin checks on every route: other sites, and host names that DNS rebinding resolves to this
//! machine.

use anyhow::{Result, ensure};
use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::test_system::TestSystem;

#[path = "../../../gateway/src/tests/specified_routes.rs"]
mod specified_routes;

/// Host names that may resolve to loopback but are not accepted.
const HOSTS: [&str; 4] = ["evil.test", "evil.test:19432", "127.0.0.1.evil.test", "localhost.evil.test:80"];
const ORIGIN: &str = "https://evil.test";
/// Origins that are not accepted. Some of them resemble accepted ones.
const ORIGINS: [&str; 5] =
    [ORIGIN, "null", "http://127.evil.test:8080", "http://localhost.evil.test", "http://evil.test:19432"];
const ALLOW_PRIVATE_NETWORK: &str = "access-control-allow-private-network";

/// Returns the gateway's routes, with the name of each parameter in its place.
pub fn routes() -> impl Iterator<Item = (Method, String)> {
    specified_routes::SPECIFIED
        .iter()
        .filter_map(|(method, path, _)| Some((method.parse().ok()?, path.replace([':', '*'], ""))))
}

/// Percent-encodes a text for a query.
pub fn percent_encode(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_host_is_refused_on_every_route() -> Result<()> {
    let system = TestSystem::story().await?;
    let refusal = json!({"error": "host not allowed", "code": "host_not_allowed"});
    for (method, path) in routes() {
        for host in HOSTS {
            // The token is valid, so that only the host check can refuse the request.
            let request = system.loopgate.gateway(method.clone(), &path).header(header::HOST, host);
            let answer = request.send().await?;
            ensure!(answer.status() == 403, "{method} {path} for {host}: {}", answer.status());
            let granted = answer.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN).cloned();
            ensure!(granted.is_none(), "{method} {path} grants {granted:?} to {host}");
            ensure!(answer.json::<Value>().await? == refusal, "{method} {path} for {host}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_origin_is_refused_on_every_route() -> Result<()> {
    let system = TestSystem::story().await?;
    let loopgate = &system.loopgate;
    for origin in ORIGINS {
        for (method, path) in routes() {
            let preflight = loopgate
                .gateway_bare(Method::OPTIONS, &path)
                .header(header::ORIGIN, origin)
                .header("access-control-request-method", method.as_str())
                .header("access-control-request-private-network", "true");
            let answer = preflight.send().await?;
            ensure!(answer.status() == 204, "OPTIONS {path}: {}", answer.status());
            grants_nothing(answer.headers(), &format!("OPTIONS {path} of {origin}"))?;

            let request = loopgate.gateway_bare(method.clone(), &path).header(header::ORIGIN, origin);
            let request = request.header("access-control-request-private-network", "true");
            let answer = request.header("x-desktop-session-token", "0".repeat(64)).send().await?;
            let what = format!("{method} {path} of {origin}");
            grants_nothing(answer.headers(), &what)?;
            let (status, body) = (answer.status().as_u16(), answer.json::<Value>().await?);
            // Programs may call `/health` without credentials; the headers keep the response from the page.
            let refused = match path.as_str() {
                "/health" => status == 200,
                "/gateway-auth/exchange" if origin == "null" => status == 400,
                "/gateway-auth/exchange" => status == 403 && body["error"] == "Origin not allowed",
                _ => matches!((status, body["code"].as_str()), (401, Some("unauthorized")) | (429, _)),
            };
            ensure!(refused, "{what}: {status} {body}");
        }
    }
    Ok(())
}

// With a leaked token a page could send requests. The response headers must still prevent it from reading any
// response, whatever its status.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn response_is_not_readable_for_an_unknown_origin_whatever_its_status() -> Result<()> {
    let system = TestSystem::story().await?;
    let loopgate = &system.loopgate;
    let requests = [
        (Method::GET, "/nope", "", 404),
        (Method::GET, "/api/gateway", "", 404),
        (Method::POST, "/health", "", 404),
        (Method::GET, "/api/gateway/nope", "", 403),
        (Method::POST, "/api/gateway/version", "", 501),
        (Method::DELETE, "/api/gateway/health-check", "", 501),
        (Method::GET, "/api/gateway/version", "", 200),
        (Method::GET, "/api/gateway/repos", "", 200),
        (Method::POST, "/api/gateway/repos", "{", 400),
        (Method::POST, "/api/gateway/orchestrator/loop", "{", 400),
        (Method::GET, "/api/gateway/orchestrator/status/%zz", "", 400),
        (Method::GET, "/api/gateway/orchestrator/status/X?repo=%2Fetc", "", 403),
    ];
    for origin in ORIGINS {
        for (method, path, body, expected) in requests.clone() {
            let request = loopgate.gateway(method.clone(), path).header(header::ORIGIN, origin).body(body);
            let answer = request.header("access-control-request-private-network", "TRUE").send().await?;
            ensure!(answer.status() == expected, "{method} {path}: {}", answer.status());
            grants_nothing(answer.headers(), &format!("{method} {path} of {origin}"))?;
        }
        let huge = loopgate.gateway(Method::POST, "/api/gateway/repos").header(header::ORIGIN, origin);
        let answer = huge.body("x".repeat(262_145)).send().await?;
        ensure!(answer.status() == 413, "{}", answer.status());
        grants_nothing(answer.headers(), &format!("413 of {origin}"))?;
    }
    Ok(())
}

// Loopback origins and the web application are accepted, with private network access.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn known_origins_are_granted_access() -> Result<()> {
    let system = TestSystem::story().await?;
    let page = system.loopgate.ready().page_url.clone();
    for origin in [page.as_str(), "http://127.0.0.2:8080", "http://localhost:3000", "http://[::1]:5"] {
        for (method, path) in [
            (Method::OPTIONS, "/api/gateway/version"),
            (Method::OPTIONS, "/health"),
            (Method::GET, "/health"),
            (Method::GET, "/api/gateway/version"),
            (Method::GET, "/nope"),
        ] {
            let request = system.loopgate.gateway_bare(method.clone(), path).header(header::ORIGIN, origin);
            let answer = request.header("access-control-request-private-network", "true").send().await?;
            let granted = answer.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
            ensure!(granted.is_some_and(|granted| granted == origin), "{method} {path}: {granted:?}");
            let private = answer.headers().get(ALLOW_PRIVATE_NETWORK);
            ensure!(private.is_some_and(|private| private == "true"), "{method} {path} of {origin}");
        }
    }
    // Without an origin, the response names the web application and does not grant private network access.
    let answer = system.loopgate.gateway_bare(Method::GET, "/health").send().await?;
    let granted = answer.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    ensure!(granted.is_some_and(|granted| *granted == page), "{granted:?}");
    ensure!(!answer.headers().contains_key(ALLOW_PRIVATE_NETWORK));
    Ok(())
}

/// Checks that a response grants nothing to the page: neither CORS, which lets it read the response of
/// `fetch`, nor embedding, for example as an image or script.
fn grants_nothing(headers: &header::HeaderMap, what: &str) -> Result<()> {
    let count = headers.get_all(header::ACCESS_CONTROL_ALLOW_ORIGIN).iter().count();
    ensure!(count <= 1, "{what} has {count} allowed origins");
    let granted = headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    ensure!(
        granted.is_none_or(|granted| granted != "*" && ORIGINS.iter().all(|origin| granted != origin)),
        "{what} grants access to {granted:?}"
    );
    ensure!(!headers.contains_key(ALLOW_PRIVATE_NETWORK), "{what} grants access to the private network");
    let credentials = headers.get(header::ACCESS_CONTROL_ALLOW_CREDENTIALS);
    ensure!(credentials.is_none_or(|allowed| allowed == "false"), "{what} allows credentials");
    let policy = headers.get("cross-origin-resource-policy");
    ensure!(policy.is_some_and(|policy| policy == "same-origin"), "{what} can be embedded by any page");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn control_plane_refuses_unknown_hosts_and_origins_on_every_route() -> Result<()> {
    let system = TestSystem::story().await?;
    let document = system.testbed.home.command(env!("CARGO_BIN_EXE_loopgate"));
    let printed = { document }.args(["openapi", "control-plane"]).output().await?;
    let document: Value = serde_json::from_slice(&printed.stdout)?;
    let mut checked = 0;
    for (path, operations) in document["paths"].as_object().into_iter().flatten() {
        let path = path.replace(['{', '}'], "");
        for method in operations.as_object().into_iter().flatten().map(|(name, _)| name.to_uppercase()) {
            let Ok(method) = method.parse::<Method>() else { continue };
            if !["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&method.as_str()) {
                continue;
            }
            checked += 1;
            let request = system.page.0.request(method.clone(), &path).header(header::HOST, "evil.test");
            let answer = request.send().await?;
            ensure!(answer.status() == 403, "{method} {path}: {}", answer.status());

            let url = format!("{}{path}", system.loopgate.ready().api_origin);
            let request = loopgate_http_client::builder().build()?.request(method.clone(), url);
            let request =
                request.header(header::COOKIE, system.page.0.cookie()).header(header::ORIGIN, ORIGIN);
            let answer = request.send().await?;
            ensure!(answer.status() == 403, "{method} {path}: {}", answer.status());
            let granted = answer.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
            ensure!(granted.is_none_or(|granted| granted != ORIGIN && granted != "*"), "{method} {path}");
        }
    }
    // A document without paths would make this test pass without any request.
    ensure!(checked > 40, "only {checked} routes");
    Ok(())
}

// Browsers send the session cookie to every port of the host, so a program on another port can capture it and
// forge any header. The cookie alone must not authenticate.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn session_cookie_alone_does_not_authenticate() -> Result<()> {
    let system = TestSystem::story().await?;
    let (page, ready) = (&system.page.0, system.loopgate.ready());
    let id = page.cookie().split_once('=').map(|(_, id)| id.to_owned()).unwrap_or_default();
    let http = loopgate_http_client::builder().build()?;
    let document = system.testbed.home.command(env!("CARGO_BIN_EXE_loopgate"));
    let printed = { document }.args(["openapi", "control-plane"]).output().await?;
    let document: Value = serde_json::from_slice(&printed.stdout)?;
    for (path, operations) in document["paths"].as_object().into_iter().flatten() {
        for method in operations.as_object().into_iter().flatten().map(|(name, _)| name.to_uppercase()) {
            let Ok(method) = method.parse::<Method>() else { continue };
            let url = format!("{}{}", ready.api_origin, path.replace(['{', '}'], ""));
            let anonymous = || http.request(method.clone(), &url).header(header::ORIGIN, &ready.page_url);
            let expected = anonymous().send().await?.status();
            for request in [
                anonymous().header(header::COOKIE, page.cookie()),
                anonymous().header(header::COOKIE, page.cookie()).header("x-session-key", &id),
                anonymous().header(header::COOKIE, page.cookie()).bearer_auth(&id),
                anonymous().bearer_auth(&id),
            ] {
                let status = request.send().await?.status();
                ensure!(status == 401 || status == expected, "{method} {path}: {status}");
            }
        }
    }
    ensure!(page.get("/me").await.is_ok(), "the page is no longer signed in");
    Ok(())
}
