//! Token counts of a run, a model or a whole loop.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Token counts in the form of `output` and `error` events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Number of input tokens, without those of the cache.
    pub input_tokens: u64,
    /// Number of output tokens.
    pub output_tokens: u64,
    /// Number of tokens written to the prompt cache.
    #[serde(default)]
    pub cache_creation_input_tokens: u64,
    /// Number of tokens read from the prompt cache.
    #[serde(default)]
    pub cache_read_input_tokens: u64,
}

impl TokenUsage {
    /// Returns whether all counts are zero.
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

/// Token counts of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelTokens {
    /// Number of input tokens, without those of the cache.
    pub input: u64,
    /// Number of output tokens.
    pub output: u64,
    /// Number of tokens written to the prompt cache.
    #[serde(default)]
    pub cache_creation: u64,
    /// Number of tokens read from the prompt cache.
    #[serde(default)]
    pub cache_read: u64,
}

impl ModelTokens {
    /// Returns the maximum of each count.
    #[must_use]
    pub fn at_least(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_creation: self.cache_creation.max(other.cache_creation),
            cache_read: self.cache_read.max(other.cache_read),
        }
    }

    /// Subtracts each count of `other`, saturating at zero.
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

/// Token counts in the form of the `completed` event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokensUsed {
    /// Number of input tokens, without those of the cache.
    pub input: u64,
    /// Number of output tokens.
    pub output: u64,
    /// Number of tokens written to the prompt cache.
    #[serde(default)]
    pub cache_creation_input_tokens: u64,
    /// Number of tokens read from the prompt cache.
    #[serde(default)]
    pub cache_read_input_tokens: u64,
    /// Number of model responses (turns).
    #[serde(default)]
    pub turns: u64,
    /// Model names in the order of their first use.
    #[serde(default)]
    pub models: Vec<String>,
}
