//! One frame: `{"event", "id"?, "ack"?, "data"}`, and the envelope inside `data`.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;
use utoipa::ToSchema;
use uuid::Uuid;

/// Longest `id` of a frame, in characters.
pub(super) const MAX_ID_CHARS: usize = 64;

/// A text that is not a JSON object with a string `event`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not a frame")]
pub struct InvalidFrame;

/// Members that the `data` of every event carries, beside its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// Version of the envelope, `"1"`. Receivers do not verify it.
    pub protocol_version: String,
    /// New with each message.
    pub message_id: Uuid,
    /// The sender's clock, ISO 8601.
    pub timestamp: String,
}

impl Envelope {
    /// An envelope of this moment.
    #[must_use]
    pub fn now() -> Self {
        Self {
            protocol_version: "1".to_owned(),
            message_id: Uuid::new_v4(),
            timestamp: crate::time::now_iso(),
        }
    }
}

/// One message of the connection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Frame {
    /// Name of the event.
    pub event: String,
    /// Asks for an acknowledgement of this very frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The `id` that this acknowledgement answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<String>,
    /// The payload; an object in every frame that we send.
    pub data: Value,
}

impl Frame {
    /// An event of this moment: the envelope, then the payload's own members, which win.
    pub fn event(name: &str, payload: &impl Serialize) -> Self {
        let mut data = object(&Envelope::now());
        data.extend(object(payload));
        Self { event: name.to_owned(), id: None, ack: None, data: Value::Object(data) }
    }

    /// The same frame, asking for an acknowledgement.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The acknowledgement of a frame; it carries no envelope.
    pub fn acknowledging(name: &str, id: &str, result: &impl Serialize) -> Self {
        Self {
            event: name.to_owned(),
            id: None,
            ack: Some(id.to_owned()),
            data: Value::Object(object(result)),
        }
    }

    /// Reads a text frame. An `id` or `ack` that is no text of 1 to 64 characters counts as absent.
    ///
    /// # Errors
    /// [`InvalidFrame`] unless the text is a JSON object with a string `event`.
    pub fn parse(text: &str) -> Result<Self, InvalidFrame> {
        let Ok(Value::Object(mut members)) = serde_json::from_str(text) else { return Err(InvalidFrame) };
        let Some(Value::String(event)) = members.remove("event") else { return Err(InvalidFrame) };
        let id = members.remove("id").and_then(short_text);
        let ack = members.remove("ack").and_then(short_text);
        let data = members.remove("data").unwrap_or_else(|| Value::Object(Map::new()));
        Ok(Self { event, id, ack, data })
    }

    /// The text to send.
    #[must_use]
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The payload as a type of its own.
    ///
    /// # Errors
    /// A required member is missing or has the wrong type.
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
