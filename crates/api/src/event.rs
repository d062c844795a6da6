//! Loop events as a runner sends them and the control plane stores them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::execution_result::ResultEntry;
use crate::spend::Cost;

/// Tokens of a run, as `output` and `error` events carry them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Tokens written to the cache.
    #[serde(default)]
    pub cache_creation_input_tokens: u64,
    /// Tokens read from the cache.
    #[serde(default)]
    pub cache_read_input_tokens: u64,
}

impl TokenUsage {
    /// Whether no token of any kind was used.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.input_tokens == 0
            && self.output_tokens == 0
            && self.cache_creation_input_tokens == 0
            && self.cache_read_input_tokens == 0
    }
}

impl std::ops::AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_creation_input_tokens += other.cache_creation_input_tokens;
        self.cache_read_input_tokens += other.cache_read_input_tokens;
    }
}

/// Tokens of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelTokens {
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Tokens written to the cache.
    #[serde(default)]
    pub cache_creation: u64,
    /// Tokens read from the cache.
    #[serde(default)]
    pub cache_read: u64,
}

impl ModelTokens {
    /// Each count that is larger, of the two.
    #[must_use]
    pub fn at_least(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_creation: self.cache_creation.max(other.cache_creation),
            cache_read: self.cache_read.max(other.cache_read),
        }
    }

    /// What is more than in the other, each count by itself.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cache_creation: self.cache_creation.saturating_sub(other.cache_creation),
            cache_read: self.cache_read.saturating_sub(other.cache_read),
        }
    }
}

impl std::ops::AddAssign for ModelTokens {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_creation += other.cache_creation;
        self.cache_read += other.cache_read;
    }
}

/// Tokens as the `completed` event carries them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokensUsed {
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Tokens written to the cache.
    #[serde(default)]
    pub cache_creation_input_tokens: u64,
    /// Tokens read from the cache.
    #[serde(default)]
    pub cache_read_input_tokens: u64,
    /// Number of answers of a model.
    #[serde(default)]
    pub turns: u64,
    /// Models in the order in which they were first seen.
    #[serde(default)]
    pub models: Vec<String>,
}

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
    pub const CONTEXT_LIMIT_EXCEEDED: &str = "CONTEXT_LIMIT_EXCEEDED";
    pub const PLAN_STATE_UNAVAILABLE: &str = "PLAN_STATE_UNAVAILABLE";
    pub const AWAITING_USER: &str = "AWAITING_USER";
    pub const ITERATION_LIMIT: &str = "ITERATION_LIMIT";
    pub const STALE_DISPATCH: &str = "STALE_DISPATCH";
}
