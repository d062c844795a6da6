//! Loop events, as sent by a runner and stored by the control plane.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::event_body::{EventBody, OutputEvent, OutputRole, or_absent};
use crate::execution_result::ResultEntry;
use crate::review_comments::NumberedAnswer;
use crate::spend::Cost;
pub use crate::tokens::{ModelTokens, TokenUsage, TokensUsed};

/// Payload of a `completed` event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Completed {
    /// Outcome of the loop; an open object (`exitCode`, `subtype`, `prUrl`, `prNumber`, `branchName`,
    /// `has_changes`, `sessionId`, `verdict`, …).
    #[serde(default, deserialize_with = "or_absent")]
    #[schema(value_type = Object)]
    pub result: Map<String, Value>,
    /// Total tokens of the loop.
    #[serde(default, deserialize_with = "or_absent")]
    pub tokens_used: TokensUsed,
    /// Tokens by model name; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    #[schema(value_type = Option<Object>)]
    pub tokens_by_model: Option<std::collections::BTreeMap<String, ModelTokens>>,
    /// Cost as reported by the assistant; absent when it reports none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub cost: Option<Cost>,
    /// Source of the assistant's API key, as it reports it; absent when it does not.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub api_key_source: Option<String>,
    /// Schema v2 only: one entry per repository, the primary first.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub results: Option<Vec<ResultEntry>>,
    /// Answers to the comments of the review that the loop received; absent without a review.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub comment_answers: Option<Vec<NumberedAnswer>>,
    /// Problems that did not fail the loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_absent")]
    pub warnings: Vec<String>,
}

/// Reason why a loop was aborted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AbortReason {
    /// The user cancelled the loop.
    Cancelled,
    /// The loop's process exited with an error.
    ProcessExit,
    /// The loop ended without doing any work.
    GhostLoop,
}

/// Payload of an `error` event, including diagnostics of version 2.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorEvent {
    /// Error code of the loop, for example `PROCESS_FAILED`.
    #[serde(default, deserialize_with = "or_absent")]
    pub code: String,
    /// Error message for the user.
    #[serde(default, deserialize_with = "or_absent")]
    pub message: String,
    /// Session id of the assistant; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub session_id: Option<String>,
    /// Branch of the loop's worktree; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub branch_name: Option<String>,
    /// Total tokens of the loop; absent when zero.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub token_usage: Option<TokenUsage>,
    /// Tokens by model name; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    #[schema(value_type = Option<Object>)]
    pub tokens_by_model: Option<std::collections::BTreeMap<String, ModelTokens>>,
    /// Cost as reported by the assistant; absent when it reports none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub cost: Option<Cost>,
    /// Last lines of the loop's log; absent without a log.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub log_tail: Option<String>,
    /// End of the assistant's standard error without ANSI sequences, at most 4096 bytes and 50 lines.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub stderr_tail: Option<String>,
    /// Signal that terminated the process, for example `SIGKILL`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub exit_signal: Option<String>,
    /// Milliseconds since the process was started.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub elapsed_ms: Option<u64>,
    /// Reason why the loop was aborted; absent when the process never ran.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub abort_reason: Option<AbortReason>,
    /// Version of the diagnostic members, `"2"`; absent from older desktops.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub diagnostics_version: Option<String>,
    /// Source of the assistant's API key, as it reports it; absent when it does not.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub api_key_source: Option<String>,
    /// `{"subcode": …}` of a verified failure marker, or `{"repo": …}` of a failed peer.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    #[schema(value_type = Option<Object>)]
    pub result: Option<Map<String, Value>>,
    /// Additional problems that did not cause the failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_absent")]
    pub warnings: Vec<String>,
    /// One entry per repository that received a part of the work, the primary first.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub results: Option<Vec<ResultEntry>>,
    /// Answers to the comments of the review that the loop received; absent without a review.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub comment_answers: Option<Vec<NumberedAnswer>>,
    /// Why the control plane timed the loop out; absent from runners.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    #[schema(value_type = Option<Object>)]
    pub reaper: Option<Map<String, Value>>,
}

