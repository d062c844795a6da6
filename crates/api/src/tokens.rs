//! Counts of tokens: of a run, of a model, of a whole loop.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Tokens of a run, as `output` and `error` events carry them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Tokens written to the cache.
    #[serde(default)]
    pub cache_creation_input_tokens: u64,
    /// Tokens read from the cache.
    #[serde(default)]
    pub cache_read_input_tokens: u64,
}

impl TokenUsage {
    /// Whether no token of any kind was used.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.input_tokens == 0
            && self.output_tokens == 0
            && self.cache_creation_input_tokens == 0
            && self.cache_read_input_tokens == 0
    }
}

impl std::ops::AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_creation_input_tokens += other.cache_creation_input_tokens;
        self.cache_read_input_tokens += other.cache_read_input_tokens;
    }
}

/// Tokens of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelTokens {
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Tokens written to the cache.
    #[serde(default)]
    pub cache_creation: u64,
    /// Tokens read from the cache.
    #[serde(default)]
    pub cache_read: u64,
}

impl ModelTokens {
    /// Each count that is larger, of the two.
    #[must_use]
    pub fn at_least(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_creation: self.cache_creation.max(other.cache_creation),
            cache_read: self.cache_read.max(other.cache_read),
        }
    }

    /// What is more than in the other, each count by itself.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cache_creation: self.cache_creation.saturating_sub(other.cache_creation),
            cache_read: self.cache_read.saturating_sub(other.cache_read),
        }
    }
}

impl std::ops::AddAssign for ModelTokens {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_creation += other.cache_creation;
        self.cache_read += other.cache_read;
    }
}

impl From<TokenUsage> for TokensUsed {
    fn from(usage: TokenUsage) -> Self {
        Self {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_creation_input_tokens: usage.cache_creation_input_tokens,
            cache_read_input_tokens: usage.cache_read_input_tokens,
            ..Self::default()
        }
    }
}

/// Tokens as the `completed` event carries them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokensUsed {
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Tokens written to the cache.
    #[serde(default)]
    pub cache_creation_input_tokens: u64,
    /// Tokens read from the cache.
    #[serde(default)]
    pub cache_read_input_tokens: u64,
    /// Number of answers of a model.
    #[serde(default)]
    pub turns: u64,
    /// Models in the order in which they were first seen.
    #[serde(default)]
    pub models: Vec<String>,
}
