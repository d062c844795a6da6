//! Pending requests and the owner's decisions.

use std::time::Duration;

use loopgate_api::operation::OperationId;
use serde_json::json;
use tokio::task::JoinHandle;

use super::test_gateway::{TestGateway, TestOptions, TestRequest, TestResponse, within};
use crate::{Coverage, Decision, Effect, PendingApproval, Remember};

const APPROVE_EVERYTHING: &str = "default_approval_tier = \"none\"";
const VERSION: &str = "/api/gateway/version";

async fn approval_fixture() -> TestGateway {
    TestGateway::with(TestOptions { settings: APPROVE_EVERYTHING, ..TestOptions::default() }).await
}

/// Sends a request and waits until it is pending.
pub(super) async fn held(
    fixture: &TestGateway,
    request: TestRequest,
) -> (JoinHandle<TestResponse>, PendingApproval) {
    let mut count = fixture.gateway.approvals().subscribe();
    // Only changes after this call count.
    count.mark_unchanged();
    let reply = tokio::spawn(request.send());
    within(count.changed()).await.unwrap();
    let pending = fixture.gateway.approvals().pending().remove(0);
    (reply, pending)
}

// GC-23
#[tokio::test]
async fn owner_approves_and_denies() {
    let fixture = approval_fixture().await;
    let approvals = fixture.gateway.approvals();
    let (reply, pending) = held(&fixture, fixture.internal("GET", VERSION)).await;
    assert_eq!((pending.operation_id.as_str(), json!(pending.risk_tier)), ("health_check", json!("low")));
    assert_eq!(approvals.pending().len(), 1);
    approvals.approve(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 200);

    let (reply, pending) = held(&fixture, fixture.internal("GET", VERSION)).await;
    approvals.deny(pending.id).unwrap();
    let body = within(reply).await.unwrap().assert_error(403, "request denied", "request_denied");
    assert_eq!(body["operationId"], "health_check");
    assert_eq!(body["approvalId"], pending.id.to_string());
    let decisions: Vec<Decision> = approvals.resolved().iter().map(|resolved| resolved.decision).collect();
    assert_eq!(decisions, [Decision::Denied, Decision::Approved]);
    assert!(approvals.approve(pending.id).is_none(), "a decision is final");
}

// GC-23, GC-41
#[tokio::test]
async fn undecided_request_times_out() {
    for (source, over_link) in [("cloud-socket", true), ("elsewhere", false)] {
        let mut options = TestOptions { settings: APPROVE_EVERYTHING, ..TestOptions::default() };
        let (short, long) = (Duration::from_millis(50), Duration::from_secs(600));
        options.limits.approval_over_link = if over_link { short } else { long };
        options.limits.approval_otherwise = if over_link { long } else { short };
        let fixture = TestGateway::with(options).await;
        let reply = fixture.internal("GET", VERSION).header("X-Desktop-Source", source).send().await;
        let body = reply.assert_error(408, "approval timed out", "approval_timed_out");
        assert_eq!(body["operationId"], "health_check");
        assert!(fixture.gateway.approvals().pending().is_empty());
        assert_eq!(fixture.gateway.approvals().resolved()[0].decision, Decision::Expired);
    }
}

// GC-41
#[tokio::test]
async fn relay_headers_of_a_page_are_ignored() {
    let mut options = TestOptions { settings: APPROVE_EVERYTHING, ..TestOptions::default() };
    options.limits.approval_over_link = Duration::from_millis(1);
    let fixture = TestGateway::with(options).await;
    let origin = "http://localhost:3000";
    let token = fixture.gateway.session_for_test(origin, Duration::from_secs(60), jiff::Timestamp::now());
    let request = fixture.anonymous("GET", VERSION).origin(origin).session(&token);
    let request =
        request.header("X-Desktop-Source", "cloud-socket").header("X-Desktop-Approval-Reason", "trust me");
    let (reply, pending) = held(&fixture, request).await;
    assert_eq!(pending.location, origin);
    assert!(!pending.reason.contains("trust me"));
    fixture.gateway.approvals().approve(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 200);
}

