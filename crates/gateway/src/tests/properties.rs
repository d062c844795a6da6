//! Arbitrary requests result in documented statuses, and in errors of the documented shape.

use proptest::prelude::*;

use super::test_gateway::{TOKEN, TestGateway};

const METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "PURGE"];

fn any_target() -> impl Strategy<Value = String> {
    let prefix = prop::sample::select(vec![
        "/health",
        "/api/gateway/version",
        "/api/gateway/repos",
        "/api/gateway/git/repo-path",
        "/api/gateway/orchestrator/status",
        "/api/gateway/orchestrator/status/T-1",
        "/api/gateway/orchestrator/logs/T%2F1",
        "/api/gateway/orchestrator/loop",
        "/api/gateway/work-directory/x",
        "/gateway-auth/exchange",
        "/api/gateway/",
        "/",
        "//",
    ]);
    (prefix, "[/.%\\\\a-zA-Z0-9:;=@~_-]{0,12}", "(\\?[a-zA-Z=&%/.~+0-9]{0,20})?")
        .prop_map(|(prefix, suffix, query)| format!("{prefix}{suffix}{query}"))
}

fn any_headers() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let header = prop_oneof![
        Just(("X-Desktop-Gateway-Token", TOKEN.to_owned())),
        "[ -~]{0,30}".prop_map(|v| ("X-Desktop-Session-Token", v)),
        prop::sample::select(vec!["null", "http://localhost:1", "https://evil.test", "x", ""])
            .prop_map(|v| ("Origin", v.to_owned())),
        "[ -~]{0,30}".prop_map(|v| ("X-Desktop-Source", v)),
        "[ -~]{0,30}".prop_map(|v| ("Accept", v)),
        "[ -~]{0,30}".prop_map(|v| ("Content-Type", v)),
    ];
    prop::collection::vec(header, 0..5)
}

// GC-49
#[test]
fn every_response_is_documented() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let fixture = runtime.block_on(TestGateway::new());
    // Every path of the fixture contains this directory, so a response with it leaks a path.
    let data_root = fixture.data_dir().parent().unwrap().to_string_lossy().into_owned();
    let cases = (prop::sample::select(METHODS.to_vec()), any_target(), any_headers(), "[ -~]{0,60}");
    proptest!(ProptestConfig::with_cases(400), |((method, target, headers, body) in cases)| {
        let mut request = fixture.anonymous(method, &target);
        for (name, value) in headers {
            request = request.header(name, &value);
        }
        if method != "GET" {
            request = request.body(body);
        }
        let reply = runtime.block_on(request.send());
        prop_assert!(
            matches!(reply.status, 200 | 204 | 400 | 401 | 403 | 404 | 413 | 429 | 501 | 503),
            "{method} {target}: {}", reply.status
        );
        // hyper refuses a request line that is not HTTP without a body.
        if reply.status >= 400 && method != "HEAD" && reply.header("content-type").is_some() {
            let answer = reply.json();
            prop_assert!(answer["error"].is_string() && answer["code"].is_string(), "{answer}");
            let text = reply.text();
            prop_assert!(!text.contains('\n'));
            prop_assert!(!text.contains(&*data_root) && !text.contains(TOKEN) && !text.contains("lgk_live_"));
        }
        prop_assert_ne!(reply.text(), r#"{"error":"internal error","code":"internal_error"}"#);
    });
}
