//! Parses a request of either model API into messages, tool results and the number of turns so far.
//!
//! Conversation and turn are determined from the request alone, so that retries and restarted programs get
//! the same response. Responses are written by [`super::wire`].

use std::collections::BTreeMap;
use std::time::SystemTime;

use regex::Regex;
use serde_json::Value;

use super::script::{Conversation, Script};

/// Model API by which a request arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// The Messages API, which the assistant uses.
    Messages,
    /// The Responses API, which the reviewer uses.
    Responses,
}

/// A recorded request, with the conversation and turn that answered it.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    pub api: Api,
    pub body: Value,
    /// Name of the conversation that answered; `None` for side requests.
    pub conversation: Option<String>,
    pub turn: usize,
    /// Values of the script's `{{name}}` placeholders.
    pub captures: BTreeMap<String, String>,
    /// Time at which the request was read; its response begins at once.
    pub received_at: SystemTime,
    view: RequestView,
}

/// A message in a form common to both APIs.
#[derive(Debug, Clone, Default)]
struct ModelMessage {
    assistant: bool,
    text: String,
    results: String,
}

#[derive(Debug, Clone, Default)]
struct RequestView {
    system: String,
    messages: Vec<ModelMessage>,
    tools: Vec<String>,
}

impl ModelRequest {
    pub(super) fn read(api: Api, body: Value, script: &Script) -> (Self, Option<usize>) {
        let view = match api {
            Api::Messages => RequestView::of_messages(&body),
            Api::Responses => RequestView::of_responses(&body),
        };
        let mut request = Self {
            api,
            body,
            conversation: None,
            turn: 0,
            captures: BTreeMap::new(),
            received_at: SystemTime::now(),
            view,
        };
        let conversation = request.find(script);
        (request, conversation)
    }

    /// Returns the name of the requested model.
    #[must_use]
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or("scripted")
    }

    #[must_use]
    pub const fn body(&self) -> &Value {
        &self.body
    }

    #[must_use]
    pub fn system(&self) -> &str {
        &self.view.system
    }

    /// Returns the text of the user's messages, joined by newlines.
    #[must_use]
    pub fn user_text(&self) -> String {
        joined(self.view.messages.iter().filter(|m| !m.assistant).map(|m| m.text.as_str()))
    }

    /// Returns the output of all tools so far, joined by newlines.
    #[must_use]
    pub fn tool_results(&self) -> String {
        joined(self.view.messages.iter().map(|m| m.results.as_str()))
    }

    /// Returns the names of the offered tools.
    #[must_use]
    pub fn tools(&self) -> &[String] {
        &self.view.tools
    }

    fn find(&mut self, script: &Script) -> Option<usize> {
        let results = self.tool_results();
        let texts = format!("{}\n{}", self.view.system, self.user_text());
        let index = script.conversations.iter().position(|conversation| {
            // Side requests, such as for a title, offer no tools but contain the prompt's text.
            (conversation.toolless || !self.view.tools.is_empty())
                && all_match(&conversation.when, &texts)
                && all_match(&conversation.when_results, &results)
        })?;
        let conversation = &script.conversations[index];
        self.conversation = Some(conversation.name.clone());
        self.turn = self.view.turns_after(self.view.prompt_of(conversation));
        self.captures = captures(conversation, &texts, &results);
        if let Some(cwd) = working_directory(&texts) {
            // A group named `cwd` in the script takes precedence.
            self.captures.entry("cwd".to_owned()).or_insert(cwd);
        }
        Some(index)
    }
}

impl RequestView {
    fn of_messages(body: &Value) -> Self {
        let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        Self {
            system: block_text(&body["system"]),
            messages: messages
                .iter()
                .map(|message| ModelMessage {
                    assistant: message["role"] == "assistant",
                    text: block_text(&message["content"]),
                    results: tool_results(&message["content"]),
                })
                .collect(),
            tools: names_of(&body["tools"]),
        }
    }

    fn of_responses(body: &Value) -> Self {
        let items = body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
        Self {
            system: body["instructions"].as_str().unwrap_or_default().to_owned(),
            messages: items.iter().map(of_item).collect(),
            tools: names_of(&body["tools"]),
        }
    }

    /// Returns the index of the last message that matches the conversation. A resumed session also contains
    /// earlier prompts and their answers, which do not count as turns of this conversation.
    fn prompt_of(&self, conversation: &Conversation) -> usize {
        let is_prompt = |message: &ModelMessage| {
            !message.assistant && conversation.when.iter().any(|p| is_match(p, &message.text))
        };
        self.messages.iter().rposition(is_prompt).unwrap_or(0)
    }

    /// Counts the runs of consecutive assistant messages after `start`: each run is one response.
    fn turns_after(&self, start: usize) -> usize {
        let messages = self.messages.get(start..).unwrap_or_default();
        let mut turns = 0;
        let mut in_answer = false;
        for message in messages {
            // One response can arrive as several messages, for example text and tool calls.
            if message.assistant && !in_answer {
                turns += 1;
            }
            in_answer = message.assistant;
        }
        turns
    }
}