/// An event of a loop in flat form: `{"type", …members, "timestamp"}`.
///
/// A runner sends the types `started`, `output`, `progress`, `tool_call`, `artifact_created`,
/// `support_bundle_uploaded`, `message_delivery`, `completed`, `error` and `cancelled`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LoopEvent {
    /// Type of the event, for example `output`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Time of the event, ISO 8601 in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Payload: all members besides `type` and `timestamp`.
    #[serde(flatten)]
    pub members: Map<String, Value>,
}

impl LoopEvent {
    /// Creates an event with the current time; `payload` must serialize to a JSON object.
    pub fn new(kind: &str, payload: &impl Serialize) -> Self {
        let members = match serde_json::to_value(payload) {
            Ok(Value::Object(members)) => members,
            // Does not occur: all payload types are structs.
            _ => Map::new(),
        };
        Self { kind: kind.to_owned(), timestamp: Some(crate::time::now_iso()), members }
    }

    /// Creates the event of a text of Loopgate for the user.
    #[must_use]
    pub fn note(text: &str) -> Self {
        Self::output(EventBody::Output(OutputEvent::new(OutputRole::Note, text)))
    }

    /// Creates an `output` event, in which runners report texts, queue positions, approvals and stalls.
    #[must_use]
    pub fn output(body: EventBody) -> Self {
        let (_, members) = body.into_members();
        Self::new("output", &serde_json::json!({"data": members}))
    }
}

/// Warnings of a loop: problems that did not fail it. See [`Completed::warnings`].
pub mod warning {
    #![allow(missing_docs, reason = "each constant is its own text")]
    pub const GIT_PUSH_FAILED: &str = "GIT_PUSH_FAILED";
    pub const WORK_NOT_DELIVERED: &str = "WORK_NOT_DELIVERED";
    pub const FILES_HELD_BACK: &str = "FILES_HELD_BACK";
    pub const PULL_REQUEST_HELD: &str = "PULL_REQUEST_HELD";
    pub const PUSHED_BEFORE_DELIVERY: &str = "PUSHED_BEFORE_DELIVERY";
    pub const LFS_NOT_UPLOADED: &str = "LFS_NOT_UPLOADED";
    pub const REQUIRED_OUTPUT_MISSING: &str = "REQUIRED_OUTPUT_MISSING";
    pub const REVIEW_COMMENTS_UNANSWERED: &str = "REVIEW_COMMENTS_UNANSWERED";
    pub const REVIEW_CHANGED_FILES: &str = "REVIEW_CHANGED_FILES";
    pub const TESTS_FAILED_BEFORE: &str = "TESTS_FAILED_BEFORE";
    pub const TESTS_INCONCLUSIVE: &str = "TESTS_INCONCLUSIVE";
    pub const TESTS_WEAKENED: &str = "TESTS_WEAKENED";
    pub const WORKTREE_INCOMPLETE: &str = "WORKTREE_INCOMPLETE";
    pub const ARTIFACT_UPLOAD_FAILED: &str = "ARTIFACT_UPLOAD_FAILED";
    pub const EVENT_POST_FAILED: &str = "EVENT_POST_FAILED";
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
    pub const NOTHING_DELIVERED: &str = "NOTHING_DELIVERED";
    pub const NEW_TEST_FAILURES: &str = "NEW_TEST_FAILURES";
    pub const CONTEXT_LIMIT_EXCEEDED: &str = "CONTEXT_LIMIT_EXCEEDED";
    pub const PLAN_STATE_UNAVAILABLE: &str = "PLAN_STATE_UNAVAILABLE";
    pub const AWAITING_USER: &str = "AWAITING_USER";
    pub const ITERATION_LIMIT: &str = "ITERATION_LIMIT";
    pub const SPENDING_LIMIT: &str = "SPENDING_LIMIT";
    pub const STALE_DISPATCH: &str = "STALE_DISPATCH";
}

/// Subcodes of error events that name the cause. The codes are those of the interface, which name the consequence.
pub mod subcode {
    #![allow(missing_docs, reason = "each constant is its own text")]
    // What the set-up of a desktop lacks.
    pub const ASSISTANT_MISSING: &str = "ASSISTANT_MISSING";
    pub const CODE_HOST_NOT_SIGNED_IN: &str = "CODE_HOST_NOT_SIGNED_IN";
    // Tasks wait for answers to open questions of the plan.
    pub const BLOCKED_BY_QUESTIONS: &str = "PENDING_TASKS_BLOCKED_BY_QUESTIONS";
}
