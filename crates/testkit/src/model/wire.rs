//! Serializes a response for either model API, as server-sent events or as one object.
//!
//! Pure functions without I/O: timing and aborts are up to the server.

use serde_json::{Value, json};
use uuid::Uuid;

use super::request::Api;
use super::script::{Failure, ModelUsage};

/// Characters per streamed piece. Small, so that programs receive texts and arguments in fragments as from a
/// real model.
const PIECE_CHARS: usize = 24;

/// Builds the events of one response, and collects what the final event repeats.
pub(super) struct EventWriter {
    api: Api,
    model: String,
    id: String,
    blocks: usize,
    has_tool_call: bool,
    pub(super) usage: ModelUsage,
}

impl EventWriter {
    pub(super) fn new(api: Api, model: &str) -> Self {
        let id = format!("{}_{}", if api == Api::Messages { "msg" } else { "resp" }, Uuid::now_v7().simple());
        Self {
            api,
            model: model.to_owned(),
            id,
            blocks: 0,
            has_tool_call: false,
            usage: ModelUsage::default(),
        }
    }

    pub(super) fn start(&self) -> String {
        match self.api {
            Api::Messages => event(
                "message_start",
                json!({"message": {"id": self.id, "type": "message", "role": "assistant",
                    "model": self.model, "content": [], "stop_reason": null, "stop_sequence": null,
                    // As in the real API, the first event reports one output token; the last one reports the
                    // total.
                    "usage": self.messages_usage(1)}}),
            ),
            Api::Responses => event("response.created", json!({"response": {"id": self.id}})),
        }
    }

    /// Returns the events of a text, in pieces that can be delayed individually.
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
                let content_event = |name: &str, member: &str, value: Value| {
                    let mut data = json!({"output_index": index, "item_id": id, "content_index": 0});
                    data[member] = value;
                    event(name, data)
                };
                events.push(content_event("response.output_item.added", "item", item(json!([]))));
                for piece in pieces(text) {
                    events.push(content_event("response.output_text.delta", "delta", json!(piece)));
                }
                let whole = item(json!([{"type": "output_text", "text": text, "annotations": []}]));
                events.push(content_event("response.output_item.done", "item", whole));
            }
        }
        events
    }

    pub(super) fn tool(&mut self, name: &str, input: &Value) -> Vec<String> {
        let index = self.next_block();
        self.has_tool_call = true;
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
                // The reviewer evaluates complete function calls only, so no deltas are sent.
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

    /// Returns the event for an error after the response headers.
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

    /// Returns the response as one object of the Messages API.
    pub(super) fn whole(&self, content: Vec<Value>) -> Value {
        json!({"id": self.id, "type": "message", "role": "assistant", "model": self.model,
               "content": content, "stop_reason": self.stop_reason(), "stop_sequence": null,
               "usage": self.messages_usage(self.usage.output)})
    }

    pub(super) fn add_tool_call(&mut self) -> String {
        self.has_tool_call = true;
        format!("toolu_{}", Uuid::now_v7().simple())
    }

    const fn stop_reason(&self) -> &'static str {
        if self.has_tool_call { "tool_use" } else { "end_turn" }
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

/// Returns the JSON body of an error with an HTTP status.
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