// GC-24
#[tokio::test]
async fn identical_requests_share_one_decision() {
    let fixture = approval_fixture().await;
    let approvals = fixture.gateway.approvals();
    let request = || fixture.internal("GET", VERSION);
    let (first, pending) = held(&fixture, request()).await;
    let (second, _) = held(&fixture, request()).await;
    assert_eq!(approvals.pending().len(), 1);
    let (other, _) = held(&fixture, fixture.internal("GET", "/api/gateway/version?x=1")).await;
    assert_eq!(approvals.pending().len(), 2, "another query is another request");
    approvals.approve(pending.id).unwrap();
    assert_eq!(within(first).await.unwrap().status, 200);
    assert_eq!(within(second).await.unwrap().status, 200);
    approvals.clear_pending();
    assert_eq!(within(other).await.unwrap().status, 403);
}

#[tokio::test]
async fn dropped_request_removes_its_entry() {
    let fixture = approval_fixture().await;
    let approvals = fixture.gateway.approvals();
    let (reply, _) = held(&fixture, fixture.internal("GET", VERSION)).await;
    let mut count = approvals.subscribe();
    reply.abort();
    within(count.wait_for(|count| *count == 0)).await.unwrap();
    assert_eq!(approvals.resolved()[0].decision, Decision::Expired);
}

#[tokio::test]
async fn reason_names_what_demands_the_approval() {
    let fixture = TestGateway::new().await;
    let approvals = fixture.gateway.approvals();
    let sent = |forced: bool| {
        let request = fixture.internal("GET", VERSION);
        if forced { request.header("X-Desktop-Force-Approval", "1") } else { request }
    };
    let (_reply, pending) = held(&fixture, sent(true)).await;
    assert_eq!(pending.reason, "the sender of the request asked for an approval");
    approvals.clear_pending();
    let coverage = Coverage { operation_id: Some(OperationId::HealthCheck), ..Coverage::default() };
    approvals.set_policy(coverage, Effect::Ask).unwrap();
    for forced in [false, true] {
        let (_reply, pending) = held(&fixture, sent(forced)).await;
        assert_eq!(pending.reason, "a policy requires approval for health_check requests");
        approvals.clear_pending();
    }
    let strict = approval_fixture().await;
    let (_reply, pending) = held(&strict, strict.internal("GET", VERSION)).await;
    assert!(pending.reason.starts_with("health_check has risk tier "), "{}", pending.reason);
}

// GC-25
#[tokio::test]
async fn forced_request_requires_approval() {
    let fixture = TestGateway::new().await;
    let request = fixture.internal("GET", VERSION).header("X-Desktop-Force-Approval", "TRUE");
    let request = request.header("X-Desktop-Approval-Reason", "R").header("X-Desktop-Source", "cloud-socket");
    let (reply, pending) = held(&fixture, request).await;
    assert_eq!((pending.reason.as_str(), pending.location.as_str()), ("R", "cloud-socket"));
    fixture.gateway.approvals().approve(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 200);
    // Only `1` and `true` force an approval.
    let unforced = fixture.internal("GET", VERSION).header("X-Desktop-Force-Approval", "yes").send().await;
    assert_eq!(unforced.status, 200);
}

