use std::collections::BTreeSet;

use sea_orm::ConnectionTrait as _;
use serde_json::json;

use crate::router::all_routes;
use crate::tests::TestApp;

#[tokio::test]
async fn pages_are_served_for_navigation_only() {
    let plane = TestApp::start().await;
    let browser = plane.anonymous().with_header("accept", "text/html,application/xhtml+xml");
    for path in ["/", "/sign-in", "/home/loops", "/home/implementation-plans/plan-1", "/home/work/%00"] {
        let page = browser.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert!(page.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"));
    }
    for path in ["/catalog", "/projects/x", "/loops/x/github-token", "/teams"] {
        let reply = browser.get(path).await;
        let expected = (501, "operation not implemented", "operation_not_implemented");
        assert_eq!(reply.failure(), expected, "{path}");
    }
    assert_eq!(
        plane.anonymous().get("/home/loops").await.failure(),
        (404, "route not found", "route_not_found")
    );
    assert_eq!(browser.post("/home/loops", json!({})).await.status, 404);
}

#[tokio::test]
async fn each_page_has_a_nonce_of_its_own() {
    let plane = TestApp::start().await;
    let browser = plane.anonymous().with_header("accept", "text/html");
    let mut nonces = BTreeSet::new();
    for path in ["/", "/", "/index.html"] {
        let page = browser.get(path).await;
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("script-src 'self';"), "{policy}");
        assert_eq!(page.header("etag"), None);
        // Without a built web app, the page has neither styles nor a nonce.
        let Some((_, rest)) = policy.split_once("'nonce-") else { continue };
        let nonce = rest.split('\'').next().unwrap();
        assert!(page.text.contains(&format!("nonce=\"{nonce}\"")), "{}", page.text);
        assert!(nonces.insert(nonce.to_owned()), "{nonce} is used twice");
    }
}

#[tokio::test]
async fn pages_connect_to_gateways_only() {
    for (port, ports) in [(Some(40_001), "40001"), (None, "19432 19433 19434 19435")] {
        let plane = TestApp::start_with(|config| config.gateway_port = port).await;
        let page = plane.anonymous().with_header("accept", "text/html").get("/home/inbox").await;
        let policy = page.header("content-security-policy").unwrap();
        let expected = ports.replace(' ', " http://127.0.0.1:");
        assert!(policy.contains(&format!("connect-src 'self' http://127.0.0.1:{expected};")), "{policy}");
        // Without a built web app, the page connects to nothing.
        if page.text.contains("csp-nonce") {
            assert!(
                page.text.contains(&format!("name=\"gateway-ports\" content=\"{ports}\"")),
                "{}",
                page.text
            );
        }
    }
}

