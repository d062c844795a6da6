//! Records of the assistant's `stream-json` output and of its transcripts: one JSON object per line.
//!
//! The only reader of these objects' members. Versions of the assistant differ in them, so a member that is missing
//! or has another type counts as absent, and never invalidates the rest of its record.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::tokens::ModelTokens;

/// Subtype of the `system` record with which the loop driver reports that it waits until a usage limit
/// resets.
pub const WAITING_FOR_LIMIT: &str = "waiting_for_limit";
/// Subtype of the `result` record of a run that exhausted its budget.
const BUDGET_USED_UP: &str = "error_max_budget_usd";
/// Model name of messages that the assistant generates locally, for example about a failed request.
const SYNTHETIC: &str = "<synthetic>";

/// One line of the assistant's output. Every JSON value is a record.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "Value")]
pub struct AssistantRecord {
    /// Session that printed the record.
    pub session_id: Option<String>,
    /// What the record reports.
    pub kind: RecordKind,
}

/// Kinds of records.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordKind {
    /// An event of the program.
    System(SystemRecord),
    /// A message of the model, or of the program in its place.
    Assistant(AssistantMessage),
    /// A message to the model: results of tools, or a text of the program.
    User(Content),
    /// A part of the model's text. Printed by older versions in place of whole messages.
    TextDelta(String),
    /// The end of a turn. A run can have several turns, see [`crate::run_phase`].
    Result(ResultRecord),
    /// State of a usage limit of the account.
    RateLimit(RateLimitEvent),
    /// Start of a thread of the reviewer, whose output is read by the same programs. Contains its id.
    ReviewerThread(String),
    /// End of a turn of the reviewer, with the totals of its thread.
    ReviewerTurn(ModelTokens),
    /// Any other value, unchanged.
    Unknown(Value),
}

/// An event of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemRecord {
    /// Name of the event.
    pub subtype: String,
    /// Content of the events that are evaluated.
    pub event: SystemEvent,
}

/// Content of a system record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SystemEvent {
    /// A turn begins.
    Init {
        /// Source of the API key.
        api_key_source: Option<String>,
        /// Commands that prompts can start with; `None` if they are not reported.
        commands: Option<Vec<String>>,
        /// Tools that the model can call; `None` if they are not reported.
        tools: Option<Vec<String>>,
    },
    /// A task started: a subagent, or a command in the background.
    TaskStarted {
        /// Id of the task.
        id: String,
        /// Tool call that started or continued it.
        call: Option<String>,
        /// Type of the subagent.
        agent_type: Option<String>,
    },
    /// A task ended. Contains its id.
    TaskEnded(String),
    /// Ids of all tasks that run in the background.
    BackgroundTasks(Vec<String>),
    /// A hook started or ended. Contains its name.
    Hook(String),
    /// The loop driver waits until a usage limit resets, see [`WAITING_FOR_LIMIT`]. Contains the message to the user.
    WaitingForLimit(String),
    /// Any other event.
    Other,
}

/// A message of the model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AssistantMessage {
    /// Id of the model's response. A response is printed as one record per block.
    pub id: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// Tokens of the response.
    pub usage: Option<ModelTokens>,
    /// The message.
    pub content: Content,
    /// Tool call that started the subagent whose message this is.
    pub parent_tool_call: Option<String>,
    /// Whether a subagent wrote the message.
    pub is_of_subagent: bool,
    /// Whether the program reports a failed request to the model.
    pub is_api_error: bool,
    /// Class of the error, for example `rate_limit`.
    pub error: Option<String>,
    /// HTTP status of the failed request.
    pub error_status: Option<u64>,
}

impl AssistantMessage {
    /// Returns whether the program wrote the message in place of the model.
    #[must_use]
    pub fn is_synthetic(&self) -> bool {
        self.model.as_deref() == Some(SYNTHETIC)
    }
}