// GC-26
#[tokio::test]
async fn always_allow_rule_covers_its_action_and_directory_only() {
    let fixture = approval_fixture().await;
    let approvals = fixture.gateway.approvals();
    for name in ["a", "b"] {
        std::fs::create_dir(fixture.sandbox().join(name)).unwrap();
    }
    let body = |action: &str, name: &str| json!({"action": action, "repoPath": fixture.sandbox().join(name)});
    let act = |action: &str, name: &str| {
        fixture.internal("POST", "/api/gateway/git").body(body(action, name).to_string())
    };
    let post = |name: &str| act("status", name);
    let (reply, pending) = held(&fixture, post("a")).await;
    let real = fixture.sandbox().join("a").canonicalize().unwrap().to_string_lossy().into_owned();
    assert_eq!((pending.action.as_deref(), &pending.directories), (Some("action=status"), &vec![real]));
    let rule = approvals.always_allow(pending.id).unwrap().unwrap();
    let life = rule.expires_at.parse::<jiff::Timestamp>().unwrap().duration_since(jiff::Timestamp::now());
    assert!((167..=168).contains(&life.as_hours()));
    assert_eq!(within(reply).await.unwrap().status, 500, "approved; the directory is not a repository");
    assert_eq!(post("a").send().await.status, 500, "an identical request passes");
    assert_eq!(post("b/../a").send().await.status, 500, "also by another spelling");

    // None of these matches the rule: forced, another directory, another query, other actions.
    let other_query = fixture.internal("POST", "/api/gateway/git?x=1").body(body("status", "a").to_string());
    let forced = post("a").header("X-Desktop-Force-Approval", "1");
    let others =
        ["branch", "commit", "push", "pull", "branch-diff", "sync-status"].map(|action| act(action, "a"));
    for request in [forced, post("b"), other_query].into_iter().chain(others) {
        let (reply, pending) = held(&fixture, request).await;
        approvals.deny(pending.id).unwrap();
        assert_eq!(within(reply).await.unwrap().status, 403);
    }

    let rules = std::fs::read_to_string(fixture.data_dir().join("desktop-approvals.json")).unwrap();
    assert!(rules.contains(&rule.id.to_string()));
    assert!(approvals.remove_rule(rule.id));
    let (reply, pending) = held(&fixture, post("a")).await;
    approvals.deny(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 403);
}

#[tokio::test]
async fn approval_is_bound_to_the_directory_behind_a_symlink() {
    let fixture = approval_fixture().await;
    let approvals = fixture.gateway.approvals();
    for name in ["a", "b"] {
        std::fs::create_dir(fixture.sandbox().join(name)).unwrap();
    }
    let link = fixture.sandbox().join("link");
    let point_to = |name: &str| {
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(fixture.sandbox().join(name), &link).unwrap();
    };
    let body = json!({"action": "status", "repoPath": link}).to_string();
    let request = || fixture.internal("POST", "/api/gateway/git").body(body.clone());
    // Retargeted before the decision: the same bytes now concern another directory.
    point_to("a");
    let (first, of_a) = held(&fixture, request()).await;
    point_to("b");
    let (second, of_b) = held(&fixture, request()).await;
    assert_eq!(approvals.pending().len(), 2);
    assert_ne!(of_a.directories, of_b.directories);
    approvals.approve(of_a.id).unwrap();
    let text = "the request now resolves to other directories than those approved; send it again";
    let body = within(first).await.unwrap().assert_error(409, text, "approval_outdated");
    assert_eq!(body["approvalId"], of_a.id.to_string());
    // Retargeted after the decision: the rule is bound to the directory, not to the path.
    approvals.always_allow(of_b.id).unwrap().unwrap();
    assert_eq!(within(second).await.unwrap().status, 500, "approved; the directory is not a repository");
    assert_eq!(request().send().await.status, 500);
    point_to("a");
    let (third, pending) = held(&fixture, request()).await;
    approvals.deny(pending.id).unwrap();
    assert_eq!(within(third).await.unwrap().status, 403);
}

#[tokio::test]
async fn remembered_decision_requires_exactly_one_repository() {
    let fixture = approval_fixture().await;
    let approvals = fixture.gateway.approvals();
    let at = |name: &str| fixture.sandbox().canonicalize().unwrap().join(name);
    std::fs::create_dir_all(at("a")).unwrap();
    std::os::unix::fs::symlink(at("a"), at("link")).unwrap();
    let session = |worktree: &str| {
        let body = json!({"ticketId": "T-1", "repoPath": at("link"), "worktreePath": at(worktree)});
        fixture.internal("POST", "/api/gateway/orchestrator/sessions").body(body.to_string())
    };
    for (worktree, expected) in [("a", Some(at("a"))), ("other", None)] {
        let (reply, pending) = held(&fixture, session(worktree)).await;
        for effect in [Effect::Allow, Effect::Deny] {
            let coverage = approvals.coverage_of(pending.id, Remember::Repository, effect);
            let repository = coverage.and_then(|coverage| coverage.repository);
            assert_eq!(repository.map(std::path::PathBuf::from), expected, "{worktree}");
        }
        approvals.deny(pending.id).unwrap();
        assert_eq!(within(reply).await.unwrap().status, 403);
    }
}

