//! An event as a runner posts it, brought to its flat form and checked.

use loopgate_api::event::TokenUsage;
use loopgate_api::execution_result::ResultEntry;
use loopgate_api::redact;
use loopgate_api::spend::Cost;
use serde_json::{Map, Value};

use crate::error::{ApiResult, ValidationIssues, bad_request};

/// Bytes of `logTail` that are kept.
const LOG_TAIL_LIMIT: usize = 8192;
/// Lines are cut by bytes only.
const LOG_TAIL_LINES: usize = usize::MAX;

/// Types that a runner may post.
const TYPES: [&str; 9] = [
    "started",
    "output",
    "progress",
    "tool_call",
    "artifact_created",
    "support_bundle_uploaded",
    "completed",
    "error",
    "cancelled",
];

/// Types that a person may post for a loop that is run by hand.
const MANUAL_TYPES: [&str; 5] = ["output", "progress", "completed", "error", "cancelled"];

/// A valid event in flat form.
#[derive(Debug, Clone)]
pub struct RunnerEvent {
    /// Its type.
    pub kind: String,
    /// Every other member.
    pub members: Map<String, Value>,
}

impl RunnerEvent {
    /// Reads `{"type", "data": {…}}` or `{"type", …}`.
    pub fn parse(body: Value) -> ApiResult<Self> {
        Self::parse_one_of(&TYPES, body)
    }

    /// The same for a loop that a person runs by hand.
    pub fn parse_manual(body: Value) -> ApiResult<Self> {
        Self::parse_one_of(&MANUAL_TYPES, body)
    }

    fn parse_one_of(types: &[&str], body: Value) -> ApiResult<Self> {
        let Value::Object(mut members) = body else { return Err(bad_request("event must be an object")) };
        let kind = match members.remove("type") {
            Some(Value::String(kind)) if types.contains(&kind.as_str()) => kind,
            Some(Value::String(kind)) => {
                return Err(bad_request(format!("type: Invalid event type \"{kind}\"")));
            }
            _ => return Err(bad_request("type: must be a string")),
        };
        match members.remove("data") {
            Some(Value::Object(data)) => members.extend(data.into_iter().filter(|(name, _)| name != "type")),
            Some(other) => {
                members.insert("data".to_owned(), other);
            }
            None => {}
        }
        let mut event = Self { kind, members };
        event.check()?;
        if !event.members.get("timestamp").is_some_and(Value::is_string) {
            event.members.insert("timestamp".to_owned(), loopgate_api::time::now_iso().into());
        }
        event.clean();
        Ok(event)
    }

    /// Whether the event ends its loop.
    pub fn is_terminal(&self) -> bool {
        matches!(self.kind.as_str(), "completed" | "error" | "cancelled")
    }

    /// A member that is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name)?.as_str()
    }

    /// The tokens that an `output` or `error` event reports.
    pub fn token_usage(&self) -> Option<TokenUsage> {
        serde_json::from_value(self.members.get("tokenUsage")?.clone()).ok()
    }

    /// The money that the assistant reports.
    pub fn cost(&self) -> Option<Cost> {
        serde_json::from_value(self.members.get("cost")?.clone()).ok()
    }

    /// The results of a v2 completion.
    pub fn results(&self) -> Option<Vec<ResultEntry>> {
        serde_json::from_value(self.members.get("results")?.clone()).ok()
    }

    /// The event as it is stored: everything but its type.
    pub fn into_data(self) -> Value {
        Value::Object(self.members)
    }

    fn check(&self) -> ApiResult<()> {
        let mut issues = ValidationIssues::default();
        let is = |name: &str, test: fn(&Value) -> bool| self.members.get(name).is_some_and(test);
        match self.kind.as_str() {
            "output" => issues.require(is("chunk", Value::is_string), "chunk", "must be a string"),
            "completed" => self.check_completed(&mut issues),
            "error" => {
                self.check_results(&mut issues);
                issues.require(is("code", Value::is_string), "code", "must be a string");
                issues.require(is("message", Value::is_string), "message", "must be a string");
            }
            "support_bundle_uploaded" => {
                let keys = self.members.get("keys").and_then(Value::as_array);
                let valid = keys
                    .is_some_and(|keys| (1..=2).contains(&keys.len()) && keys.iter().all(Value::is_string));
                issues.require(valid, "keys", "must be one or two strings");
            }
            "cancelled" if !is("timestamp", Value::is_string) => {
                return Err(bad_request("cancelled event requires a timestamp string"));
            }
            _ => {}
        }
        issues.into_result()
    }

    fn check_completed(&self, issues: &mut ValidationIssues) {
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
        self.check_results(issues);
    }

    fn check_results(&self, issues: &mut ValidationIssues) {
        match self.members.get("results") {
            None | Some(Value::Null) => {}
            Some(Value::Array(entries)) => {
                for (index, entry) in entries.iter().enumerate() {
                    match serde_json::from_value::<ResultEntry>(entry.clone()) {
                        Ok(entry) => {
                            if let Err(error) = entry.validate() {
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

    fn clean(&mut self) {
        if self.kind != "error" {
            return;
        }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn refusal(body: Value) -> String {
        RunnerEvent::parse(body).unwrap_err().body.error
    }

    #[test]
    fn both_schemas_are_normalized() {
        let flat = json!({"type": "output", "chunk": "hello", "timestamp": "2026-05-11T08:30:00.000Z"});
        let enveloped =
            json!({"type": "output", "data": {"chunk": "hello"}, "timestamp": "2026-05-11T08:30:00.000Z"});
        let (flat, enveloped) = (RunnerEvent::parse(flat).unwrap(), RunnerEvent::parse(enveloped).unwrap());
        assert_eq!(flat.members, enveloped.members);
    }

    // CP-31
    #[test]
    fn invalid_member_is_named() {
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
    fn failure_carries_no_secret() {
        let event =
            RunnerEvent::parse(json!({"type": "error", "code": "X", "message": "Bearer abcdef123456",
            "logTail": "x".repeat(9000)}));
        let event = event.unwrap();
        assert_eq!(event.text("message"), Some("Bearer [REDACTED]"));
        assert!(event.text("logTail").unwrap().len() <= LOG_TAIL_LIMIT);
    }

    proptest! {
        #[test]
        fn no_body_breaks_the_reader(text in ".*", number in any::<i64>()) {
            for body in [json!(text), json!({"type": text}), json!({"type": "completed", "data": number}),
                         json!({"type": "error", "code": text, "message": text, "logTail": text})] {
                let _ = RunnerEvent::parse(body);
            }
        }
    }
}
