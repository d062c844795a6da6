//! The JSON Schema of every frame, for clients in other languages.

use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::frame::MAX_ID_CHARS;
use super::{
    Analytics, Cancel, CommandAck, CommandEvent, CommandEventAck, Envelope, Hello, HelloAck, HelloNack,
    LinkCommand, Presence, ReportAck, Telemetry, TelemetryRejected, event,
};

/// How the schemas of the OpenAPI documents refer to each other.
const OPENAPI_REFERENCE: &str = "#/components/schemas/";
/// How JSON Schema does.
const REFERENCE: &str = "#/$defs/";

/// The frames that a desktop and a control plane send, as JSON Schema 2020-12. Receivers take more than it
/// says: they ignore what they do not know, and an optional member of a wrong type.
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

/// Schemas by the names of their types.
#[derive(Default)]
struct Definitions(Map<String, Value>);

impl Definitions {
    /// Defines a type and those that it consists of; the reference to it.
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

/// Makes every reference one into this document.
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