/// Content of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A plain text.
    Text(String),
    /// Blocks in order.
    Blocks(Vec<Block>),
}

impl Default for Content {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl Content {
    /// Returns the blocks; none for a plain text.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }

    /// Returns the texts.
    pub fn texts(&self) -> impl DoubleEndedIterator<Item = &str> {
        let plain = match self {
            Self::Text(text) => Some(text.as_str()),
            Self::Blocks(_) => None,
        };
        plain.into_iter().chain(self.blocks().iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        }))
    }

    /// Returns the tool calls.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolUse> {
        self.blocks().iter().filter_map(|block| match block {
            Block::ToolUse(call) => Some(call),
            _ => None,
        })
    }

    /// Returns the results of tool calls.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        self.blocks().iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        })
    }
}

/// A block of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Text of the answer.
    Text(String),
    /// Text of the model's reasoning.
    Thinking(String),
    /// The model calls a tool.
    ToolUse(ToolUse),
    /// A tool call has ended.
    ToolResult(ToolResult),
    /// Any other block, unchanged.
    Unknown(Value),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolUse {
    /// Id of the call, which its result repeats.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments, in the tool's own format.
    pub input: Value,
}

impl ToolUse {
    /// Returns a text argument; empty if there is none.
    #[must_use]
    pub fn argument(&self, name: &str) -> &str {
        self.input.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Result of a tool call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    /// Id of the call.
    pub call: String,
    /// Result, in the tool's own format.
    pub content: Value,
    /// Whether the call failed; `None` if the assistant does not report it.
    pub is_error: Option<bool>,
}

impl ToolResult {
    /// Returns the texts of the result.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let parts = self.content.as_array().into_iter().flatten();
        self.content.as_str().into_iter().chain(parts.filter_map(|part| part.get("text")?.as_str()))
    }

    /// Returns the exit code of a command: a failed one reports it in the first line. `None` if the command did not
    /// run to its end.
    #[must_use]
    pub fn exit_code(&self) -> Option<i64> {
        if self.is_error != Some(true) {
            return Some(0);
        }
        self.texts().next()?.lines().next()?.strip_prefix("Exit code ")?.trim().parse().ok()
    }
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResultRecord {
    /// Kind of the end, for example `success`.
    pub subtype: String,
    /// Whether the program reports its run as failed.
    pub is_error: bool,
    /// The model's last text, or the reason of a failure.
    pub text: Option<String>,
    /// Reason of a failure without a text.
    pub error: Option<String>,
    /// HTTP status of the failed request to the model.
    pub error_status: Option<u64>,
    /// Number of requests to the model.
    pub turns: Option<u64>,
    /// Cost of the process so far, in US dollars.
    pub total_usd: Option<f64>,
    /// Tokens and costs of the process so far, by model name.
    pub models: BTreeMap<String, ReportedUsage>,
    /// Tokens of the turn.
    pub usage: Option<ModelTokens>,
    /// Size of the model's context window in tokens; 0 if the reported size is no token count.
    pub context_window: Option<u64>,
}

impl ResultRecord {
    /// Returns whether the turn succeeded.
    #[must_use]
    pub fn is_success(&self) -> bool {
        !self.is_error && self.subtype == "success"
    }

    /// Returns whether the run exhausted its budget.
    #[must_use]
    pub fn is_budget_used_up(&self) -> bool {
        self.subtype == BUDGET_USED_UP
    }

    /// Returns the reason of a failure.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.text.as_deref().or(self.error.as_deref())
    }
}

/// Tokens and cost of one model.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReportedUsage {
    /// Token counts.
    pub tokens: ModelTokens,
    /// Cost in US dollars.
    pub usd: f64,
}

/// State of a usage limit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RateLimitEvent {
    /// Whether requests are `allowed…`, or `rejected`.
    pub status: String,
    /// Name of the limit.
    pub limit: Option<String>,
    /// Time at which the limit resets: a date, or seconds since the epoch.
    pub resets_at: Option<String>,
}

