//! What a loop has used: tokens and money, as records, events and answers carry them.
//!
//! A *turn* is one answer of a model; it has tokens. A *run* is one go of the assistant, from its
//! start to its `result` record; it has tokens and money, because only then does the assistant say
//! what it cost. `ledger` adds them up; this module is only the shapes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::tokens::{ModelTokens, TokenUsage};

/// Money, as the assistant itself reports it, in US dollars.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Of all runs so far.
    pub total_usd: f64,
    /// Of each model.
    #[serde(default)]
    pub by_model: BTreeMap<String, f64>,
}

/// One answer of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Counts from 1 within the loop.
    pub turn: u64,
    /// Who answered.
    pub model: String,
    /// Its tokens. Those of the output are what was known when the answer began, until its run ends.
    #[serde(flatten)]
    pub tokens: ModelTokens,
}

/// One go of the assistant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// Counts from 1 within the loop.
    pub run: u64,
    /// Turns in it.
    pub turns: u64,
    /// Its tokens.
    #[serde(flatten)]
    pub tokens: ModelTokens,
    /// What it cost, when the assistant said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Everything that a loop has used so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Spend {
    /// Totals.
    pub tokens: TokenUsage,
    /// Totals of each model.
    pub tokens_by_model: BTreeMap<String, ModelTokens>,
    /// Answers of models.
    pub turns: u64,
    /// Runs of the assistant that have ended.
    pub runs: u64,
    /// Money; absent until the assistant has said anything about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The newest turns, at most 20, the oldest of them first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recent_turns: Vec<Turn>,
    /// The newest runs, at most 20, the oldest of them first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recent_runs: Vec<Run>,
}
