//! Writes one answer in the words of either model API: as server-sent events or as one object.
//!
//! Pure: steps in, bytes or JSON out. When to pause or to break off is for the server.

use serde_json::{Value, json};
use uuid::Uuid;

use super::request::Api;
use super::script::{Failure, Usage};

/// Characters of a text or of a tool's arguments in one streamed piece.
const PIECE_CHARS: usize = 24;

/// Writes the events of one answer, and remembers what the closing event must repeat.
pub(super) struct EventWriter {
    api: Api,
    model: String,
    id: String,
    blocks: usize,
    called_a_tool: bool,
    pub(super) usage: Usage,
}

impl EventWriter {
    pub(super) fn new(api: Api, model: &str) -> Self {
        let id = format!("{}_{}", if api == Api::Messages { "msg" } else { "resp" }, Uuid::now_v7().simple());
        Self { api, model: model.to_owned(), id, blocks: 0, called_a_tool: false, usage: Usage::default() }
    }

    pub(super) fn start(&self) -> String {
        match self.api {
            Api::Messages => event(
                "message_start",
                json!({"message": {"id": self.id, "type": "message", "role": "assistant",
                    "model": self.model, "content": [], "stop_reason": null, "stop_sequence": null,
                    "usage": self.messages_usage(1)}}),
            ),
            Api::Responses => event("response.created", json!({"response": {"id": self.id}})),
        }
    }

    /// The events of a text, in pieces between which the server may pause.
    pub(super) fn text(&mut self, text: &str) -> Vec<String> {
        let index = self.next_block();
        let mut events = Vec::new();
        match self.api {
            Api::Messages => {
                let block = json!({"type": "text", "text": ""});
                events.push(event("content_block_start", json!({"index": index, "content_block": block})));
                for piece in pieces(text) {
                    let delta = json!({"type": "text_delta", "text": piece});
                    events.push(event("content_block_delta", json!({"index": index, "delta": delta})));
                }
                events.push(event("content_block_stop", json!({"index": index})));
            }
            Api::Responses => {
                let id = format!("{}_{index}", self.id);
                let item = |content: Value| json!({"type": "message", "role": "assistant", "id": id, "content": content});
                let at = |name: &str, member: &str, value: Value| {
                    let mut data = json!({"output_index": index, "item_id": id, "content_index": 0});
                    data[member] = value;
                    event(name, data)
                };
                events.push(at("response.output_item.added", "item", item(json!([]))));
                for piece in pieces(text) {
                    events.push(at("response.output_text.delta", "delta", json!(piece)));
                }
                let whole = item(json!([{"type": "output_text", "text": text, "annotations": []}]));
                events.push(at("response.output_item.done", "item", whole));
            }
        }
        events
    }

    pub(super) fn tool(&mut self, name: &str, input: &Value) -> Vec<String> {
        let index = self.next_block();
        self.called_a_tool = true;
        let call = format!("toolu_{}", Uuid::now_v7().simple());
        match self.api {
            Api::Messages => {
                let block = json!({"type": "tool_use", "id": call, "name": name, "input": {}});
                let mut events =
                    vec![event("content_block_start", json!({"index": index, "content_block": block}))];
                for piece in pieces(&input.to_string()) {
                    let delta = json!({"type": "input_json_delta", "partial_json": piece});
                    events.push(event("content_block_delta", json!({"index": index, "delta": delta})));
                }
                events.push(event("content_block_stop", json!({"index": index})));
                events
            }
            Api::Responses => {
                let item = json!({"type": "function_call", "id": format!("fc_{call}"), "call_id": call,
                                  "name": name, "arguments": input.to_string()});
                vec![event("response.output_item.done", json!({"output_index": index, "item": item}))]
            }
        }
    }

    pub(super) fn end(&self) -> Vec<String> {
        match self.api {
            Api::Messages => vec![
                event(
                    "message_delta",
                    json!({"delta": {"stop_reason": self.stop_reason(), "stop_sequence": null},
                           "usage": self.messages_usage(self.usage.output)}),
                ),
                event("message_stop", json!({})),
            ],
            Api::Responses => vec![event(
                "response.completed",
                json!({"response": {"id": self.id, "usage": {
                    "input_tokens": self.usage.input + self.usage.cache_read,
                    "input_tokens_details": {"cached_tokens": self.usage.cache_read},
                    "output_tokens": self.usage.output, "output_tokens_details": null,
                    "total_tokens": self.usage.input + self.usage.cache_read + self.usage.output}}}),
            )],
        }
    }

    /// An error after the headers were sent.
    pub(super) fn failure(&self, failure: &Failure) -> String {
        match self.api {
            Api::Messages => event("error", json!({"error": error_body(self.api, failure)["error"]})),
            Api::Responses => event(
                "response.failed",
                json!({"response": {"id": self.id,
                    "error": {"code": failure.kind, "message": failure.message}}}),
            ),
        }
    }

    /// The whole answer as one object of the Messages API.
    pub(super) fn whole(&self, content: Vec<Value>) -> Value {
        json!({"id": self.id, "type": "message", "role": "assistant", "model": self.model,
               "content": content, "stop_reason": self.stop_reason(), "stop_sequence": null,
               "usage": self.messages_usage(self.usage.output)})
    }

    pub(super) fn note_tool(&mut self) -> String {
        self.called_a_tool = true;
        format!("toolu_{}", Uuid::now_v7().simple())
    }

    const fn stop_reason(&self) -> &'static str {
        if self.called_a_tool { "tool_use" } else { "end_turn" }
    }

    const fn next_block(&mut self) -> usize {
        self.blocks += 1;
        self.blocks - 1
    }

    fn messages_usage(&self, output: u64) -> Value {
        json!({"input_tokens": self.usage.input, "output_tokens": output,
               "cache_read_input_tokens": self.usage.cache_read,
               "cache_creation_input_tokens": self.usage.cache_write})
    }
}

/// The body of an error that is answered with an HTTP status.
pub(super) fn error_body(api: Api, failure: &Failure) -> Value {
    let error = json!({"type": failure.kind, "message": failure.message});
    match api {
        Api::Messages => json!({"type": "error", "error": error}),
        Api::Responses => json!({"error": {"type": failure.kind, "code": failure.kind,
                                           "message": failure.message, "param": null}}),
    }
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = json!(name);
    format!("event: {name}\ndata: {data}\n\n")
}

fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(PIECE_CHARS).map(|chunk| chunk.iter().collect()).collect()
}
