//! Whether a provider knows an MCP server, and which tools come with it.

use serde::Serialize;
use utoipa::ToSchema;

use crate::time::now_iso;

/// Whether a provider reaches the expected MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpRecord {
    available: bool,
    /// Name that the provider gives the server.
    #[schema(required)]
    server_name: Option<String>,
    /// The URL as the provider has it.
    #[schema(required)]
    matched_url: Option<String>,
    /// ISO 8601.
    checked_at: String,
    /// Why nothing is known, or why the server does not count.
    #[schema(required)]
    error: Option<String>,
    /// Repeats `available` for old clients.
    loopgate_available: bool,
}

impl McpRecord {
    /// What was found just now; `server` is its name and its URL.
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

    /// Nothing is known.
    #[must_use]
    pub fn negative() -> Self {
        Self::new(false, None, None)
    }

    /// The rule by which the assistant allows every tool of the server; `None` when it knows no such
    /// server. The assistant writes names of tools with letters, digits, `_` and `-` alone.
    #[must_use]
    pub fn tools(&self) -> Option<String> {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let name: String = self.server_name.as_deref()?.chars().map(plain).collect();
        Some(format!("mcp__{name}__*"))
    }

    /// A list of allowed tools, with those of the server when there are any.
    #[must_use]
    pub fn added_to(&self, tools: &str) -> String {
        self.tools().map_or_else(|| tools.to_owned(), |rule| format!("{tools},{rule}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_cannot_add_other_tools() {
        let named = |name: &str| McpRecord::new(true, Some((name.to_owned(), String::new())), None);
        assert_eq!(named("team-1").added_to("Read"), "Read,mcp__team-1__*");
        assert_eq!(named("plugin:team:mcp").tools().as_deref(), Some("mcp__plugin_team_mcp__*"));
        assert_eq!(named("a,Bash(*) b").tools().as_deref(), Some("mcp__a_Bash____b__*"));
        assert_eq!(McpRecord::negative().added_to("Read"), "Read");
    }
}
