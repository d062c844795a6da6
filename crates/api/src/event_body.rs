//! What the events of a loop report: one variant for each kind.
//!
//! A runner sends the types of [`crate::event::LoopEvent`]. An `output` event of a runner can report several things:
//! the position in a queue, a pending approval, or a stall in a member of that name, and any number of [parts]. The
//! control plane stores each of them as a body of its own kind. A member with an unexpected type counts as absent,
//! unless the body is meaningless without it.
//!
//! [parts]: EventBody::is_part

use std::ops::Not;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::event::{Completed, ErrorEvent, TokenUsage};
use crate::spend::{Cost, Run, Turn};

/// What an event reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// The loop starts.
    Started(Started),
    /// The loop entered another phase, or completed a task.
    Progress(ProgressEvent),
    /// A text.
    Output(OutputEvent),
    /// A tool call starts or ends.
    ToolCall(ToolCallEvent),
    /// Tokens and costs so far.
    Usage(LoopUsageReport),
    /// The assistant asks the user, and the loop waits for the answer.
    Question(QuestionEvent),
    /// The loop waits until a usage limit of the assistant resets.
    Limit(LimitEvent),
    /// The loop waits for the approval of its desktop's owner.
    Approval(ApprovalRequestEvent),
    /// The wait for the approval has ended.
    ApprovalDecision(ApprovalDecisionEvent),
    /// The loop is queued on its desktop.
    Queue(QueueEvent),
    /// The loop has become inactive, or active again.
    Stall(StallEvent),
    /// A person has sent a message to the loop.
    Message(MessageEvent),
    /// A message was delivered to the assistant, or cannot be.
    MessageDelivery(MessageDeliveryEvent),
    /// An artifact was uploaded.
    ArtifactCreated(ArtifactCreated),
    /// Files for support were uploaded.
    SupportBundleUploaded(SupportBundleUploaded),
    /// End of a successful loop.
    Completed(Box<Completed>),
    /// End of a loop that failed, timed out, or waits for an answer.
    Error(Box<ErrorEvent>),
    /// End of a cancelled loop.
    Cancelled(Cancelled),
    /// The tokens of the loop's runner are no longer valid.
    TokensCleared(TokensCleared),
    /// The runner received a new token.
    TokenRefreshed(TokenRefreshed),
    /// A loop that was timed out continues.
    ReapReversed(ReapReversed),
    /// An event of a later version, or with an invalid member.
    Unreadable(Unreadable),
}

/// Content of a `started` event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Started {
    /// Session id of the assistant, if the runner knows it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub session_id: Option<String>,
    /// Default branch of the repository, if the request named no branch.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub base_branch: Option<String>,
}

/// Content of a `progress` event.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressEvent {
    /// Completed part in percent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub percent: Option<f64>,
    /// Name of the phase.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub stage: Option<String>,
    /// Tasks of the plan; absent without a plan.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub tasks: Option<TaskCounts>,
}

/// Tasks of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskCounts {
    /// Number of completed tasks.
    pub completed: u64,
    /// Number of all tasks.
    pub total: u64,
    /// Id of the first pending task; absent when all are completed.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub current: Option<String>,
}

/// Author of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputRole {
    /// The model, in its answer: Markdown.
    Assistant,
    /// The model is reasoning.
    Thinking,
    /// Loopgate or the assistant's program, to the model.
    Prompt,
    /// The model, to Loopgate: for example that the work is complete.
    Control,
    /// Loopgate or the assistant's program, to the user.
    Note,
    /// The assistant's program reports a failure.
    Error,
}

/// Content of an `output` event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputEvent {
    /// The text. Without a role, the lines of a log.
    pub chunk: String,
    /// Author of the text; absent from runners that do not report it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub role: Option<OutputRole>,
    /// Id of the tool call that started the subagent whose text this is.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub parent_id: Option<String>,
    /// Tokens and costs, from runners that report them with a text.
    #[serde(flatten)]
    pub usage: LoopUsageReport,
}

impl OutputEvent {
    /// Creates a text with an author.
    #[must_use]
    pub fn new(role: OutputRole, chunk: impl Into<String>) -> Self {
        Self { chunk: chunk.into(), role: Some(role), parent_id: None, usage: LoopUsageReport::default() }
    }
}

/// Tokens and costs of a loop so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopUsageReport {
    /// Total tokens.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub token_usage: Option<TokenUsage>,
    /// The model's responses since the last event with any.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_absent")]
    pub turns: Vec<Turn>,
    /// Runs of the assistant that ended since the last event with any.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_absent")]
    pub runs: Vec<Run>,
    /// Cost as reported by the assistant.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub cost: Option<Cost>,
}

