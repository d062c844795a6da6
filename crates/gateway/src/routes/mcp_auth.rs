//! `GET /api/gateway/mcp-auth`: how a page authenticates to the MCP server. Never returns a control-plane API
//! key.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CACHE_CONTROL;
use loopgate_api::error::ErrorBody;
use loopgate_tools::mcp::McpHost;
use serde::Serialize;
use url::Url;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::error::HttpError;
use crate::extract::{LocalRequest, QueryMembers};
use crate::health::check::McpServers;
use crate::route::Endpoint;

/// Authentication method and detected registrations of the MCP server.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"apiKey": "", "authType": "oauth", "serverUrl": "https://mcp.example.com/mcp", "providers": {"assistant": {"available": true, "serverName": "tickets", "matchedUrl": "https://mcp.example.com/mcp", "checkedAt": "2030-01-02T09:00:00.000Z", "error": null, "loopgateAvailable": true}, "reviewer": {"available": false, "serverName": null, "matchedUrl": null, "checkedAt": "2030-01-02T09:00:00.000Z", "error": null, "loopgateAvailable": false}}}))]
pub(crate) struct McpAuth {
    /// Always empty. Older clients fall back to their browser sign-in when it is.
    api_key: &'static str,
    auth_type: &'static str,
    /// The `expectedMcpUrl` parameter; null when it is missing or not a URL.
    #[schema(required)]
    server_url: Option<String>,
    providers: McpServers,
}

/// Describe how to authenticate to the MCP server
#[utoipa::path(get, path = "/api/gateway/mcp-auth", operation_id = "mcp_auth", tag = "gateway",
    params(("expectedMcpUrl" = Option<String>, Query, description = "URL of the MCP server", example = "https://mcp.example.com/mcp")),
    responses(
        (status = 200, body = McpAuth, description = "Authentication method and registrations"),
        (status = 403, body = ErrorBody, description = "Called over the link", example = json!(ErrorBody::not_available_over_relay())),
    ))]
async fn mcp_auth(
    State(app): State<App>,
    _: LocalRequest,
    query: QueryMembers,
) -> Result<Response, HttpError> {
    let expected = query.get("expectedMcpUrl").map(str::trim);
    let server_url = expected.filter(|text| Url::parse(text).is_ok()).map(ToOwned::to_owned);
    // Only what was detected before: a page that signs in must not wait for a new detection.
    let record = |provider| app.mcp.cached(provider, server_url.as_deref());
    let providers = McpServers { assistant: record(McpHost::Assistant), reviewer: record(McpHost::Reviewer) };
    let answer = McpAuth { api_key: "", auth_type: "oauth", server_url, providers };
    // The registration can change at any time, outside of this program.
    Ok(([(CACHE_CONTROL, "no-store")], axum::Json(answer)).into_response())
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(mcp_auth), &[])
}