fn of_item(item: &Value) -> ModelMessage {
    match item["type"].as_str().unwrap_or("message") {
        "message" => ModelMessage {
            assistant: item["role"] == "assistant",
            text: block_text(&item["content"]),
            results: String::new(),
        },
        // Tool output is a string or an array of blocks, depending on the tool.
        "function_call_output" | "custom_tool_call_output" => ModelMessage {
            results: item["output"].as_str().map_or_else(|| block_text(&item["output"]), str::to_owned),
            ..ModelMessage::default()
        },
        // Reasoning and function calls are output of the model.
        _ => ModelMessage { assistant: true, ..ModelMessage::default() },
    }
}

/// Returns the text of a string or of the text blocks in an array.
fn block_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => joined(blocks.iter().filter_map(|block| block["text"].as_str())),
        _ => String::new(),
    }
}

fn tool_results(content: &Value) -> String {
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<String> = blocks
        .iter()
        .filter(|block| block["type"] == "tool_result")
        .map(|block| block_text(&block["content"]))
        .collect();
    texts.join("\n")
}

fn names_of(tools: &Value) -> Vec<String> {
    let tools = tools.as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().filter_map(|t| t["name"].as_str().or(t["type"].as_str())).map(str::to_owned).collect()
}

fn joined<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn is_match(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).is_ok_and(|regex| regex.is_match(text))
}

fn all_match(patterns: &[String], text: &str) -> bool {
    patterns.iter().all(|pattern| is_match(pattern, text))
}

/// Returns the named groups of all patterns. The last match wins, since the newest prompt comes last.
fn captures(conversation: &Conversation, texts: &str, results: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let sources = conversation.when.iter().chain(&conversation.captures).map(|p| (p, texts));
    for (pattern, text) in sources.chain(conversation.when_results.iter().map(|p| (p, results))) {
        let Ok(regex) = Regex::new(pattern) else { continue };
        // Placeholders without a match are replaced by the empty string.
        for name in regex.capture_names().flatten() {
            all.entry(name.to_owned()).or_default();
        }
        for groups in regex.captures_iter(text) {
            for name in regex.capture_names().flatten() {
                if let Some(group) = groups.name(name) {
                    all.insert(name.to_owned(), group.as_str().to_owned());
                }
            }
        }
    }
    all
}

/// Extracts the working directory. The two programs state it in different formats.
fn working_directory(texts: &str) -> Option<String> {
    let regex = Regex::new(r"(?:[Ww]orking directory: |<cwd>)(?P<cwd>/[^\n<]*)").ok()?;
    Some(regex.captures(texts)?.name("cwd")?.as_str().trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_request(messages: Value, script: &Script) -> ModelRequest {
        let body = json!({"model": "m", "tools": [{"name": "Bash"}], "system": "Working directory: /w/t\nx",
                          "messages": messages});
        ModelRequest::read(Api::Messages, body, script).0
    }

    #[test]
    fn turns_are_counted_from_the_last_matching_prompt() {
        let script = Script::new([Conversation::when("plan", r#"plan "(?P<dir>[^"]+)""#)]);
        let first = json!([{"role": "user", "content": "plan \"/a\""}]);
        assert_eq!(read_request(first, &script).turn, 0);
        let second = json!([
            {"role": "user", "content": "plan \"/a\""},
            {"role": "assistant", "content": [{"type": "text", "text": "x"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash"}]},
            {"role": "user", "content": [{"type": "tool_result", "content": "out"}]}]);
        let request = read_request(second.clone(), &script);
        assert_eq!((request.turn, request.tool_results().as_str()), (1, "out"));
        let mut resumed = second;
        resumed.as_array_mut().unwrap().extend([
            json!({"role": "assistant", "content": "done"}),
            json!({"role": "user", "content": [{"type": "text", "text": "plan \"/b\""}]}),
        ]);
        let request = read_request(resumed, &script);
        assert_eq!((request.turn, request.captures["dir"].as_str()), (0, "/b"));
        assert_eq!(request.captures["cwd"], "/w/t");
    }

    #[test]
    fn side_requests_and_other_prompts_match_no_conversation() {
        let script = Script::new([Conversation::when("plan", "plan")]);
        let body = json!({"system": "Make a title", "messages": [{"role": "user", "content": "plan it"}]});
        assert_eq!(ModelRequest::read(Api::Messages, body, &script).0.conversation, None);
        assert_eq!(read_request(json!([{"role": "user", "content": "other"}]), &script).conversation, None);
    }

    #[test]
    fn tool_result_can_select_the_conversation() {
        let script = Script::new([
            Conversation::when("execute", "start").after_result("COMMAND=EXECUTE"),
            Conversation::when("chat", "start"),
        ]);
        let messages = json!([
            {"role": "user", "content": "start"},
            {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash"}]},
            {"role": "user", "content": [{"type": "tool_result",
                "content": [{"type": "text", "text": "COMMAND=EXECUTE"}]}]}]);
        assert_eq!(read_request(messages, &script).conversation.as_deref(), Some("execute"));
    }

    #[test]
    fn items_of_the_responses_api_are_parsed() {
        let script = Script::new([Conversation::when("review", "look")]);
        let body = json!({"instructions": "i", "tools": [{"type": "function", "name": "shell"}], "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}]},
            {"type": "reasoning"}, {"type": "function_call", "name": "shell"},
            {"type": "function_call_output", "output": "listing"}]});
        let request = ModelRequest::read(Api::Responses, body, &script).0;
        assert_eq!((request.turn, request.tool_results().as_str()), (1, "listing"));
    }
}
