//! Requests that wait for a person.

use std::time::Duration;

use serde_json::json;
use tokio::task::JoinHandle;

use super::place::{Ask, Place, Reply, Wish, within};
use crate::{Decision, PendingApproval};

const EVERYTHING_ASKS: &str = "default_approval_tier = \"none\"";
const VERSION: &str = "/api/gateway/version";

async fn asking_place() -> Place {
    Place::with(Wish { settings: EVERYTHING_ASKS, ..Wish::default() }).await
}

/// Sends a request and waits until it is held.
pub(super) async fn held(place: &Place, ask: Ask) -> (JoinHandle<Reply>, PendingApproval) {
    let mut count = place.gateway.approvals().subscribe();
    count.mark_unchanged();
    let reply = tokio::spawn(ask.send());
    within(count.changed()).await.unwrap();
    let pending = place.gateway.approvals().pending().remove(0);
    (reply, pending)
}

#[tokio::test]
async fn a_person_decides() {
    let place = asking_place().await;
    let approvals = place.gateway.approvals();
    let (reply, pending) = held(&place, place.internal("GET", VERSION)).await;
    assert_eq!((pending.operation_id.as_str(), json!(pending.risk_tier)), ("health_check", json!("low")));
    assert_eq!(approvals.pending().len(), 1);
    approvals.approve(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 200);

    let (reply, pending) = held(&place, place.internal("GET", VERSION)).await;
    approvals.deny(pending.id).unwrap();
    let body = within(reply).await.unwrap().assert_error(403, "request denied", "request_denied");
    assert_eq!(body["operationId"], "health_check");
    assert_eq!(body["approvalId"], pending.id.to_string());
    let decisions: Vec<Decision> = approvals.resolved().iter().map(|resolved| resolved.decision).collect();
    assert_eq!(decisions, [Decision::Denied, Decision::Approved]);
    assert!(approvals.approve(pending.id).is_none(), "a decision is final");
}

#[tokio::test]
async fn nobody_decides_in_time() {
    for (source, over_link) in [("cloud-socket", true), ("elsewhere", false)] {
        let mut wish = Wish { settings: EVERYTHING_ASKS, ..Wish::default() };
        let (short, long) = (Duration::from_millis(50), Duration::from_secs(600));
        wish.limits.approval_over_link = if over_link { short } else { long };
        wish.limits.approval_otherwise = if over_link { long } else { short };
        let place = Place::with(wish).await;
        let reply = place.internal("GET", VERSION).header("X-Desktop-Source", source).send().await;
        let body = reply.assert_error(408, "approval timed out", "approval_timed_out");
        assert_eq!(body["operationId"], "health_check");
        assert!(place.gateway.approvals().pending().is_empty());
        assert_eq!(place.gateway.approvals().resolved()[0].decision, Decision::Expired);
    }
}

#[tokio::test]
async fn a_page_cannot_pretend_to_be_the_link() {
    let mut wish = Wish { settings: EVERYTHING_ASKS, ..Wish::default() };
    wish.limits.approval_over_link = Duration::from_millis(1);
    let place = Place::with(wish).await;
    let origin = "http://localhost:3000";
    let token = place.gateway.session_for_test(origin, Duration::from_secs(60), jiff::Timestamp::now());
    let ask = place.ask("GET", VERSION).origin(origin).session(&token);
    let ask = ask.header("X-Desktop-Source", "cloud-socket").header("X-Desktop-Approval-Reason", "trust me");
    let (reply, pending) = held(&place, ask).await;
    assert_eq!(pending.location, origin);
    assert!(!pending.reason.contains("trust me"));
    place.gateway.approvals().approve(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 200);
}

#[tokio::test]
async fn identical_requests_share_one_decision() {
    let place = asking_place().await;
    let approvals = place.gateway.approvals();
    let ask = || place.internal("GET", VERSION);
    let (first, pending) = held(&place, ask()).await;
    let (second, _) = held(&place, ask()).await;
    assert_eq!(approvals.pending().len(), 1);
    let (other, _) = held(&place, place.internal("GET", "/api/gateway/version?x=1")).await;
    assert_eq!(approvals.pending().len(), 2, "the query counts");
    approvals.approve(pending.id).unwrap();
    assert_eq!(within(first).await.unwrap().status, 200);
    assert_eq!(within(second).await.unwrap().status, 200);
    approvals.clear_pending();
    assert_eq!(within(other).await.unwrap().status, 403);
}

#[tokio::test]
async fn a_caller_that_leaves_takes_its_entry_along() {
    let place = asking_place().await;
    let approvals = place.gateway.approvals();
    let (reply, _) = held(&place, place.internal("GET", VERSION)).await;
    let mut count = approvals.subscribe();
    reply.abort();
    within(count.wait_for(|count| *count == 0)).await.unwrap();
    assert_eq!(approvals.resolved()[0].decision, Decision::Expired);
}