/// The unreadable file may contain a denial, so nothing passes without approval.
#[tokio::test]
async fn unreadable_policies_require_approval_for_everything() {
    const RULE: &str = r#"{"rules": [{"id": "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718",
        "operationId": "health_check", "method": "GET", "path": "/api/gateway/version", "directories": [],
        "createdAt": "2030-01-01T00:00:00.000Z", "expiresAt": "9000-01-01T00:00:00.000Z"}]}"#;
    let data_files = &[("approval-policies.json", "{\"policies\": ["), ("desktop-approvals.json", RULE)];
    let fixture = TestGateway::with(TestOptions { data_files, ..TestOptions::default() }).await;
    let approvals = fixture.gateway.approvals();
    let (reply, pending) = held(&fixture, fixture.internal("GET", VERSION)).await;
    approvals.approve(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 200);

    let listed = fixture.internal("GET", "/api/gateway/approvals").send().await.json();
    let problem = listed["problems"][0].as_str().unwrap();
    assert!(problem.starts_with("approval-policies.json cannot be read (EOF"), "{problem}");
    assert!(problem.contains("every request requires approval"), "{problem}");
    let (reply, pending) = held(&fixture, fixture.internal("GET", "/api/gateway/health-check")).await;
    approvals.approve(pending.id).unwrap();
    let report = within(reply).await.unwrap().json();
    let row = report["checks"].as_array().unwrap().iter().find(|row| row["id"] == "approvals").unwrap();
    assert_eq!(
        (&row["passed"], &row["required"], &row["error"]),
        (&json!(false), &json!(false), &json!(problem))
    );
    let content = std::fs::read_to_string(fixture.data_dir().join("approval-policies.json")).unwrap();
    assert_eq!(content, "{\"policies\": [");

    let coverage = Coverage { origin: Some("cloud-socket".to_owned()), ..Coverage::default() };
    approvals.set_policy(coverage, Effect::Deny).unwrap();
    // The rule applies again, because the policies are readable.
    assert!(approvals.problems().is_empty());
    assert_eq!(fixture.internal("GET", VERSION).send().await.status, 200, "the rule applies again");
    let (reply, pending) = held(&fixture, fixture.internal("GET", "/api/gateway/repos")).await;
    approvals.deny(pending.id).unwrap();
    assert_eq!(
        within(reply).await.unwrap().status,
        403,
        "everything else requires approval until the policy is removed"
    );
    let everything = approvals.policies().into_iter().find(|policy| policy.coverage == Coverage::default());
    approvals.remove_policy(everything.unwrap().id).unwrap();
    assert_eq!(fixture.internal("GET", "/api/gateway/repos").send().await.status, 200);
}

#[tokio::test]
async fn unreadable_rules_are_retained_and_reported() {
    let data_files = &[("desktop-approvals.json", "no json")];
    let fixture =
        TestGateway::with(TestOptions { data_files, settings: APPROVE_EVERYTHING, ..TestOptions::default() })
            .await;
    let approvals = fixture.gateway.approvals();
    assert!(approvals.problems()[0].starts_with("desktop-approvals.json cannot be read ("));
    let (reply, pending) = held(&fixture, fixture.internal("GET", VERSION)).await;
    approvals.always_allow(pending.id).unwrap().unwrap();
    assert_eq!(within(reply).await.unwrap().status, 200);
    assert!(approvals.problems().is_empty());
    let files = std::fs::read_dir(fixture.data_dir()).unwrap().map(|entry| entry.unwrap().path());
    let mut renamed = files.filter(|path| path.to_string_lossy().contains("desktop-approvals.json.corrupt-"));
    assert_eq!(std::fs::read_to_string(renamed.next().unwrap()).unwrap(), "no json");
}

