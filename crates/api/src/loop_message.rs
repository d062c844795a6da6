//! Messages of a person to a running loop, as their files in the work directory contain them.

use serde::{Deserialize, Serialize};

/// Longest text of a message, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 10_000;

/// A message to a running loop. The name of its file is `<id>.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopMessage {
    /// The message, as plain text.
    pub text: String,
    /// Time at which the desktop received the message, ISO 8601.
    pub received_at: String,
    /// Time at which the assistant received the message, ISO 8601; absent before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<String>,
}

/// Returns the name of the file of a message.
#[must_use]
pub fn file_name(id: uuid::Uuid) -> String {
    format!("{id}.json")
}

/// Returns the id of the message in a file with this name; `None` for other files.
#[must_use]
pub fn id_of_file(name: &str) -> Option<uuid::Uuid> {
    let id = name.strip_suffix(".json")?.parse().ok()?;
    // Other spellings of an id, such as one without hyphens, would be a second file of the same message.
    (file_name(id) == name).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_has_one_file_name() {
        let id = uuid::Uuid::from_u128(7);
        assert_eq!(id_of_file(&file_name(id)), Some(id));
        for name in [".json", "a.json", "00000000000000000000000000000007.json", "../7.json", "7"] {
            assert_eq!(id_of_file(name), None, "{name}");
        }
    }
}
