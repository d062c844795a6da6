//! Availability of an MCP server in a provider, and the permission rule for its tools.

use serde::Serialize;
use utoipa::ToSchema;

use crate::time::now_iso;

/// Result of the check whether a provider has the expected MCP server configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpRecord {
    /// Whether the server is configured and usable.
    available: bool,
    /// Name of the server in the provider's configuration; null when not found.
    #[schema(required)]
    server_name: Option<String>,
    /// URL of the server in the provider's configuration; null when not found.
    #[schema(required)]
    matched_url: Option<String>,
    /// Time of the check, ISO 8601 in UTC.
    checked_at: String,
    /// Reason why the check failed or why the server does not match; null on success.
    #[schema(required)]
    error: Option<String>,
    /// Copy of `available` for old clients.
    loopgate_available: bool,
}

impl McpRecord {
    /// Creates a record with the current time; `server` is its name and its URL.
    #[must_use]
    pub fn new(available: bool, server: Option<(String, String)>, error: Option<&str>) -> Self {
        let (server_name, matched_url) = server.unzip();
        Self {
            available,
            server_name,
            matched_url,
            checked_at: now_iso(),
            error: error.map(ToOwned::to_owned),
            loopgate_available: available,
        }
    }

    /// Creates a record without a server and without an error.
    #[must_use]
    pub fn negative() -> Self {
        Self::new(false, None, None)
    }

    /// Returns the permission rule that allows all tools of the server; `None` when the provider has no such
    /// server.
    #[must_use]
    pub fn tools(&self) -> Option<String> {
        // The assistant replaces all characters but ASCII letters, digits, `_` and `-` in tool names. The
        // same replacement prevents a server name such as `a,Bash(*)` from adding a rule of its own.
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let name: String = self.server_name.as_deref()?.chars().map(plain).collect();
        Some(format!("mcp__{name}__*"))
    }

    /// Appends the rule for the server's tools, if there is one, to a list of allowed tools.
    #[must_use]
    pub fn added_to(&self, tools: &str) -> String {
        self.tools().map_or_else(|| tools.to_owned(), |rule| format!("{tools},{rule}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_name_cannot_allow_other_tools() {
        let record = |name: &str| McpRecord::new(true, Some((name.to_owned(), String::new())), None);
        assert_eq!(record("team-1").added_to("Read"), "Read,mcp__team-1__*");
        assert_eq!(record("plugin:team:mcp").tools().as_deref(), Some("mcp__plugin_team_mcp__*"));
        assert_eq!(record("a,Bash(*) b").tools().as_deref(), Some("mcp__a_Bash____b__*"));
        assert_eq!(McpRecord::negative().added_to("Read"), "Read");
    }
}
