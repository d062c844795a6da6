//! Loop events as a runner sends them and the control plane stores them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::execution_result::ResultEntry;
use crate::spend::Cost;
pub use crate::tokens::{ModelTokens, TokenUsage, TokensUsed};

/// Payload of a `completed` event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Completed {
    /// Outcome of the loop; an open object (`exitCode`, `subtype`, `prUrl`, `prNumber`,
    /// `branchName`, `has_changes`, `sessionId`, `verdict`, …).
    #[schema(value_type = Object)]
    pub result: Map<String, Value>,
    /// Tokens of the run.
    pub tokens_used: TokensUsed,
    /// Tokens a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub tokens_by_model: Option<std::collections::BTreeMap<String, ModelTokens>>,
    /// Money, as the assistant reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Where the assistant's key came from, as it said itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_source: Option<String>,
    /// Present in schema v2: one entry a repository, the primary first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<ResultEntry>>,
    /// What went wrong without failing the loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Why a loop was aborted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AbortReason {
    /// A person stopped it.
    Cancelled,
    /// Its process ended badly.
    ProcessExit,
    /// It ended without having done anything.
    GhostLoop,
}

/// Payload of an `error` event, diagnostics v2 included.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorEvent {
    /// One of the loop error codes, for example `PROCESS_FAILED`.
    pub code: String,
    /// For a person.
    pub message: String,
    /// The assistant's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Branch of the worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_name: Option<String>,
    /// Tokens of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<TokenUsage>,
    /// Tokens a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub tokens_by_model: Option<std::collections::BTreeMap<String, ModelTokens>>,
    /// Money, as the assistant reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// End of the loop's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_tail: Option<String>,
    /// End of the assistant's standard error: no ANSI, at most 4096 bytes and 50 lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// For example `SIGKILL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_signal: Option<String>,
    /// Wall time since the spawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// Why the loop was aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abort_reason: Option<AbortReason>,
    /// `"2"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostics_version: Option<String>,
    /// Where the assistant's key came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_source: Option<String>,
    /// `{"subcode": …}` of a trusted marker, or `{"repo": …}` of a peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub result: Option<Map<String, Value>>,
    /// What went wrong beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// An event of a loop in flat form: `{"type", …members, "timestamp"}`.
///
/// Types that a runner sends: `started`, `output`, `progress`, `tool_call`, `artifact_created`,
/// `support_bundle_uploaded`, `completed`, `error`, `cancelled`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LoopEvent {
    /// Type of the event.
    #[serde(rename = "type")]
    pub kind: String,
    /// ISO 8601, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Every other member.
    #[serde(flatten)]
    pub members: Map<String, Value>,
}

impl LoopEvent {
    /// Builds an event of this moment from a type and a payload that serializes to an object.
    pub fn new(kind: &str, payload: &impl Serialize) -> Self {
        let members = match serde_json::to_value(payload) {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        };
        Self { kind: kind.to_owned(), timestamp: Some(crate::time::now_iso()), members }
    }
}

/// Codes of a loop's `error` events.
pub mod code {
    #![allow(missing_docs, reason = "each constant is its own text")]
    pub const RUNNER_ERROR: &str = "RUNNER_ERROR";
    pub const BRANCH_CREATE_FAILED: &str = "BRANCH_CREATE_FAILED";
    pub const PRE_RUN_VALIDATION_FAILED: &str = "PRE_RUN_VALIDATION_FAILED";
    pub const ARTIFACT_WRITE_FAILED: &str = "ARTIFACT_WRITE_FAILED";
    pub const PROCESS_FAILED: &str = "PROCESS_FAILED";
    pub const PROCESS_STOPPED: &str = "PROCESS_STOPPED";
    pub const AUTH_CHALLENGE: &str = "AUTH_CHALLENGE";
    pub const BINARY_NOT_FOUND: &str = "BINARY_NOT_FOUND";
    pub const SCRIPT_NOT_FOUND: &str = "SCRIPT_NOT_FOUND";
    pub const SPAWN_FAILED: &str = "SPAWN_FAILED";
    pub const TIMED_OUT: &str = "TIMED_OUT";
    pub const CANCELLED: &str = "CANCELLED";
    pub const REPO_NOT_ALLOWED: &str = "REPO_NOT_ALLOWED";
    pub const REPO_NOT_FOUND: &str = "REPO_NOT_FOUND";
    pub const NO_WORK_PRODUCED: &str = "NO_WORK_PRODUCED";
    pub const NEW_TEST_FAILURES: &str = "NEW_TEST_FAILURES";
    pub const CONTEXT_LIMIT_EXCEEDED: &str = "CONTEXT_LIMIT_EXCEEDED";
    pub const PLAN_STATE_UNAVAILABLE: &str = "PLAN_STATE_UNAVAILABLE";
    pub const AWAITING_USER: &str = "AWAITING_USER";
    pub const ITERATION_LIMIT: &str = "ITERATION_LIMIT";
    pub const SPENDING_LIMIT: &str = "SPENDING_LIMIT";
    pub const STALE_DISPATCH: &str = "STALE_DISPATCH";
}
