//! `GET /health`, the liveness probe, and `GET /api/gateway/health-check`: what a loop needs of this
//! machine, row by row, each with its remedy.

use axum::Json;
use axum::extract::State;
use loopgate_tools::mcp::McpHost;
use serde::Serialize;
use utoipa::{OpenApi, ToSchema};
use utoipa_axum::routes;

use crate::app::App;
use crate::extract::QueryMembers;
use crate::health::check::{Check, McpServers};
use crate::health::liveness::LivenessResponse;
use crate::health::version;
use crate::route::Endpoint;

/// Tell that a gateway is here
///
/// No credential. Never cached, never recorded.
#[utoipa::path(get, path = "/health", operation_id = "health", tag = "gateway",
    responses(
        (status = 200, body = LivenessResponse, description = "A gateway is here"),
        (status = 403, body = loopgate_api::error::ErrorBody, description = "Called by a name that is not ours", example = json!(loopgate_api::error::ErrorBody::new(403, "host not allowed").with_code("host_not_allowed"))),
    ))]
#[expect(dead_code, reason = "carries the description; the pipeline answers from prepared bytes")]
fn health() {}

#[derive(OpenApi)]
#[openapi(paths(health))]
struct LivenessApi;

pub(crate) fn liveness_endpoint() -> Endpoint {
    Endpoint::of_pipeline(LivenessApi::openapi())
}

/// Everything that was looked at.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"checks": [{"id": "git", "label": "Git", "required": true, "passed": true, "version": "2.47.3"}, {"id": "reviewer", "label": "Reviewer CLI", "required": false, "passed": false, "error": "not found", "remediation": "Optional: install the reviewer with `npm install -g @openai/codex`, then run `codex` once to sign in.", "debug": {"errorCode": "ENOENT", "platform": "linux"}}], "allRequiredPassed": true, "mcpServers": {"assistant": {"available": true, "serverName": "tickets", "matchedUrl": "https://mcp.example.com/mcp", "checkedAt": "2030-01-02T09:00:00.000Z", "error": null, "loopgateAvailable": true}, "reviewer": {"available": false, "serverName": null, "matchedUrl": null, "checkedAt": "2030-01-02T09:00:00.000Z", "error": null, "loopgateAvailable": false}}}))]
pub(crate) struct HealthReport {
    /// Rows in a fixed order; clients match on their ids.
    checks: Vec<Check>,
    all_required_passed: bool,
    mcp_servers: McpServers,
}

/// Look at everything that a loop needs
///
/// Always 200 once reached: a check that fails is a row that did not pass.
#[utoipa::path(get, path = "/api/gateway/health-check", operation_id = "health_check", tag = "gateway",
    params(
        ("expectedMcpUrl" = Option<String>, Query, description = "MCP server to look for", example = "https://mcp.example.com/mcp"),
        ("latestVersion" = Option<String>, Query, description = "Adds a row that compares the desktop's version", example = "0.13.18"),
    ),
    responses((status = 200, body = HealthReport, description = "The rows")))]
async fn health_check(State(app): State<App>, query: QueryMembers) -> Json<HealthReport> {
    let (mut checks, mcp_servers) = tokio::join!(app.health.checks(), mcp_servers(&app, &query));
    let latest = query.get("latestVersion").map(str::trim).filter(|text| !text.is_empty());
    checks.extend(latest.map(|latest| version::row(&app.version, latest)));
    let all_required_passed = checks.iter().all(|check| check.passed || !check.required);
    Json(HealthReport { checks, all_required_passed, mcp_servers })
}

pub(crate) fn check_endpoint() -> Endpoint {
    Endpoint::new(routes!(health_check), &[])
}

/// What is known, after a moment, of the server that the query names.
async fn mcp_servers(app: &App, query: &QueryMembers) -> McpServers {
    let expected = query.get("expectedMcpUrl").map(str::trim).filter(|text| !text.is_empty());
    let patience = app.limits.probe_timeout;
    let (assistant, reviewer) = tokio::join!(
        app.mcp.look(McpHost::Assistant, expected, patience),
        app.mcp.look(McpHost::Reviewer, expected, patience),
    );
    McpServers { assistant, reviewer }
}