#[tokio::test]
async fn sandboxed_frame_loads_files_of_the_app_only() {
    let plane = TestApp::start().await;
    let frame = plane.anonymous().with_header("origin", "null");
    assert_eq!(frame.get("/assets/missing.js").await.status, 404, "not refused");
    assert_eq!(frame.get("/me").await.status, 403);
    assert_eq!(frame.get("/").await.status, 403);
    let page = plane.anonymous().with_header("accept", "text/html").get("/diagram.html").await;
    let policy = page.header("content-security-policy").unwrap();
    // Without a built web app, the explanation how to build it is served.
    if page.text.contains("<title>Diagram</title>") {
        assert!(policy.contains("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(policy.contains("frame-ancestors 'self'"), "{policy}");
    }
}

#[tokio::test]
async fn unhandled_method_is_not_implemented() {
    let plane = TestApp::start().await;
    assert_eq!(plane.owner().await.send("PUT", "/loops", None).await.failure().0, 501);
    assert_eq!(plane.owner().await.send("PATCH", "/me", None).await.failure().0, 501);
}

#[tokio::test]
async fn health_needs_no_credential() {
    let plane = TestApp::start().await;
    assert_eq!(plane.anonymous().get("/health").await.text, "OK");
    for path in ["/health/live", "/health/ready", "/health/db"] {
        assert_eq!(plane.anonymous().get(path).await.text, "OK", "{path}");
    }
}

#[tokio::test]
async fn instance_that_cannot_take_requests_is_not_ready() {
    let plane = TestApp::start().await;
    let (client, db) = (plane.anonymous(), plane.app.store.writer());
    if plane.app.store.is_embedded() {
        // On PostgreSQL, this statement would reach one connection of the pool.
        db.execute_unprepared("PRAGMA query_only = 1").await.unwrap();
        let response = client.get("/health/ready").await;
        assert_eq!(response.refused(), (503, "Database cannot be written"));
        db.execute_unprepared("PRAGMA query_only = 0").await.unwrap();
    }
    // A later version has applied a migration.
    let later = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_later', 0)";
    db.execute_unprepared(later).await.unwrap();
    assert_eq!(client.get("/health/ready").await.text, "OK");
    db.execute_unprepared("DELETE FROM seaql_migrations WHERE version LIKE 'm0003%'").await.unwrap();
    let response = client.get("/health/ready").await;
    assert_eq!(response.refused(), (503, "Database has the schema of another version"));
    plane.app.drain.cancel();
    assert_eq!(client.get("/health/ready").await.refused(), (503, "Shutting down"));
    assert_eq!(client.get("/health/live").await.text, "OK");
}

#[test]
fn openapi_document_describes_every_route() {
    let document = serde_json::to_value(crate::openapi()).unwrap();
    let answer = &document["paths"]["/documents/{idOrSlug}/run-loop"]["post"]["responses"]["200"];
    assert_eq!(
        answer["content"]["application/json"]["schema"]["$ref"],
        "#/components/schemas/Data_LoopStarted"
    );
    let described = document["paths"].as_object().unwrap().iter().flat_map(|(path, item)| {
        item.as_object().unwrap().keys().map(move |method| (method.to_uppercase(), path.clone()))
    });
    let served = all_routes().into_iter().map(|(method, path, _)| (method.to_owned(), path.to_owned()));
    assert_eq!(described.collect::<BTreeSet<_>>(), served.collect());
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
    let mut ids: Vec<&str> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
    // A dangling `$ref` breaks generated clients.
    let text = document.to_string();
    let references = text.split("#/components/schemas/").skip(1).map(|rest| rest.split('"').next().unwrap());
    for name in references {
        assert!(document["components"]["schemas"][name].is_object(), "{name} is described");
    }
}

#[tokio::test]
async fn large_texts_are_compressed_and_streams_are_not() {
    let plane = TestApp::start().await;
    let (id, _) = plane.running("PLAN").await;
    let browser = plane.owner().await.with_header("accept-encoding", "gzip, deflate, br");
    let encoding = async |path: &str| {
        let response = browser.response("GET", path, None).await;
        assert_eq!(response.status(), 200, "{path}");
        response.headers().get("content-encoding").cloned()
    };
    assert_eq!(encoding("/openapi.json").await.unwrap(), "gzip");
    assert_eq!(encoding("/health").await, None, "small");
    assert_eq!(encoding(&format!("/loops/{id}/stream")).await, None, "sent as it arrives");

    let compressed = browser.response("GET", "/openapi.json", None).await;
    let vary = compressed.headers().get_all("vary").iter().any(|value| value == "accept-encoding");
    assert!(vary, "{:?}", compressed.headers());
    let bytes = axum::body::to_bytes(compressed.into_body(), usize::MAX).await.unwrap();
    let plain = plane.anonymous().get("/openapi.json").await;
    assert_eq!(plain.header("content-encoding"), None);
    assert!(bytes.len() * 5 < plain.text.len());
    let text = std::io::read_to_string(flate2::read::GzDecoder::new(&bytes[..])).unwrap();
    assert_eq!(text, plain.text);
}
