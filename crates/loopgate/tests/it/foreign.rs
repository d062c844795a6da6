//! A page of another site, or a name that was bent to this machine, gets nothing, on any route.

use anyhow::{Result, ensure};
use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::stage::Stage;

#[path = "../../../gateway/src/tests/specified_routes.rs"]
mod specified_routes;

/// Names that resolve to this machine without being ours.
const HOSTS: [&str; 4] = ["evil.test", "evil.test:19432", "127.0.0.1.evil.test", "localhost.evil.test:80"];
const ORIGIN: &str = "https://evil.test";

/// The gateway's routes, with something in the place of each parameter.
fn routes() -> impl Iterator<Item = (Method, String)> {
    specified_routes::SPECIFIED
        .iter()
        .filter_map(|(method, path, _)| Some((method.parse().ok()?, path.replace([':', '*'], ""))))
}

/// A text as it stands in a query.
pub fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_foreign_host_name_gets_nothing_on_any_route() -> Result<()> {
    let stage = Stage::story().await?;
    let refusal = json!({"error": "host not allowed", "code": "host_not_allowed"});
    for (method, path) in routes() {
        for host in HOSTS {
            // With the right token, so that nothing else can be what refuses.
            let request = stage.loopgate.gateway(method.clone(), &path).header(header::HOST, host);
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
async fn a_foreign_page_gets_nothing_on_any_route() -> Result<()> {
    let stage = Stage::story().await?;
    for (method, path) in routes() {
        let preflight = stage
            .loopgate
            .gateway_bare(Method::OPTIONS, &path)
            .header(header::ORIGIN, ORIGIN)
            .header("access-control-request-method", method.as_str())
            .header("access-control-request-private-network", "true");
        let answer = preflight.send().await?;
        not_for_the_page(answer.headers(), &format!("OPTIONS {path}"))?;
        ensure!(!answer.headers().contains_key("access-control-allow-private-network"), "OPTIONS {path}");

        let request = stage.loopgate.gateway_bare(method.clone(), &path).header(header::ORIGIN, ORIGIN);
        let answer = request.header("x-desktop-session-token", "0".repeat(64)).send().await?;
        not_for_the_page(answer.headers(), &format!("{method} {path}"))?;
        let (status, body) = (answer.status().as_u16(), answer.json::<Value>().await?);
        // The probe is open to programs; its answer is withheld from the page by the header above.
        let refused = match path.as_str() {
            "/health" => status == 200,
            "/gateway-auth/exchange" => status == 403 && body["error"] == "Origin not allowed",
            _ => matches!((status, body["code"].as_str()), (401, Some("unauthorized")) | (429, _)),
        };
        ensure!(refused, "{method} {path}: {status} {body}");
    }
    Ok(())
}

/// A browser hands an answer to a page only when this header names it.
fn not_for_the_page(headers: &header::HeaderMap, what: &str) -> Result<()> {
    let granted = headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    ensure!(granted.is_none_or(|origin| origin != ORIGIN && origin != "*"), "{what} is for {granted:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_control_plane_refuses_both_on_every_route() -> Result<()> {
    let stage = Stage::story().await?;
    let document = stage.scene.home.command(env!("CARGO_BIN_EXE_loopgate"));
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
            let request = stage.page.0.request(method.clone(), &path).header(header::HOST, "evil.test");
            let answer = request.send().await?;
            ensure!(answer.status() == 403, "{method} {path}: {}", answer.status());

            let url = format!("{}{path}", stage.loopgate.ready().api_origin);
            let request = reqwest::Client::new().request(method.clone(), url);
            let request =
                request.header(header::COOKIE, stage.page.0.cookie()).header(header::ORIGIN, ORIGIN);
            let answer = request.send().await?;
            ensure!(answer.status() == 403, "{method} {path}: {}", answer.status());
            not_for_the_page(answer.headers(), &format!("{method} {path}"))?;
        }
    }
    ensure!(tried > 40, "only {tried} routes");
    Ok(())
}
