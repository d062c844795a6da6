//! The rows of the health check.

use loopgate_api::mcp::McpRecord;
use serde::Serialize;
use utoipa::ToSchema;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Check {
    pub(crate) id: String,
    pub(crate) label: String,
    /// Whether loops need it.
    pub(crate) required: bool,
    pub(crate) passed: bool,
    /// Version; for `worktree-dir` the directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// What to do about it, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remediation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) debug: Option<Debug>,
}

/// Details for troubleshooting.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HealthDebug)]
pub(crate) struct Debug {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_code: Option<String>,
    /// At most 512 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stderr: Option<String>,
    /// PATH that was searched, at most 1024 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resolved_path: Option<String>,
    /// Name of the login shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shell: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) platform: Option<String>,
    /// Executables of that name anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) found_at: Option<Vec<String>>,
    /// Files of that name that may not be executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) non_executable_at: Option<Vec<String>>,
    /// Path that the user set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) override_used: Option<String>,
}

/// What is known of the expected MCP server, a provider.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct McpServers {
    pub(crate) assistant: McpRecord,
    pub(crate) reviewer: McpRecord,
}

impl Check {
    /// A row that passed.
    pub(crate) fn passed(id: &str, label: &str, required: bool, version: Option<String>) -> Self {
        Self {
            id: id.to_owned(),
            label: label.to_owned(),
            required,
            passed: true,
            version,
            error: None,
            remediation: None,
            debug: None,
        }
    }

    /// A row that did not pass, with what to do about it.
    pub(crate) fn failed(
        id: &str,
        label: &str,
        required: bool,
        error: impl Into<String>,
        remediation: impl Into<String>,
    ) -> Self {
        Self {
            passed: false,
            error: Some(error.into()),
            remediation: Some(remediation.into()),
            ..Self::passed(id, label, required, None)
        }
    }

    pub(crate) fn with_debug(mut self, debug: Debug) -> Self {
        self.debug = Some(debug);
        self
    }
}