/// What a tool works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolCategory {
    /// Runs a command line.
    Command,
    /// Reads, searches or changes files.
    File,
    /// Starts a subagent.
    Agent,
    /// Anything else.
    Other,
}

/// Content of a `tool_call` event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum ToolCallEvent {
    /// The call starts.
    Start(ToolStart),
    /// The call has ended.
    End(ToolEnd),
}

/// Start of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolStart {
    /// Name of the tool.
    pub tool: String,
    /// Id of the call, which its end repeats.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub call_id: Option<String>,
    /// What the tool works on.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub category: Option<ToolCategory>,
    /// Id of the tool call that started the subagent whose call this is.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub parent_id: Option<String>,
    /// Arguments in the tool's own format.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// The part of the arguments that describes the call: a command line, a path, or a pattern.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub summary: Option<String>,
    /// Whether the call serves the loop itself, for example by writing its state.
    #[serde(default, skip_serializing_if = "Not::not", deserialize_with = "or_absent")]
    pub is_internal: bool,
    /// Whether `input` lacks parts, which the event alone contains.
    #[serde(default, skip_serializing_if = "Not::not", deserialize_with = "or_absent")]
    pub is_shortened: bool,
}

/// End of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolEnd {
    /// Name of the tool.
    pub tool: String,
    /// Id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub call_id: Option<String>,
    /// What the tool works on.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub category: Option<ToolCategory>,
    /// Result. A text, from a runner that reports `size`.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output: Value,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "Not::not", deserialize_with = "or_absent")]
    pub is_error: bool,
    /// Exit code of a command; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub exit_code: Option<i64>,
    /// Milliseconds between the times at which the desktop read start and end of the call.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub duration_ms: Option<u64>,
    /// Size of the complete result in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub size: Option<u64>,
    /// Whether the call serves the loop itself.
    #[serde(default, skip_serializing_if = "Not::not", deserialize_with = "or_absent")]
    pub is_internal: bool,
    /// Whether `output` lacks parts, which the event alone contains.
    #[serde(default, skip_serializing_if = "Not::not", deserialize_with = "or_absent")]
    pub is_shortened: bool,
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QuestionEvent {
    /// The question.
    pub text: String,
}

/// A usage limit that the loop waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LimitEvent {
    /// Message of the loop's driver, with the time of the reset.
    pub text: String,
}

/// A pending approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApprovalRequestEvent {
    /// The approval.
    pub approval: ApprovalDetails,
    /// Message for the user.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub chunk: Option<String>,
}

/// Request for the approval of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalDetails {
    /// Id that the decision refers to.
    pub id: String,
    /// Command line that approves the loop.
    pub command: String,
    /// Expiration of the request, ISO 8601.
    pub waits_until: String,
}

/// The end of the wait for an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalDecisionEvent {
    /// The decision.
    pub approval_decision: ApprovalDecision,
    /// Message for the user.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub chunk: Option<String>,
}

/// Decision about the start of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApprovalDecision {
    /// Id of the approval.
    pub id: String,
    /// How the wait ended.
    pub outcome: ApprovalOutcome,
}

/// How the wait for an approval ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalOutcome {
    /// The desktop's owner approved the loop.
    Approved,
    /// The desktop's owner denied the loop.
    Denied,
    /// The time limit passed without a decision.
    Expired,
    /// The owner approved the loop, but it would do something other than what was shown.
    Outdated,
}

/// A change of a loop's position in the queue of its desktop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueueEvent {
    /// The position.
    pub queue: QueuePlace,
    /// Message for the user.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub chunk: Option<String>,
}

/// Position in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueuePlace {
    /// Position, from 1.
    pub place: u64,
    /// Length of the queue.
    pub waiting: u64,
}

/// A change of a loop's activity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StallEvent {
    /// The activity.
    #[serde(alias = "stillness")]
    pub stall: StallState,
    /// Message for the user.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub chunk: Option<String>,
}

/// Activity of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StallState {
    /// Kind of activity.
    pub state: StallKind,
    /// Time of the last activity, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub since: Option<String>,
    /// Program that is inactive, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub command: Option<String>,
    /// Time at which the usage limit resets, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub until: Option<String>,
}

/// Kind of a loop's activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StallKind {
    /// Processes of the loop are active.
    Working,
    /// The model has not responded yet.
    WaitingForModel,
    /// The driver waits until a usage limit resets.
    WaitingForLimit,
    /// Nothing has happened for a long time.
    Stuck,
}

