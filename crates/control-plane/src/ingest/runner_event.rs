//! Parsing and validation of events that runners post, in flat form.

use std::collections::BTreeMap;

use loopgate_api::event::{ModelTokens, TokenUsage};
use loopgate_api::execution_result::ResultEntry;
use loopgate_api::redact;
use loopgate_api::spend::Cost;
use serde_json::{Map, Value};

use crate::error::{ApiResult, ValidationIssues, bad_request};

// Bytes of `logTail` that are stored.
const LOG_TAIL_LIMIT: usize = 8192;
// `logTail` is truncated by bytes only.
const LOG_TAIL_LINES: usize = usize::MAX;

// Longest id of an assistant's session, in bytes.
const SESSION_ID_LIMIT: usize = 256;

// Event types accepted from runners.
const TYPES: [&str; 10] = [
    "started",
    "output",
    "progress",
    "tool_call",
    "artifact_created",
    "support_bundle_uploaded",
    MESSAGE_DELIVERY,
    "completed",
    "error",
    "cancelled",
];

// Event types accepted from users for a MANUAL loop.
const MANUAL_TYPES: [&str; 5] = ["output", "progress", "completed", "error", "cancelled"];

/// Type of the event that reports the delivery of a message of the user.
pub const MESSAGE_DELIVERY: &str = "message_delivery";

/// Types of the events that lead to a terminal status.
pub const TERMINAL_KINDS: [&str; 3] = ["completed", "error", "cancelled"];

/// A valid event in flat form.
#[derive(Debug, Clone)]
pub struct RunnerEvent {
    /// Type of the event.
    pub kind: String,
    /// All members except the type.
    pub members: Map<String, Value>,
}

impl RunnerEvent {
    /// Parses `{"type", "data": {…}}` or `{"type", …}`. Returns 400 for an invalid event. `code_host` is the base
    /// URL of the code host whose pull requests are accepted, in addition to `https://github.com`.
    pub fn parse(body: Value, code_host: Option<&str>) -> ApiResult<Self> {
        Self::parse_one_of(&TYPES, body, code_host)
    }

    /// Like [`Self::parse`], for an event of a MANUAL loop.
    pub fn parse_manual(body: Value, code_host: Option<&str>) -> ApiResult<Self> {
        Self::parse_one_of(&MANUAL_TYPES, body, code_host)
    }

    fn parse_one_of(types: &[&str], body: Value, code_host: Option<&str>) -> ApiResult<Self> {
        let Value::Object(mut members) = body else { return Err(bad_request("event must be an object")) };
        let kind = match members.remove("type") {
            Some(Value::String(kind)) if types.contains(&kind.as_str()) => kind,
            Some(Value::String(kind)) => {
                return Err(bad_request(format!("type: Invalid event type \"{kind}\"")));
            }
            _ => return Err(bad_request("type: must be a string")),
        };
        match members.remove("data") {
            // A `type` inside `data` must not replace the validated one.
            Some(Value::Object(data)) => members.extend(data.into_iter().filter(|(name, _)| name != "type")),
            Some(other) => {
                members.insert("data".to_owned(), other);
            }
            None => {}
        }
        let mut event = Self { kind, members };
        event.check(code_host)?;
        // Runners may omit the timestamp; readers rely on it.
        if !event.members.get("timestamp").is_some_and(Value::is_string) {
            event.members.insert("timestamp".to_owned(), loopgate_api::time::now_iso().into());
        }
        event.redact();
        Ok(event)
    }

    /// Returns whether the event leads to a terminal status.
    pub fn is_terminal(&self) -> bool {
        TERMINAL_KINDS.contains(&self.kind.as_str())
    }

