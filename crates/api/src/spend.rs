//! Tokens and cost of a loop, in the form used by records, events and responses.
//!
//! A *turn* is one response of a model and has tokens. A *run* is one process of the assistant, up to its
//! `result` record; it has tokens and a cost, because the assistant reports the cost only in that record.
//! `ledger` computes the totals; this module defines the data types.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::tokens::{ModelTokens, TokenUsage};

/// Cost in US dollars, as reported by the assistant.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Cost of all runs so far.
    pub total_usd: f64,
    /// Cost by model name; empty when not reported.
    #[serde(default)]
    pub by_model: BTreeMap<String, f64>,
}

/// One response of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Number of the turn within the loop, from 1.
    pub turn: u64,
    /// Name of the responding model.
    pub model: String,
    /// Tokens of the turn. Output tokens are an early count of the assistant until the run ends.
    #[serde(flatten)]
    pub tokens: ModelTokens,
}

/// One process of the assistant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// Number of the run within the loop, from 1.
    pub run: u64,
    /// Number of turns in the run.
    pub turns: u64,
    /// Tokens of the run, all models together.
    #[serde(flatten)]
    pub tokens: ModelTokens,
    /// Cost in US dollars; absent when the assistant did not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Tokens and cost of a loop so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Spend {
    /// Total tokens of all models.
    pub tokens: TokenUsage,
    /// Total tokens by model name.
    pub tokens_by_model: BTreeMap<String, ModelTokens>,
    /// Number of model responses.
    pub turns: u64,
    /// Number of finished runs of the assistant.
    pub runs: u64,
    /// Cost so far; absent until the assistant reports one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The latest turns, at most 20, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recent_turns: Vec<Turn>,
    /// The latest runs, at most 20, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recent_runs: Vec<Run>,
}