impl From<Value> for AssistantRecord {
    fn from(value: Value) -> Self {
        let members = match value {
            Value::Object(members) => Members(members),
            other => return Self { session_id: None, kind: RecordKind::Unknown(other) },
        };
        // Transcripts name the member differently.
        let names = ["session_id", "sessionId"];
        let session_id = names.iter().find_map(|name| members.0.get(*name)?.as_str());
        let session_id = session_id.filter(|id| !id.is_empty()).map(str::to_owned);
        Self { session_id, kind: members.into_kind() }
    }
}

impl From<Value> for Block {
    fn from(value: Value) -> Self {
        match value {
            Value::Object(members) => Members(members).into_block(),
            other => Self::Unknown(other),
        }
    }
}

/// Members of a JSON object, taken by their names.
#[derive(Default)]
struct Members(Map<String, Value>);

impl Members {
    fn into_kind(mut self) -> RecordKind {
        let name = self.0.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        match name.as_str() {
            "system" => RecordKind::System(self.into_system()),
            // Printed by older versions.
            "init" => RecordKind::System(SystemRecord { subtype: name, event: self.into_init() }),
            "assistant" => RecordKind::Assistant(self.into_assistant()),
            "user" => RecordKind::User(self.object("message").content()),
            "content_block_delta" => RecordKind::TextDelta(self.object("delta").text("text")),
            "result" => RecordKind::Result(self.into_result()),
            "rate_limit_event" => RecordKind::RateLimit(self.into_rate_limit()),
            "thread.started" => RecordKind::ReviewerThread(self.text("thread_id")),
            "turn.completed" => RecordKind::ReviewerTurn(self.object("usage").into_reviewer_tokens()),
            _ => RecordKind::Unknown(Value::Object(self.0)),
        }
    }

    fn into_system(mut self) -> SystemRecord {
        let subtype = self.text("subtype");
        let event = match subtype.as_str() {
            "init" => self.into_init(),
            "task_started" => SystemEvent::TaskStarted {
                id: self.text("task_id"),
                call: self.take(&["tool_use_id"]),
                agent_type: self.take(&["subagent_type"]),
            },
            "task_notification" => SystemEvent::TaskEnded(self.text("task_id")),
            "task_updated" if self.object("patch").is_end_of_task() => {
                SystemEvent::TaskEnded(self.text("task_id"))
            }
            "background_tasks_changed" => {
                let tasks = self.list("tasks").into_iter().map(|task| Self::of(task).text("task_id"));
                SystemEvent::BackgroundTasks(tasks.collect())
            }
            WAITING_FOR_LIMIT => SystemEvent::WaitingForLimit(self.text("message")),
            _ => match self.take(&["hook_name", "hook_event"]) {
                Some(name) => SystemEvent::Hook(name),
                None => SystemEvent::Other,
            },
        };
        SystemRecord { subtype, event }
    }

    fn into_init(mut self) -> SystemEvent {
        SystemEvent::Init {
            api_key_source: self.take(&["apiKeySource"]),
            commands: self.take(&["slash_commands"]),
            tools: self.take(&["tools"]),
        }
    }

    /// Returns whether a change of a task ends it.
    fn is_end_of_task(&mut self) -> bool {
        ["completed", "failed", "killed", "stopped"].contains(&self.text("status").as_str())
    }

    fn into_assistant(mut self) -> AssistantMessage {
        let mut message = self.object("message");
        let parent_tool_call: Option<String> = self.take(&["parent_tool_use_id"]);
        AssistantMessage {
            id: message.take(&["id"]),
            model: message.take(&["model"]),
            usage: message.usage(),
            content: message.content(),
            is_of_subagent: parent_tool_call.is_some() || self.flag("isSidechain"),
            parent_tool_call,
            is_api_error: self.take(&["is_api_error_message", "isApiErrorMessage"]).unwrap_or_default(),
            error: self.take(&["error"]).filter(|error: &String| !error.is_empty()),
            error_status: self.error_status(),
        }
    }

