//! Reads a request of either model API into one view: texts, results of tools, turns so far.
//!
//! Owns the rule that finds the conversation and the turn from the request alone. Knows nothing
//! of how answers are written.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

use super::script::{Conversation, Script};

/// Which API a request came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// The assistant's.
    Messages,
    /// The reviewer's.
    Responses,
}

/// A recorded request, with what the script made of it.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// Which API it came by.
    pub api: Api,
    /// The whole body.
    pub body: Value,
    /// Name of the conversation that answered; `None` for side requests.
    pub conversation: Option<String>,
    /// Index of the turn that answered.
    pub turn: usize,
    /// Names and texts that `{{name}}` stands for.
    pub captures: BTreeMap<String, String>,
    view: RequestView,
}

/// One message, whichever API it came by.
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
        let mut request = Self { api, body, conversation: None, turn: 0, captures: BTreeMap::new(), view };
        let found = request.find(script);
        (request, found)
    }

    /// The model that the program asked for.
    #[must_use]
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or("scripted")
    }

    /// The request as the program sent it.
    #[must_use]
    pub const fn body(&self) -> &Value {
        &self.body
    }

    /// The system text.
    #[must_use]
    pub fn system(&self) -> &str {
        &self.view.system
    }

    /// Texts of the user's messages, in order.
    #[must_use]
    pub fn user_text(&self) -> String {
        joined(self.view.messages.iter().filter(|m| !m.assistant).map(|m| m.text.as_str()))
    }

    /// What the tools answered so far.
    #[must_use]
    pub fn tool_results(&self) -> String {
        joined(self.view.messages.iter().map(|m| m.results.as_str()))
    }

    /// Names of the tools that the program offers.
    #[must_use]
    pub fn tools(&self) -> &[String] {
        &self.view.tools
    }

    fn find(&mut self, script: &Script) -> Option<usize> {
        let results = self.tool_results();
        let texts = format!("{}\n{}", self.view.system, self.user_text());
        let index = script.conversations.iter().position(|conversation| {
            (conversation.toolless || !self.view.tools.is_empty())
                && all_found(&conversation.when, &texts)
                && all_found(&conversation.when_results, &results)
        })?;
        let conversation = &script.conversations[index];
        self.conversation = Some(conversation.name.clone());
        self.turn = self.view.turns_after(self.view.prompt_of(conversation));
        self.captures = captures(conversation, &texts, &results);
        if let Some(cwd) = working_directory(&texts) {
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

    /// Index of the last message that asks what the conversation answers: a resumed session holds
    /// earlier prompts and their answers, which do not count as turns of this one.
    fn prompt_of(&self, conversation: &Conversation) -> usize {
        let asks = |message: &ModelMessage| {
            !message.assistant && conversation.when.iter().any(|p| found(p, &message.text))
        };
        self.messages.iter().rposition(asks).unwrap_or(0)
    }

    /// Runs of assistant messages after `start`: each is one answer.
    fn turns_after(&self, start: usize) -> usize {
        let rest = self.messages.get(start..).unwrap_or_default();
        let mut turns = 0;
        let mut in_answer = false;
        for message in rest {
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
        "function_call_output" | "custom_tool_call_output" => ModelMessage {
            results: item["output"].as_str().map_or_else(|| block_text(&item["output"]), str::to_owned),
            ..ModelMessage::default()
        },
        _ => ModelMessage { assistant: true, ..ModelMessage::default() },
    }
}

/// The text of a string, or of the text blocks in a list.
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

fn found(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).is_ok_and(|regex| regex.is_match(text))
}

fn all_found(patterns: &[String], text: &str) -> bool {
    patterns.iter().all(|pattern| found(pattern, text))
}

/// Named groups; of several matches the last one counts, since the newest prompt comes last.
fn captures(conversation: &Conversation, texts: &str, results: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let sources = conversation.when.iter().chain(&conversation.captures).map(|p| (p, texts));
    for (pattern, text) in sources.chain(conversation.when_results.iter().map(|p| (p, results))) {
        let Ok(regex) = Regex::new(pattern) else { continue };
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

/// Both programs tell the model where they work, in slightly different words.
fn working_directory(texts: &str) -> Option<String> {
    let regex = Regex::new(r"(?:[Ww]orking directory: |<cwd>)(?P<cwd>/[^\n<]*)").ok()?;
    Some(regex.captures(texts)?.name("cwd")?.as_str().trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask(messages: Value, script: &Script) -> ModelRequest {
        let body = json!({"model": "m", "tools": [{"name": "Bash"}], "system": "Working directory: /w/t\nx",
                          "messages": messages});
        ModelRequest::read(Api::Messages, body, script).0
    }

    #[test]
    fn turn_is_counted_from_the_prompt_it_answers() {
        let script = Script::new([Conversation::when("plan", r#"plan "(?P<dir>[^"]+)""#)]);
        let first = json!([{"role": "user", "content": "plan \"/a\""}]);
        assert_eq!(ask(first, &script).turn, 0);
        let second = json!([
            {"role": "user", "content": "plan \"/a\""},
            {"role": "assistant", "content": [{"type": "text", "text": "x"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash"}]},
            {"role": "user", "content": [{"type": "tool_result", "content": "out"}]}]);
        let request = ask(second.clone(), &script);
        assert_eq!((request.turn, request.tool_results().as_str()), (1, "out"));
        let mut resumed = second;
        resumed.as_array_mut().unwrap().extend([
            json!({"role": "assistant", "content": "done"}),
            json!({"role": "user", "content": [{"type": "text", "text": "plan \"/b\""}]}),
        ]);
        let request = ask(resumed, &script);
        assert_eq!((request.turn, request.captures["dir"].as_str()), (0, "/b"));
        assert_eq!(request.captures["cwd"], "/w/t");
    }

    #[test]
    fn side_requests_and_other_prompts_match_nothing() {
        let script = Script::new([Conversation::when("plan", "plan")]);
        let body = json!({"system": "Make a title", "messages": [{"role": "user", "content": "plan it"}]});
        assert_eq!(ModelRequest::read(Api::Messages, body, &script).0.conversation, None);
        assert_eq!(ask(json!([{"role": "user", "content": "other"}]), &script).conversation, None);
    }

    #[test]
    fn result_can_choose_the_conversation() {
        let script = Script::new([
            Conversation::when("execute", "go").after_result("COMMAND=EXECUTE"),
            Conversation::when("ask", "go"),
        ]);
        let messages = json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash"}]},
            {"role": "user", "content": [{"type": "tool_result",
                "content": [{"type": "text", "text": "COMMAND=EXECUTE"}]}]}]);
        assert_eq!(ask(messages, &script).conversation.as_deref(), Some("execute"));
    }

    #[test]
    fn reviewers_items_are_read_alike() {
        let script = Script::new([Conversation::when("review", "look")]);
        let body = json!({"instructions": "i", "tools": [{"type": "function", "name": "shell"}], "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}]},
            {"type": "reasoning"}, {"type": "function_call", "name": "shell"},
            {"type": "function_call_output", "output": "listing"}]});
        let request = ModelRequest::read(Api::Responses, body, &script).0;
        assert_eq!((request.turn, request.tool_results().as_str()), (1, "listing"));
    }
}
