//! Refusals of the loop routes. Loops themselves are tested in `loopgate-runtime`.

use serde_json::json;

use crate::tests::test_gateway::{TestGateway, TestOptions};

const LOOP: &str = "/api/gateway/orchestrator/loop";
const KILL: &str = "/api/gateway/orchestrator/loop/kill";
const MESSAGE: &str = "/api/gateway/orchestrator/loop/message";
const ID: &str = "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718";

async fn fixture() -> TestGateway {
    // The discard port, on which nothing listens: no test gets far enough to connect.
    let api_origin = Some("http://127.0.0.1:9".to_owned());
    TestGateway::with(TestOptions { runtime: true, api_origin, ..TestOptions::default() }).await
}

#[tokio::test]
async fn invalid_orders_are_refused() {
    let fixture = fixture().await;
    let order = |command: &str, id: &str| {
        json!({"loopId": id, "command": command, "loopgateAuthToken": "t", "artifacts": []}).to_string()
    };
    for (body, error, code) in [
        (String::new(), "Invalid JSON body", "invalid_json_body"),
        ("{".to_owned(), "Invalid JSON body", "invalid_json_body"),
        ("{}".to_owned(), "Missing required fields: loopId, command, loopgateAuthToken", "missing_field"),
        (order("DANCE", ID), "Invalid command: DANCE", "invalid_request"),
        (order("PLAN", "nope"), "loopId must be a valid UUID", "invalid_request"),
    ] {
        let reply = fixture.internal("POST", LOOP).body(body).send().await;
        reply.assert_error(400, error, code);
    }
}

#[tokio::test]
async fn loop_needs_a_control_plane() {
    let fixture = TestGateway::with(TestOptions { runtime: true, ..TestOptions::default() }).await;
    let reply = fixture.internal("POST", LOOP).body("{}").send().await;
    reply.assert_error(503, "API origin not configured", "unavailable");
}

#[tokio::test]
async fn kill_of_an_unknown_loop_is_not_found() {
    let fixture = fixture().await;
    let end = |body: &str| fixture.internal("POST", KILL).body(body.to_owned()).send();
    end("").await.assert_error(400, "Invalid JSON body", "invalid_json_body");
    end("{}").await.assert_error(400, "loopId is required", "missing_field");
    end(r#"{"loopId":5}"#).await.assert_error(400, "loopId is required", "missing_field");
    let unknown = "No running process found for this loop";
    end(&json!({"loopId": ID}).to_string()).await.assert_error(404, unknown, "not_found");
    end(r#"{"loopId":"no uuid"}"#).await.assert_error(404, unknown, "not_found");
}

#[tokio::test]
async fn message_is_a_command_of_the_control_plane_to_a_known_loop() {
    let fixture = fixture().await;
    let send = |body: &str| fixture.internal("POST", MESSAGE).body(body.to_owned());
    send("{}").send().await.assert_error(400, "loopId is required", "missing_field");
    let message = json!({"loopId": ID, "text": "Use tabs."}).to_string();
    let direct = "Messages to loops are sent through the control plane.";
    send(&message).send().await.assert_error(400, direct, "invalid_request");
    let command = send(&message).header("x-desktop-command-id", ID).send().await;
    command.assert_error(404, "This machine has no such loop.", "not_found");
}

#[tokio::test]
async fn loop_routes_are_not_implemented_without_a_runtime() {
    let fixture = TestGateway::new().await;
    for path in [LOOP, KILL, MESSAGE] {
        let reply = fixture.internal("POST", path).body("{}").send().await;
        reply.assert_error(501, "operation not implemented", "operation_not_implemented");
    }
}
