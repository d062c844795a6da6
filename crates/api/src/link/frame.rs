//! Frames, `{"event", "id"?, "ack"?, "data"}`, and the envelope in `data`.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;
use utoipa::ToSchema;
use uuid::Uuid;

/// Maximum length of a frame's `id` in characters.
pub(super) const MAX_ID_CHARS: usize = 64;

/// Error for a text that is not a JSON object with a string member `event`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not a frame")]
pub struct InvalidFrame;

/// Members of `data` that all events have, in addition to their payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// Version of the envelope, `"1"`; receivers do not check it.
    pub protocol_version: String,
    /// Random UUID of the message.
    pub message_id: Uuid,
    /// Time of sending by the sender's clock, ISO 8601.
    pub timestamp: String,
}

impl Envelope {
    /// Creates an envelope with a new id and the current time.
    #[must_use]
    pub fn now() -> Self {
        Self {
            protocol_version: "1".to_owned(),
            message_id: Uuid::new_v4(),
            timestamp: crate::time::now_iso(),
        }
    }
}

/// One message on the link.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Frame {
    /// Name of the event, for example `desktop.hello`.
    pub event: String,
    /// Requests an acknowledgement that repeats this id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `id` of the frame that this one acknowledges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<String>,
    /// Payload; an object in all frames that we send.
    pub data: Value,
}

impl Frame {
    /// Creates an event: the envelope's members, overridden and extended by the payload's.
    pub fn event(name: &str, payload: &impl Serialize) -> Self {
        let mut data = object(&Envelope::now());
        // A payload with a `timestamp`, such as telemetry, thereby states when the event occurred instead of
        // when it was sent.
        data.extend(object(payload));
        Self { event: name.to_owned(), id: None, ack: None, data: Value::Object(data) }
    }

    /// Requests an acknowledgement with this id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Creates the acknowledgement of a frame; it has no envelope.
    pub fn acknowledging(name: &str, id: &str, result: &impl Serialize) -> Self {
        Self {
            event: name.to_owned(),
            id: None,
            ack: Some(id.to_owned()),
            data: Value::Object(object(result)),
        }
    }

    /// Parses a text frame. An `id` or `ack` that is not a string of 1 to 64 characters counts as absent.
    ///
    /// # Errors
    /// Fails with [`InvalidFrame`] unless the text is a JSON object with a string member `event`.
    pub fn parse(text: &str) -> Result<Self, InvalidFrame> {
        let Ok(Value::Object(mut members)) = serde_json::from_str(text) else { return Err(InvalidFrame) };
        let Some(Value::String(event)) = members.remove("event") else { return Err(InvalidFrame) };
        let id = members.remove("id").and_then(short_text);
        let ack = members.remove("ack").and_then(short_text);
        let data = members.remove("data").unwrap_or_else(|| Value::Object(Map::new()));
        Ok(Self { event, id, ack, data })
    }

    /// Serializes the frame to the text to send.
    #[must_use]
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Deserializes the payload.
    ///
    /// # Errors
    /// Fails when a required member is missing or has the wrong type.
    pub fn payload<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        T::deserialize(&self.data)
    }
}

fn short_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() && text.chars().count() <= MAX_ID_CHARS => Some(text),
        _ => None,
    }
}

fn object(payload: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(payload) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    }
}