    fn into_result(mut self) -> ResultRecord {
        let subtype = self.text("subtype");
        let is_error = self.flag("is_error") || subtype == "error";
        let errors = if is_error { self.list("errors") } else { Vec::new() };
        let models = self.object("modelUsage").0.into_iter();
        let sizes =
            [self.0.get("usage").and_then(|usage| usage.get("context_window")), self.0.get("context_window")];
        let context_window = sizes.into_iter().flatten().find(|size| size.is_number());
        ResultRecord {
            // Negative and fractional sizes are no token counts.
            context_window: context_window.map(|size| size.as_u64().unwrap_or(0)),
            is_error,
            subtype,
            text: self.take(&["result"]),
            error: self.take(&["error"]).or_else(|| errors.first()?.as_str().map(str::to_owned)),
            error_status: self.error_status(),
            turns: self.take(&["num_turns"]),
            total_usd: self.take(&["total_cost_usd"]),
            models: models.map(|(model, counts)| (model, Self::of(counts).into_reported_usage())).collect(),
            usage: self.usage(),
        }
    }

    fn into_reported_usage(mut self) -> ReportedUsage {
        ReportedUsage {
            tokens: ModelTokens {
                input: self.count("inputTokens"),
                output: self.count("outputTokens"),
                cache_creation: self.count("cacheCreationInputTokens"),
                cache_read: self.count("cacheReadInputTokens"),
            },
            usd: self.take(&["costUSD"]).unwrap_or_default(),
        }
    }

    fn into_rate_limit(mut self) -> RateLimitEvent {
        let info = ["rate_limit_info", "rateLimitInfo"].iter().find_map(|name| self.0.remove(*name));
        let mut info = info.map(Self::of).unwrap_or_default();
        RateLimitEvent {
            status: info.take(&["status", "state"]).unwrap_or_default(),
            limit: info.take(&["rateLimitType", "rate_limit_type"]),
            resets_at: info.text_or_number(&["resetsAt", "resets_at"]),
        }
    }

    /// Reads the counts of the reviewer, whose input includes the cached input.
    fn into_reviewer_tokens(mut self) -> ModelTokens {
        let cache_read = self.count("cached_input_tokens");
        ModelTokens {
            input: self.count("input_tokens").saturating_sub(cache_read),
            output: self.count("output_tokens"),
            cache_creation: self.count("cache_write_input_tokens"),
            cache_read,
        }
    }

    fn into_block(mut self) -> Block {
        match self.0.get("type").and_then(Value::as_str) {
            Some("text") => Block::Text(self.text("text")),
            Some("thinking") => Block::Thinking(self.text("thinking")),
            Some("tool_use") => Block::ToolUse(ToolUse {
                id: self.text("id"),
                name: self.text("name"),
                input: self.0.remove("input").unwrap_or_default(),
            }),
            Some("tool_result") => Block::ToolResult(ToolResult {
                call: self.text("tool_use_id"),
                content: self.0.remove("content").unwrap_or_default(),
                is_error: self.take(&["is_error"]),
            }),
            _ => Block::Unknown(Value::Object(self.0)),
        }
    }

    fn content(&mut self) -> Content {
        match self.0.remove("content") {
            Some(Value::String(text)) => Content::Text(text),
            Some(Value::Array(blocks)) => Content::Blocks(blocks.into_iter().map(Block::from).collect()),
            _ => Content::default(),
        }
    }

    fn usage(&mut self) -> Option<ModelTokens> {
        let Some(Value::Object(counts)) = self.0.remove("usage") else { return None };
        let mut counts = Self(counts);
        Some(ModelTokens {
            input: counts.count("input_tokens"),
            output: counts.count("output_tokens"),
            cache_creation: counts.count("cache_creation_input_tokens"),
            cache_read: counts.count("cache_read_input_tokens"),
        })
    }