#[tokio::test]
async fn a_forced_request_always_asks() {
    let place = Place::new().await;
    let ask = place.internal("GET", VERSION).header("X-Desktop-Force-Approval", "TRUE");
    let ask = ask.header("X-Desktop-Approval-Reason", "R").header("X-Desktop-Source", "cloud-socket");
    let (reply, pending) = held(&place, ask).await;
    assert_eq!((pending.reason.as_str(), pending.location.as_str()), ("R", "cloud-socket"));
    place.gateway.approvals().approve(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 200);
    let unforced = place.internal("GET", VERSION).header("X-Desktop-Force-Approval", "yes").send().await;
    assert_eq!(unforced.status, 200);
}

#[tokio::test]
async fn always_allow_holds_for_its_scope_and_no_longer_than_its_life() {
    let place = asking_place().await;
    let approvals = place.gateway.approvals();
    let body = |name: &str| json!({"repoPath": place.sandbox().join(name)}).to_string();
    let post = |name: &str| place.internal("POST", "/api/gateway/git").body(body(name));
    let (reply, pending) = held(&place, post("a")).await;
    assert_eq!(pending.scope_path, Some(place.sandbox().join("a").to_string_lossy().into_owned()));
    let rule = approvals.always_allow(pending.id).unwrap();
    let life = rule.expires_at.parse::<jiff::Timestamp>().unwrap().duration_since(jiff::Timestamp::now());
    assert!((167..=168).contains(&life.as_hours()));
    assert_eq!(within(reply).await.unwrap().status, 404, "it passed, and found no repository");
    assert_eq!(post("a").send().await.status, 404, "its like passes");

    let asked = place.internal("POST", "/api/gateway/git?x=1").body(body("a"));
    for ask in [post("a").header("X-Desktop-Force-Approval", "1"), post("b"), asked] {
        let (reply, pending) = held(&place, ask).await;
        approvals.deny(pending.id).unwrap();
        assert_eq!(within(reply).await.unwrap().status, 403);
    }

    let stored = std::fs::read_to_string(place.data_dir().join("desktop-approvals.json")).unwrap();
    assert!(stored.contains(&rule.id.to_string()));
    assert!(approvals.remove_rule(rule.id));
    let (reply, pending) = held(&place, post("a")).await;
    approvals.deny(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 403);
}

#[tokio::test]
async fn thresholds_are_per_operation() {
    let settings = "default_approval_tier = \"none\"\n[auto_approval_rules]\nhealth_check = \"low\"\n";
    let place = Place::with(Wish { settings, ..Wish::default() }).await;
    assert_eq!(place.internal("GET", VERSION).send().await.status, 200);
    let (reply, pending) = held(&place, place.internal("GET", "/api/gateway/repos")).await;
    place.gateway.approvals().deny(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 403);
}

#[tokio::test]
async fn no_route_decides() {
    let place = asking_place().await;
    let (reply, pending) = held(&place, place.internal("GET", VERSION)).await;
    for path in ["/api/gateway/approvals", "/api/gateway/approvals/approve", "/approvals"] {
        let body = json!({"approvalId": pending.id}).to_string();
        let refused = place.internal("POST", path).body(body).send().await;
        assert!(matches!(refused.status, 403 | 404), "{path}");
    }
    assert_eq!(place.gateway.approvals().pending().len(), 1);
    place.gateway.approvals().deny(pending.id).unwrap();
    assert_eq!(within(reply).await.unwrap().status, 403);
}

#[tokio::test]
async fn the_switch_lets_everything_pass() {
    let place = asking_place().await;
    place.gateway.approvals().set_auto_approve(true);
    assert_eq!(place.internal("GET", VERSION).send().await.status, 200);
    assert_eq!(place.internal("GET", "/api/gateway/nope").send().await.status, 501);
}

#[tokio::test]
async fn what_is_sent_in_bulk_is_known_by_its_bytes_too() {
    use sha2::{Digest as _, Sha256};

    const UPLOAD: &str = "/api/gateway/orchestrator/upload/T-1";
    let place = asking_place().await;
    let body = |byte: u8| vec![byte; 600 * 1024];
    let upload = |byte: u8| place.internal("POST", UPLOAD).body(body(byte));
    let (first, pending) = held(&place, upload(b'a')).await;
    let known = [format!("POST\n{UPLOAD}\n").into_bytes(), body(b'a')].concat();
    assert_eq!(pending.fingerprint, hex::encode(Sha256::digest(known)));
    let (second, other) = held(&place, upload(b'b')).await;
    assert_ne!(other.fingerprint, pending.fingerprint);
    for (reply, pending) in [(first, pending), (second, other)] {
        place.gateway.approvals().approve(pending.id).unwrap();
        let reply = within(reply).await.unwrap();
        reply.assert_error(400, "repo parameter is required", "missing_field");
    }
}
