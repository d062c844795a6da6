//! JSON Schema of all frames, for clients in other languages.

use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::frame::MAX_ID_CHARS;
use super::{
    Analytics, Cancel, CommandAck, CommandEvent, CommandEventAck, Envelope, Hello, HelloAck, HelloNack,
    LinkCommand, Presence, ReportAck, Telemetry, TelemetryRejected, event,
};

/// Prefix of schema references in OpenAPI documents, as utoipa generates them.
const OPENAPI_REFERENCE: &str = "#/components/schemas/";
/// Prefix of references to `$defs` in JSON Schema.
const REFERENCE: &str = "#/$defs/";

/// Returns the JSON Schema (2020-12) of all frames that a desktop and a control plane send.
///
/// Receivers are more lenient: they ignore unknown members and optional members of the wrong type.
#[must_use]
pub fn json_schema() -> Value {
    let mut definitions = Definitions::default();
    let envelope = definitions.reference::<Envelope>();
    let payloads = [
        (event::HELLO, definitions.reference::<Hello>()),
        (event::HELLO_ACK, definitions.reference::<HelloAck>()),
        (event::HELLO_NACK, definitions.reference::<HelloNack>()),
        (event::COMMAND, definitions.reference::<LinkCommand>()),
        (event::COMMAND_ACK, definitions.reference::<CommandAck>()),
        (event::COMMAND_EVENT, definitions.reference::<CommandEvent>()),
        (event::COMMAND_EVENT_ACK, definitions.reference::<CommandEventAck>()),
        (event::CANCEL, definitions.reference::<Cancel>()),
        (event::PRESENCE, definitions.reference::<Presence>()),
        (event::TELEMETRY, definitions.reference::<Telemetry>()),
        (event::TELEMETRY_VALIDATION_FAILED, definitions.reference::<TelemetryRejected>()),
        (event::ANALYTICS, definitions.reference::<Analytics>()),
    ];
    let id = json!({"type": "string", "minLength": 1, "maxLength": MAX_ID_CHARS});
    let event_frame = |(name, payload): (&str, Value)| {
        json!({
            "title": name,
            "type": "object",
            "required": ["event", "data"],
            // The schema `false` matches nothing: an event has no `ack`.
            "properties": {"event": {"const": name}, "id": id, "ack": false, "data": {"allOf": [envelope, payload]}},
        })
    };
    let mut frames: Vec<Value> = payloads.into_iter().map(event_frame).collect();
    frames.push(json!({
        "title": "acknowledgement of a frame with an id",
        "type": "object",
        "required": ["event", "ack", "data"],
        "properties": {"event": {"type": "string"}, "ack": id, "data": definitions.reference::<ReportAck>()},
    }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Frame between a desktop and the control plane",
        "oneOf": frames,
        "$defs": definitions.0,
    })
}

/// Schemas by type name.
#[derive(Default)]
struct Definitions(Map<String, Value>);

impl Definitions {
    /// Adds a type and the types it consists of; returns a reference to it.
    fn reference<T: ToSchema>(&mut self) -> Value {
        let mut schemas = Vec::new();
        T::schemas(&mut schemas);
        schemas.push((T::name().into_owned(), T::schema()));
        for (name, schema) in schemas {
            let mut schema = serde_json::to_value(schema).unwrap_or_default();
            localize(&mut schema);
            self.0.insert(name, schema);
        }
        json!({"$ref": format!("{REFERENCE}{}", T::name())})
    }
}

/// Rewrites all OpenAPI references to references into `$defs`.
fn localize(schema: &mut Value) {
    match schema {
        Value::String(text) => {
            if let Some(name) = text.strip_prefix(OPENAPI_REFERENCE) {
                *text = format!("{REFERENCE}{name}");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(localize),
        Value::Object(members) => members.values_mut().for_each(localize),
        _ => {}
    }
}
