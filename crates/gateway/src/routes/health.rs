//! `GET /health`, the liveness probe, and `GET /api/gateway/health-check`, the prerequisites for loops on
//! this machine, each with a remediation.

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

/// Liveness probe
///
/// Requires no credentials. Responses are not cacheable, and requests are not recorded as activity.
#[utoipa::path(get, path = "/health", operation_id = "health", tag = "gateway",
    responses(
        (status = 200, body = LivenessResponse, description = "The gateway is running"),
        (status = 403, body = loopgate_api::error::ErrorBody, description = "The `Host` header does not name this gateway", example = json!(loopgate_api::error::ErrorBody::new(403, "host not allowed").with_code("host_not_allowed"))),
    ))]
#[expect(dead_code, reason = "OpenAPI entry only; the pipeline answers from prepared bytes")]
fn health() {}

#[derive(OpenApi)]
#[openapi(paths(health))]
struct LivenessApi;

pub(crate) fn liveness_endpoint() -> Endpoint {
    Endpoint::of_pipeline(LivenessApi::openapi())
}

/// Results of all health checks.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"checks": [{"id": "git", "label": "Git", "required": true, "passed": true, "version": "2.47.3"}, {"id": "reviewer", "label": "Reviewer CLI", "required": false, "passed": false, "error": "not found", "remediation": "Optional: install the reviewer with `npm install -g @openai/codex`, then run `codex` once to sign in.", "debug": {"errorCode": "ENOENT", "platform": "linux"}}], "allRequiredPassed": true, "mcpServers": {"assistant": {"available": true, "serverName": "tickets", "matchedUrl": "https://mcp.example.com/mcp", "checkedAt": "2030-01-02T09:00:00.000Z", "error": null, "loopgateAvailable": true}, "reviewer": {"available": false, "serverName": null, "matchedUrl": null, "checkedAt": "2030-01-02T09:00:00.000Z", "error": null, "loopgateAvailable": false}}}))]
pub(crate) struct HealthReport {
    /// Checks in a fixed order; clients match on their ids.
    checks: Vec<Check>,
    all_required_passed: bool,
    mcp_servers: McpServers,
}

/// Check the prerequisites for loops
///
/// Always answers 200. A check that fails to run is reported with `passed: false`.
#[utoipa::path(get, path = "/api/gateway/health-check", operation_id = "health_check", tag = "gateway",
    params(
        ("expectedMcpUrl" = Option<String>, Query, description = "URL of the MCP server whose registration is checked", example = "https://mcp.example.com/mcp"),
        ("latestVersion" = Option<String>, Query, description = "Latest release; adds a check that compares the desktop's version with it", example = "0.13.18"),
    ),
    responses((status = 200, body = HealthReport, description = "Results of all checks")))]
async fn health_check(State(app): State<App>, query: QueryMembers) -> Json<HealthReport> {
    let (mut checks, mcp_servers) = tokio::join!(app.health.checks(), mcp_servers(&app, &query));
    let latest = query.get("latestVersion").map(str::trim).filter(|text| !text.is_empty());
    checks.extend(watch_limits(app.git_cache.beyond_limits()));
    // Only on request: clients know the latest release, this machine does not look it up.
    checks.extend(latest.map(|latest| version::row(&app.version, latest)));
    // Optional programs enable further features; loops can run without them.
    let all_required_passed = checks.iter().all(|check| check.passed || !check.required);
    Json(HealthReport { checks, all_required_passed, mcp_servers })
}

pub(crate) fn check_endpoint() -> Endpoint {
    Endpoint::new(routes!(health_check), &[])
}

/// Returns a failed check while repositories are not cached because of the user's limits on file watches.
fn watch_limits(repositories: usize) -> Option<Check> {
    let error = format!(
        "The limit of file watches is reached: git runs for each request about {repositories} of the open repositories"
    );
    let remedy = "Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances with sysctl, or close programs that \
                  watch many files, such as editors.";
    (repositories > 0).then(|| Check::failed("file-watches", "File watches", false, error, remedy))
}

/// Returns the registrations of the MCP server in the query, as far as they are detected within the probe
/// timeout.
async fn mcp_servers(app: &App, query: &QueryMembers) -> McpServers {
    let expected = query.get("expectedMcpUrl").map(str::trim).filter(|text| !text.is_empty());
    let timeout = app.limits.probe_timeout;
    // Concurrently: in sequence, two unresponsive programs would double the response time.
    let (assistant, reviewer) = tokio::join!(
        app.mcp.detect(McpHost::Assistant, expected, timeout),
        app.mcp.detect(McpHost::Reviewer, expected, timeout),
    );
    McpServers { assistant, reviewer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reached_watch_limit_is_named_with_a_remedy() {
        assert_eq!(watch_limits(0), None);
        let check = watch_limits(3).unwrap();
        assert!(!check.passed && !check.required);
        assert!(check.error.unwrap().contains("about 3 of the open repositories"));
        assert!(check.remediation.unwrap().contains("fs.inotify.max_user_watches"));
    }
}