#[tokio::test]
async fn thresholds_are_per_operation() {
    let settings = "default_approval_tier = \"none\"\n[auto_approval_rules]\nhealth_check = \"low\"\n";
    let fixture = TestGateway::with(TestOptions { settings, ..TestOptions::default() }).await;
    assert_eq!(fixture.internal("GET", VERSION).send().await.status, 200);
    let (reply, pending) = held(&fixture, fixture.internal("GET", "/api/gateway/repos")).await;
    fixture.gateway.approvals().deny(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 403);
}

// GC-42
#[tokio::test]
async fn no_http_route_decides() {
    let fixture = approval_fixture().await;
    let (reply, pending) = held(&fixture, fixture.internal("GET", VERSION)).await;
    let origin = "http://localhost:3000";
    let token = fixture.gateway.session_for_test(origin, Duration::from_secs(60), jiff::Timestamp::now());
    for path in ["/api/gateway/approvals", "/api/gateway/approvals/approve", "/approvals"] {
        let page = fixture.anonymous("POST", path).origin(origin).session(&token);
        for request in [fixture.internal("POST", path), page.header("Content-Type", "application/json")] {
            let refused = request.body(json!({"approvalId": pending.id}).to_string()).send().await;
            assert!(matches!(refused.status, 403 | 404), "{path}");
        }
    }
    assert_eq!(fixture.gateway.approvals().pending().len(), 1);
    fixture.gateway.approvals().deny(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 403);
}

#[tokio::test]
async fn upload_body_is_part_of_the_fingerprint() {
    use sha2::{Digest as _, Sha256};

    const UPLOAD: &str = "/api/gateway/orchestrator/upload/T-1";
    let fixture = approval_fixture().await;
    let body = |byte: u8| vec![byte; 600 * 1024];
    let upload = |byte: u8| fixture.internal("POST", UPLOAD).body(body(byte));
    // Method and target are hashed before the body.
    let (first, pending) = held(&fixture, upload(b'a')).await;
    let content = [format!("POST\n{UPLOAD}\n").into_bytes(), body(b'a')].concat();
    assert_eq!(pending.fingerprint, hex::encode(Sha256::digest(content)));
    let (second, other) = held(&fixture, upload(b'b')).await;
    assert_ne!(other.fingerprint, pending.fingerprint);
    for (reply, pending) in [(first, pending), (second, other)] {
        fixture.gateway.approvals().approve(pending.id).unwrap();
        let reply = within(reply).await.unwrap();
        reply.assert_error(400, "repo parameter is required", "missing_field");
    }
}

#[tokio::test]
async fn request_of_another_user_is_held_unless_a_policy_names_the_user() {
    let fixture = TestGateway::new().await;
    let approvals = fixture.gateway.approvals();
    // The owner allows the own requests; that must not include those of others.
    approvals.set_policy(Coverage::default(), Effect::Allow).unwrap();
    assert_eq!(fixture.internal("GET", VERSION).send().await.status, 200);
    let of = |name: &str| {
        let name: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
        fixture.internal("GET", VERSION).header("X-Desktop-Requester", &name)
    };
    let (ben, other) = ("ben@example.org (Bén)", "eve@example.org (ben@example.org (Bén))");
    let (reply, pending) = held(&fixture, of(ben)).await;
    assert_eq!(pending.requester.as_deref(), Some(ben));
    assert_eq!(pending.location, format!("cloud-socket: {ben}"));
    assert_eq!(pending.reason, format!("requested by {ben}, who does not own this machine"));
    assert!(approvals.always_allow(pending.id).is_err(), "rules do not distinguish users");
    assert!(approvals.coverage_of(pending.id, Remember::Repository, Effect::Allow).is_none());
    let coverage = approvals.coverage_of(pending.id, Remember::Origin, Effect::Allow).unwrap();
    approvals.set_policy(coverage, Effect::Allow).unwrap();
    approvals.deny(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 403);
    assert_eq!(of(ben).send().await.status, 200);
    let (reply, pending) = held(&fixture, of(other)).await;
    approvals.deny(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 403);
}
