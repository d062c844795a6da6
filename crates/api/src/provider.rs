//! Ids of the programs that take part in chats and reviews.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// Maximum length of an id in bytes; ids are part of file names.
const MAX_LENGTH: usize = 32;

/// Id of a provider: `assistant`, `reviewer`, or a provider added in the settings.
///
/// Used in file names, so it consists of lower-case letters, digits and hyphens, starts with a letter and has
/// at most 32 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, example = "assistant")]
pub struct ProviderId(Cow<'static, str>);

impl ProviderId {
    /// The coding assistant, built in.
    pub const ASSISTANT: Self = Self(Cow::Borrowed("assistant"));
    /// The built-in second program, which reviews.
    pub const REVIEWER: Self = Self(Cow::Borrowed("reviewer"));

    /// Parses an id; returns `None` when it is malformed.
    #[must_use]
    pub fn parse(id: &str) -> Option<Self> {
        let is_valid = id.len() <= MAX_LENGTH
            && id.starts_with(|first: char| first.is_ascii_lowercase())
            && id.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-');
        is_valid.then(|| Self(Cow::Owned(id.to_owned())))
    }

    /// Returns the id as used on the wire and in file names.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for ProviderId {
    fn default() -> Self {
        Self::ASSISTANT
    }
}

impl fmt::Display for ProviderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ProviderId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = String::deserialize(deserializer)?;
        Self::parse(&id).ok_or_else(|| serde::de::Error::custom("not the id of a provider"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_safe_file_names() {
        for id in ["assistant", "reviewer", "opencode", "a", "a-1"] {
            assert_eq!(ProviderId::parse(id).unwrap().as_str(), id);
        }
        for id in ["", "..", "../x", "A", "1a", "-a", "a/b", "a.b", "a b", "ä", &"a".repeat(33)] {
            assert_eq!(ProviderId::parse(id), None, "{id}");
        }
    }
}