/// A message of a person to the running loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageEvent {
    /// Id of the message.
    pub message_id: String,
    /// The message, as plain text.
    pub text: String,
    /// Id of the user who sent it.
    pub user_id: String,
    /// Name of the user who sent it.
    pub user_name: String,
}

/// Whether a message has reached the assistant. A message without this event when its loop has ended was not delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageDeliveryEvent {
    /// Id of the message.
    pub message_id: String,
    /// Whether the assistant has received the message in its session.
    pub is_delivered: bool,
    /// Time of the delivery, ISO 8601; absent if it was not delivered.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub delivered_at: Option<String>,
    /// Why the message cannot be delivered; absent if it was.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub reason: Option<String>,
}

/// An uploaded artifact.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactCreated {
    /// Id of the artifact.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub artifact_id: Option<String>,
    /// Type of the artifact.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub artifact_type: Option<String>,
}

/// Uploaded files for support.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SupportBundleUploaded {
    /// Keys of the files in the storage.
    pub keys: Vec<String>,
    /// The files, if the runner reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_absent")]
    pub files: Vec<UploadedSupportFile>,
}

/// A file for support.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadedSupportFile {
    /// Name of the file.
    pub name: String,
    /// Key in the storage.
    pub key: String,
    /// Size in bytes; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// Content of a `cancelled` event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Cancelled {
    /// Reason, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub reason: Option<String>,
}

/// Content of a `tokens_cleared` event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct TokensCleared {
    /// Terminal status of the loop.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub status: Option<String>,
}

/// Content of a `token_refreshed` event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenRefreshed {
    /// Slot of the previous token.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub prev_jti: Option<String>,
    /// Slot of the new token.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub new_jti: Option<String>,
    /// Expiration of the new token, in seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub exp: Option<i64>,
    /// Address of the runner.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub requester_ip: Option<String>,
    /// Program of the runner.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub requester_ua: Option<String>,
    /// Idempotency key of the request.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub idempotency_key: Option<String>,
}

/// Content of a `reap_reversed` event: none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct ReapReversed {}

/// An event that this version cannot read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Unreadable {
    /// Type under which it is stored.
    pub kind: String,
}

impl EventBody {
    /// Reads the members of an event, as a runner sends or a control plane stores them, except `type`.
    #[must_use]
    pub fn read(kind: &str, members: &Map<String, Value>) -> Self {
        let specific = specific_kind(kind, members);
        let body = Self::parse(specific, members.clone()).or_else(|| {
            // A position or state with an unexpected content still has a text.
            (specific != kind).then(|| Self::parse(kind, members.clone())).flatten()
        });
        body.unwrap_or_else(|| Self::Unreadable(Unreadable { kind: kind.to_owned() }))
    }

    /// Reads one of the parts of an `output` event.
    #[must_use]
    pub fn read_part(part: Value) -> Self {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        match serde_json::from_value::<Self>(part) {
            Ok(body) if body.is_part() => body,
            _ => Self::Unreadable(Unreadable { kind }),
        }
    }

    /// Returns whether an `output` event of a runner can contain this body as a part.
    #[must_use]
    pub const fn is_part(&self) -> bool {
        matches!(self, Self::Output(_) | Self::ToolCall(_) | Self::Limit(_))
    }

    /// Returns the type and the other members.
    #[must_use]
    pub fn into_members(self) -> (String, Map<String, Value>) {
        let mut members = match serde_json::to_value(self) {
            Ok(Value::Object(members)) => members,
            // Does not occur: all variants contain structs.
            _ => Map::new(),
        };
        let kind = match members.remove("type") {
            Some(Value::String(kind)) => kind,
            _ => String::new(),
        };
        (kind, members)
    }

    fn parse(kind: &str, mut members: Map<String, Value>) -> Option<Self> {
        members.insert("type".to_owned(), kind.into());
        serde_json::from_value(Value::Object(members)).ok()
    }
}

/// Returns what an `output` event of a runner reports, by the member that only such an event has.
fn specific_kind<'a>(kind: &'a str, members: &Map<String, Value>) -> &'a str {
    let has = |name: &str| members.get(name).is_some_and(Value::is_object);
    match kind {
        "output" if has("approval") => "approval",
        "output" if has("approvalDecision") => "approval_decision",
        "output" if has("queue") => "queue",
        // Earlier versions stored the second name.
        "output" if has("stall") || has("stillness") => "stall",
        other => other,
    }
}

/// Reads a member; one with an unexpected type counts as absent.
pub(crate) fn or_absent<'de, D: Deserializer<'de>, T: Default + DeserializeOwned>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

#[cfg(test)]
mod tests;