    fn error_status(&mut self) -> Option<u64> {
        self.take(&["api_error_status", "apiErrorStatus"])
    }

    /// Takes the first member with one of these names that has the expected type.
    fn take<T: DeserializeOwned>(&mut self, names: &[&str]) -> Option<T> {
        names.iter().find_map(|name| serde_json::from_value(self.0.remove(*name)?).ok())
    }

    fn text_or_number(&mut self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| match self.0.remove(*name)? {
            Value::String(text) => Some(text),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    }

    fn text(&mut self, name: &str) -> String {
        self.take(&[name]).unwrap_or_default()
    }

    fn flag(&mut self, name: &str) -> bool {
        self.take(&[name]).unwrap_or_default()
    }

    fn count(&mut self, name: &str) -> u64 {
        self.take(&[name]).unwrap_or_default()
    }

    fn object(&mut self, name: &str) -> Self {
        self.0.remove(name).map(Self::of).unwrap_or_default()
    }

    fn list(&mut self, name: &str) -> Vec<Value> {
        match self.0.remove(name) {
            Some(Value::Array(list)) => list,
            _ => Vec::new(),
        }
    }

    fn of(value: Value) -> Self {
        match value {
            Value::Object(members) => Self(members),
            _ => Self::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn kind(value: Value) -> RecordKind {
        AssistantRecord::from(value).kind
    }

    #[test]
    fn both_spellings_of_versions_and_transcripts_are_read() {
        let assistant = |members: Value| match kind(members) {
            RecordKind::Assistant(message) => message,
            other => panic!("{other:?}"),
        };
        for record in [
            json!({"type": "assistant", "error": "rate_limit", "is_api_error_message": true, "api_error_status": 429}),
            json!({"type": "assistant", "error": "rate_limit", "isApiErrorMessage": true, "apiErrorStatus": 429}),
        ] {
            let message = assistant(record);
            assert!(message.is_api_error && message.error_status == Some(429), "{message:?}");
        }
        assert!(assistant(json!({"type": "assistant", "isSidechain": true})).is_of_subagent);
        assert!(assistant(json!({"type": "assistant", "parent_tool_use_id": "t"})).is_of_subagent);
        for record in [
            json!({"session_id": "s"}),
            json!({"sessionId": "s"}),
            json!({"session_id": 5, "sessionId": "s"}),
        ] {
            assert_eq!(AssistantRecord::from(record).session_id.as_deref(), Some("s"));
        }
        let expected = RateLimitEvent { status: "rejected".into(), limit: None, resets_at: Some("7".into()) };
        for info in [
            json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 7}}),
            json!({"type": "rate_limit_event", "rateLimitInfo": {"state": "rejected", "resets_at": "7"}}),
        ] {
            assert_eq!(kind(info), RecordKind::RateLimit(expected.clone()));
        }
    }

    #[test]
    fn tasks_end_by_a_notification_or_a_final_status() {
        let event = |members: Value| match kind(members) {
            RecordKind::System(system) => system.event,
            other => panic!("{other:?}"),
        };
        let update = |status: &str| {
            event(
                json!({"type": "system", "subtype": "task_updated", "task_id": "a", "patch": {"status": status}}),
            )
        };
        for status in ["completed", "failed", "killed"] {
            assert_eq!(update(status), SystemEvent::TaskEnded("a".into()), "{status}");
        }
        for status in ["pending", "running", "paused", ""] {
            assert_eq!(update(status), SystemEvent::Other, "{status}");
        }
        let notification = json!({"type": "system", "subtype": "task_notification", "task_id": "a"});
        assert_eq!(event(notification), SystemEvent::TaskEnded("a".into()));
    }