    /// Returns a member that is a string.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name)?.as_str()
    }

    /// Returns the tokens that an `output` or `error` event reports.
    pub fn token_usage(&self) -> Option<TokenUsage> {
        serde_json::from_value(self.members.get("tokenUsage")?.clone()).ok()
    }

    /// Returns the cost that the assistant reported.
    pub fn cost(&self) -> Option<Cost> {
        serde_json::from_value(self.members.get("cost")?.clone()).ok()
    }

    /// Returns the tokens by model that a terminal event reports.
    pub fn tokens_by_model(&self) -> Option<BTreeMap<String, ModelTokens>> {
        serde_json::from_value(self.members.get("tokensByModel")?.clone()).ok()
    }

    /// Returns the id of the assistant's session. Every real id is shorter than the limit.
    pub fn session_id(&self) -> Option<String> {
        self.text("sessionId").filter(|id| is_session_id(id)).map(str::to_owned)
    }

    /// Returns the results of a completion in the second schema.
    pub fn results(&self) -> Option<Vec<ResultEntry>> {
        serde_json::from_value(self.members.get("results")?.clone()).ok()
    }

    fn check(&self, code_host: Option<&str>) -> ApiResult<()> {
        let mut issues = ValidationIssues::default();
        let has = |name: &str, test: fn(&Value) -> bool| self.members.get(name).is_some_and(test);
        match self.kind.as_str() {
            "output" => issues.require(has("chunk", Value::is_string), "chunk", "must be a string"),
            "completed" => self.check_completed(&mut issues, code_host),
            "error" => {
                self.check_results(&mut issues, code_host);
                issues.require(has("code", Value::is_string), "code", "must be a string");
                issues.require(has("message", Value::is_string), "message", "must be a string");
            }
            "support_bundle_uploaded" => {
                let keys = self.members.get("keys").and_then(Value::as_array);
                let valid = keys
                    .is_some_and(|keys| (1..=2).contains(&keys.len()) && keys.iter().all(Value::is_string));
                issues.require(valid, "keys", "must be one or two strings");
            }
            MESSAGE_DELIVERY => {
                issues.require(has("messageId", Value::is_string), "messageId", "must be a string");
                issues.require(has("isDelivered", Value::is_boolean), "isDelivered", "must be a boolean");
            }
            "cancelled" if !has("timestamp", Value::is_string) => {
                return Err(bad_request("cancelled event requires a timestamp string"));
            }
            _ => {}
        }
        issues.into_result()
    }

    fn check_completed(&self, issues: &mut ValidationIssues, code_host: Option<&str>) {
        issues.require(
            self.members.get("result").is_some_and(Value::is_object),
            "result",
            "must be an object",
        );
        for name in ["input", "output"] {
            let number = self.members.get("tokensUsed").and_then(|tokens| tokens.get(name));
            let valid = number.is_some_and(Value::is_u64);
            issues.require(valid, &format!("tokensUsed.{name}"), "must be a non-negative integer");
        }
        self.check_results(issues, code_host);
    }

    fn check_results(&self, issues: &mut ValidationIssues, code_host: Option<&str>) {
        match self.members.get("results") {
            None | Some(Value::Null) => {}
            Some(Value::Array(entries)) => {
                for (index, entry) in entries.iter().enumerate() {
                    match serde_json::from_value::<ResultEntry>(entry.clone()) {
                        Ok(entry) => {
                            if let Err(error) = entry.validate(code_host) {
                                let path = format!("results.{index}.{}", error.member());
                                issues.push(path, error.to_string());
                            }
                        }
                        Err(error) => issues.push(format!("results.{index}"), error.to_string()),
                    }
                }
            }
            Some(_) => issues.push("results", "must be an array"),
        }
    }

    fn redact(&mut self) {
        if self.kind != "error" {
            return;
        }
        // Output of failed programs may contain credentials, for example in a remote URL.
        for name in ["message", "stderrTail"] {
            if let Some(Value::String(text)) = self.members.get_mut(name) {
                *text = redact::credentials(text);
            }
        }
        if let Some(Value::String(text)) = self.members.get_mut("logTail") {
            *text = redact::tail(text, LOG_TAIL_LIMIT, LOG_TAIL_LINES).unwrap_or_default();
        }
    }
}

/// Returns whether a text can be the id of an assistant's session, which is part of the loop's row.
pub fn is_session_id(text: &str) -> bool {
    (1..=SESSION_ID_LIMIT).contains(&text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn refusal(body: Value) -> String {
        RunnerEvent::parse(body, None).unwrap_err().body.error
    }

    #[test]
    fn both_schemas_are_normalized() {
        let flat = json!({"type": "output", "chunk": "hello", "timestamp": "2026-05-11T08:30:00.000Z"});
        let enveloped =
            json!({"type": "output", "data": {"chunk": "hello"}, "timestamp": "2026-05-11T08:30:00.000Z"});
        let (flat, enveloped) =
            (RunnerEvent::parse(flat, None).unwrap(), RunnerEvent::parse(enveloped, None).unwrap());
        assert_eq!(flat.members, enveloped.members);
    }

    // CP-31
    #[test]
    fn error_names_the_invalid_member() {
        assert_eq!(refusal(json!({"type": "output"})), "chunk: must be a string");
        assert_eq!(refusal(json!({"type": "cancelled"})), "cancelled event requires a timestamp string");
        assert_eq!(
            refusal(json!({"type": "token_refreshed"})),
            "type: Invalid event type \"token_refreshed\""
        );
        let entry = json!({"status": "success", "fullName": "acme/api", "prUrl": "https://github.com/evil/api/pull/1",
            "prNumber": 1, "branchName": "b", "baseBranch": "main", "hasChanges": true});
        let completed = json!({"type": "completed", "result": {}, "tokensUsed": {"input": 1, "output": 1}, "results": [entry]});
        assert_eq!(refusal(completed), "results.0.prUrl: prUrl does not match canonical format");
    }

    #[test]
    fn pull_requests_of_the_configured_code_host_are_accepted() {
        let of = |url: &str, code_host: Option<&str>| {
            let entry = json!({"status": "success", "fullName": "acme/api", "prUrl": url, "prNumber": 1,
                "branchName": "b", "baseBranch": "main", "hasChanges": true});
            let completed = json!({"type": "completed", "result": {}, "tokensUsed": {"input": 1, "output": 1}, "results": [entry]});
            RunnerEvent::parse(completed, code_host).is_ok()
        };
        let (enterprise, host) =
            ("https://git.example.com/acme/api/pull/1", Some("https://git.example.com/"));
        assert!(of(enterprise, host) && !of(enterprise, None));
        assert!(of("https://github.com/acme/api/pull/1", host), "runners normalize URLs to this form");
        for url in ["https://git.example.com/evil/api/pull/1", "https://git.example.com.evil/acme/api/pull/1"]
        {
            assert!(!of(url, host), "{url}");
        }
    }

    #[test]
    fn credentials_in_error_events_are_redacted() {
        let event = RunnerEvent::parse(
            json!({"type": "error", "code": "X", "message": "Bearer abcdef123456",
            "logTail": "x".repeat(9000)}),
            None,
        );
        let event = event.unwrap();
        assert_eq!(event.text("message"), Some("Bearer [REDACTED]"));
        assert!(event.text("logTail").unwrap().len() <= LOG_TAIL_LIMIT);
    }

    proptest! {
        #[test]
        fn parse_never_panics(text in ".*", number in any::<i64>()) {
            for body in [json!(text), json!({"type": text}), json!({"type": "completed", "data": number}),
                         json!({"type": "error", "code": text, "message": text, "logTail": text})] {
                // Only a panic fails the test: these bodies may be accepted or rejected.
                let _ = RunnerEvent::parse(body, None);
            }
        }
    }
}
