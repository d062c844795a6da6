//! What is known of MCP servers. Nothing is detected yet, so every record is negative.

use loopgate_api::time::now_iso;
use serde::Serialize;
use utoipa::ToSchema;

/// Whether a provider reaches the expected MCP server.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct McpRecord {
    available: bool,
    #[schema(required)]
    server_name: Option<String>,
    #[schema(required)]
    matched_url: Option<String>,
    /// ISO 8601.
    checked_at: String,
    #[schema(required)]
    error: Option<String>,
    /// Repeats `available` for old clients.
    loopgate_available: bool,
}

/// Nothing is known.
pub(crate) fn negative() -> McpRecord {
    McpRecord {
        available: false,
        server_name: None,
        matched_url: None,
        checked_at: now_iso(),
        error: None,
        loopgate_available: false,
    }
}