    #[test]
    fn reason_of_a_failure_is_its_first_text() {
        let reason = |members: Value| match kind(members) {
            RecordKind::Result(result) => result.reason().map(str::to_owned),
            other => panic!("{other:?}"),
        };
        let errors = json!({"type": "result", "is_error": true, "errors": ["no session", "b"]});
        assert_eq!(reason(errors).as_deref(), Some("no session"));
        let both = json!({"type": "result", "is_error": true, "result": "limit", "error": "e"});
        assert_eq!(reason(both).as_deref(), Some("limit"));
        assert_eq!(reason(json!({"type": "result", "result": 5})), None);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let names = prop_oneof!["type|text|id|content|usage|status|task_id|tasks", ".{0,4}"];
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((names, inner), 0..4).prop_map(Value::from_iter),
            ]
        })
    }

    fn complete_result() -> Value {
        json!({"type": "result", "subtype": "success", "is_error": false, "result": "done", "error": "e",
            "api_error_status": 500, "num_turns": 3, "total_cost_usd": 0.5, "session_id": "s",
            "modelUsage": {"m": {"inputTokens": 1, "outputTokens": 2, "costUSD": 0.5}},
            "usage": {"input_tokens": 1, "output_tokens": 2}, "context_window": 9})
    }

    type Clear = fn(&mut ResultRecord);

    /// Members of a complete result, each with a function that clears what is read from it.
    const MEMBERS: [(&str, Clear); 9] = [
        ("is_error", |result| result.is_error = false),
        ("result", |result| result.text = None),
        ("error", |result| result.error = None),
        ("api_error_status", |result| result.error_status = None),
        ("num_turns", |result| result.turns = None),
        ("total_cost_usd", |result| result.total_usd = None),
        ("modelUsage", |result| result.models.clear()),
        ("usage", |result| (result.usage, result.context_window) = (None, None)),
        ("context_window", |result| result.context_window = None),
    ];

    proptest! {
        #[test]
        fn any_value_is_a_record(
            value in any_json(),
            name in "system|init|assistant|user|result|rate_limit_event|content_block_delta|turn\\.completed|.{0,6}",
            subtype in "init|task_started|task_updated|background_tasks_changed|.{0,6}",
            members in proptest::collection::btree_map(
                "message|content|usage|modelUsage|tasks|patch|delta|errors|rate_limit_info", any_json(), 0..4),
        ) {
            let _ = AssistantRecord::from(value);
            let mut record = Value::from_iter(members);
            record["type"] = name.as_str().into();
            record["subtype"] = subtype.into();
            let parsed = kind(record.clone());
            if let RecordKind::Unknown(raw) = parsed {
                prop_assert_eq!(raw, record, "a record of an unknown type is kept unchanged");
            }
        }

        #[test]
        fn malformed_member_loses_only_itself(at in 0..MEMBERS.len(), junk in any_json()) {
            let (member, clear) = MEMBERS[at];
            let mut damaged = complete_result();
            damaged[member] = junk;
            let [mut expected, mut result] = [complete_result(), damaged].map(|record| match kind(record) {
                RecordKind::Result(result) => result,
                other => panic!("{other:?}"),
            });
            clear(&mut expected);
            clear(&mut result);
            prop_assert_eq!(result, expected);
        }

        #[test]
        fn malformed_block_loses_only_itself(junk in any_json(), at in 0usize..3) {
            let mut content = vec![
                json!({"type": "text", "text": "a"}),
                json!({"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "ls"}}),
            ];
            let expected = kind(json!({"type": "assistant", "message": {"content": content.clone()}}));
            content.insert(at, junk);
            let record = kind(json!({"type": "assistant", "message": {"content": content}}));
            let (RecordKind::Assistant(mut message), RecordKind::Assistant(expected)) = (record, expected) else {
                panic!("not an answer");
            };
            let Content::Blocks(blocks) = &mut message.content else { panic!("not blocks") };
            blocks.remove(at);
            prop_assert_eq!(message, expected);
        }
    }
}
