//! A page of another site, or a name that was bent to this machine, gets nothing, on any route.

use anyhow::{Result, ensure};
use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::test_system::TestSystem;

#[path = "../../../gateway/src/tests/specified_routes.rs"]
mod specified_routes;

/// Names that resolve to this machine without being ours.
const HOSTS: [&str; 4] = ["evil.test", "evil.test:19432", "127.0.0.1.evil.test", "localhost.evil.test:80"];
const ORIGIN: &str = "https://evil.test";
/// Pages that are not ours, some of which would like to look so.
const ORIGINS: [&str; 5] =
    [ORIGIN, "null", "http://127.evil.test:8080", "http://localhost.evil.test", "http://evil.test:19432"];
const ALLOW_PRIVATE_NETWORK: &str = "access-control-allow-private-network";

/// The gateway's routes, with something in the place of each parameter.
pub fn routes() -> impl Iterator<Item = (Method, String)> {
    specified_routes::SPECIFIED
        .iter()
        .filter_map(|(method, path, _)| Some((method.parse().ok()?, path.replace([':', '*'], ""))))
}

/// A text as it is in a query.
pub fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn foreign_host_name_gets_nothing_on_any_route() -> Result<()> {
    let system = TestSystem::story().await?;
    let refusal = json!({"error": "host not allowed", "code": "host_not_allowed"});
    for (method, path) in routes() {
        for host in HOSTS {
            // With the right token, so that nothing else can be what refuses.
            let request = system.loopgate.gateway(method.clone(), &path).header(header::HOST, host);
            let answer = request.send().await?;
            ensure!(answer.status() == 403, "{method} {path} for {host}: {}", answer.status());
            let granted = answer.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN).cloned();
            ensure!(granted.is_none(), "{method} {path} tells {host} of {granted:?}");
            ensure!(answer.json::<Value>().await? == refusal, "{method} {path} for {host}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn foreign_page_gets_nothing_on_any_route() -> Result<()> {
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
            not_for_the_page(answer.headers(), &format!("OPTIONS {path} of {origin}"))?;

            let request = loopgate.gateway_bare(method.clone(), &path).header(header::ORIGIN, origin);
            let request = request.header("access-control-request-private-network", "true");
            let answer = request.header("x-desktop-session-token", "0".repeat(64)).send().await?;
            let what = format!("{method} {path} of {origin}");
            not_for_the_page(answer.headers(), &what)?;
            let (status, body) = (answer.status().as_u16(), answer.json::<Value>().await?);
            // The probe is open to programs; its answer is withheld from the page by its headers.
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

/// A page that somehow knew the token could still read nothing: whatever is answered, it is
/// answered to somebody else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_status_is_for_a_foreign_page() -> Result<()> {
    let system = TestSystem::story().await?;
    let loopgate = &system.loopgate;
    let asked = [
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
        for (method, path, body, wanted) in asked.clone() {
            let request = loopgate.gateway(method.clone(), path).header(header::ORIGIN, origin).body(body);
            let answer = request.header("access-control-request-private-network", "TRUE").send().await?;
            ensure!(answer.status() == wanted, "{method} {path}: {}", answer.status());
            not_for_the_page(answer.headers(), &format!("{method} {path} of {origin}"))?;
        }
        let huge = loopgate.gateway(Method::POST, "/api/gateway/repos").header(header::ORIGIN, origin);
        let answer = huge.body("x".repeat(262_145)).send().await?;
        ensure!(answer.status() == 413, "{}", answer.status());
        not_for_the_page(answer.headers(), &format!("413 of {origin}"))?;
    }
    Ok(())
}

/// The pages that are ours are told so, on the same routes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_pages_may_ask() -> Result<()> {
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
    // Without an origin the web app is named, and nothing is said of private networks.
    let answer = system.loopgate.gateway_bare(Method::GET, "/health").send().await?;
    let granted = answer.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    ensure!(granted.is_some_and(|granted| *granted == page), "{granted:?}");
    ensure!(!answer.headers().contains_key(ALLOW_PRIVATE_NETWORK));
    Ok(())
}

/// A browser hands an answer to a page that asks only when a header names it, and to one that
/// loads it without asking only when no other header forbids that.
fn not_for_the_page(headers: &header::HeaderMap, what: &str) -> Result<()> {
    let named = headers.get_all(header::ACCESS_CONTROL_ALLOW_ORIGIN).iter().count();
    ensure!(named <= 1, "{what} names {named} origins");
    let granted = headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    ensure!(
        granted.is_none_or(|granted| granted != "*" && ORIGINS.iter().all(|origin| granted != origin)),
        "{what} is for {granted:?}"
    );
    ensure!(!headers.contains_key(ALLOW_PRIVATE_NETWORK), "{what} opens the private network");
    let credentials = headers.get(header::ACCESS_CONTROL_ALLOW_CREDENTIALS);
    ensure!(credentials.is_none_or(|allowed| allowed == "false"), "{what} takes credentials");
    let policy = headers.get("cross-origin-resource-policy");
    ensure!(policy.is_some_and(|policy| policy == "same-origin"), "{what} may be loaded by anybody");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn control_plane_refuses_both_on_every_route() -> Result<()> {
    let system = TestSystem::story().await?;
    let document = system.testbed.home.command(env!("CARGO_BIN_EXE_loopgate"));
    let printed = { document }.args(["openapi", "control-plane"]).output().await?;
    let document: Value = serde_json::from_slice(&printed.stdout)?;
    let mut tried = 0;
    for (path, operations) in document["paths"].as_object().into_iter().flatten() {
        let path = path.replace(['{', '}'], "");
        for method in operations.as_object().into_iter().flatten().map(|(name, _)| name.to_uppercase()) {
            let Ok(method) = method.parse::<Method>() else { continue };
            if !["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&method.as_str()) {
                continue;
            }
            tried += 1;
            let request = system.page.0.request(method.clone(), &path).header(header::HOST, "evil.test");
            let answer = request.send().await?;
            ensure!(answer.status() == 403, "{method} {path}: {}", answer.status());

            let url = format!("{}{path}", system.loopgate.ready().api_origin);
            let request = reqwest::Client::new().request(method.clone(), url);
            let request =
                request.header(header::COOKIE, system.page.0.cookie()).header(header::ORIGIN, ORIGIN);
            let answer = request.send().await?;
            ensure!(answer.status() == 403, "{method} {path}: {}", answer.status());
            let granted = answer.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
            ensure!(granted.is_none_or(|granted| granted != ORIGIN && granted != "*"), "{method} {path}");
        }
    }
    ensure!(tried > 40, "only {tried} routes");
    Ok(())
}

/// Browsers send the session cookie to every port of the host. A program there can say anything in a
/// request, also that it comes from our page: with the cookie alone it is nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn session_cookie_alone_opens_nothing() -> Result<()> {
    let system = TestSystem::story().await?;
    let (page, ready) = (&system.page.0, system.loopgate.ready());
    let id = page.cookie().split_once('=').map(|(_, id)| id.to_owned()).unwrap_or_default();
    let http = reqwest::Client::new();
    let document = system.testbed.home.command(env!("CARGO_BIN_EXE_loopgate"));
    let printed = { document }.args(["openapi", "control-plane"]).output().await?;
    let document: Value = serde_json::from_slice(&printed.stdout)?;
    for (path, operations) in document["paths"].as_object().into_iter().flatten() {
        for method in operations.as_object().into_iter().flatten().map(|(name, _)| name.to_uppercase()) {
            let Ok(method) = method.parse::<Method>() else { continue };
            let url = format!("{}{}", ready.api_origin, path.replace(['{', '}'], ""));
            let anybody = || http.request(method.clone(), &url).header(header::ORIGIN, &ready.page_url);
            let expected = anybody().send().await?.status();
            for thief in [
                anybody().header(header::COOKIE, page.cookie()),
                anybody().header(header::COOKIE, page.cookie()).header("x-session-key", &id),
                anybody().header(header::COOKIE, page.cookie()).bearer_auth(&id),
                anybody().bearer_auth(&id),
            ] {
                let status = thief.send().await?.status();
                ensure!(status == 401 || status == expected, "{method} {path}: {status}");
            }
        }
    }
    ensure!(page.get("/me").await.is_ok(), "the page itself is still signed in");
    Ok(())
}
