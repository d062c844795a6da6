//! Results of the health check.

use loopgate_api::mcp::McpRecord;
use serde::Serialize;
use utoipa::ToSchema;

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Check {
    pub(crate) id: String,
    pub(crate) label: String,
    /// Whether loops depend on it.
    pub(crate) required: bool,
    pub(crate) passed: bool,
    /// Version that was detected. For `worktree-dir`, the directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// Instruction for the user how to fix the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remediation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) debug: Option<Debug>,
}

/// Diagnostics of a failed check.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HealthDebug)]
pub(crate) struct Debug {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_code: Option<String>,
    /// Standard error of the program, or else its standard output. Truncated to 512 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stderr: Option<String>,
    /// PATH that was searched, truncated to 1024 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resolved_path: Option<String>,
    /// File name of the user's login shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shell: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) platform: Option<String>,
    /// Executables with the program's name, on PATH and in common install locations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) found_at: Option<Vec<String>>,
    /// Files with the program's name that are not executable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) non_executable_at: Option<Vec<String>>,
    /// Path from the settings that was used instead of a PATH lookup.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) override_used: Option<String>,
}

/// Registration of the expected MCP server, by provider.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct McpServers {
    pub(crate) assistant: McpRecord,
    pub(crate) reviewer: McpRecord,
}

impl Check {
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

    /// Creates a failed check with an instruction how to fix it.
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
