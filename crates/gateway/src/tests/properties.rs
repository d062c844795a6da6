//! Whatever is sent: an answer of the documented kinds, and never an error without its shape.

use proptest::prelude::*;

use super::test_gateway::{TOKEN, TestGateway};

const METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "PURGE"];

fn any_target() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
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
    (known, "[/.%\\\\a-zA-Z0-9:;=@~_-]{0,12}", "(\\?[a-zA-Z=&%/.~+0-9]{0,20})?")
        .prop_map(|(known, rest, query)| format!("{known}{rest}{query}"))
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
fn every_answer_is_a_documented_one() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let place = runtime.block_on(TestGateway::new());
    // Every path of the gateway's own is there.
    let own_place = place.data_dir().parent().unwrap().to_string_lossy().into_owned();
    let cases = (prop::sample::select(METHODS.to_vec()), any_target(), any_headers(), "[ -~]{0,60}");
    proptest!(ProptestConfig::with_cases(400), |((method, target, headers, body) in cases)| {
        let mut ask = place.ask(method, &target);
        for (name, value) in headers {
            ask = ask.header(name, &value);
        }
        if method != "GET" {
            ask = ask.body(body);
        }
        let reply = runtime.block_on(ask.send());
        prop_assert!(
            matches!(reply.status, 200 | 204 | 400 | 401 | 403 | 404 | 413 | 429 | 501 | 503),
            "{method} {target}: {}", reply.status
        );
        // A request line that is no HTTP is refused below us, without a body.
        if reply.status >= 400 && method != "HEAD" && reply.header("content-type").is_some() {
            let answer = reply.json();
            prop_assert!(answer["error"].is_string() && answer["code"].is_string(), "{answer}");
            let text = reply.text();
            prop_assert!(!text.contains('\n'));
            prop_assert!(!text.contains(&*own_place) && !text.contains(TOKEN) && !text.contains("lgk_live_"));
        }
        prop_assert_ne!(reply.text(), r#"{"error":"internal error","code":"internal_error"}"#);
    });
}
