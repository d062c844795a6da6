//! What a run has cost, from its tokens and a table of prices.

use std::collections::BTreeMap;

use loopgate_api::event::{ModelTokens, TokensUsed};
use loopgate_api::spend::Cost;
use sea_orm::sea_query::{Expr, SimpleExpr};
use serde_json::{Value, json};

use super::runner_event::RunnerEvent;
use crate::store::entity::agent_loop::{self, Column};
use crate::store::parse_json;

/// Member of a loop's metadata with the money that the assistant itself reported.
pub const REPORTED: &str = "cost";

/// US dollars for a million tokens.
struct Price {
    model: &'static str,
    input: f64,
    output: f64,
    cache_write: f64,
    cache_read: f64,
}

const fn price(model: &'static str, input: f64, output: f64) -> Price {
    Price { model, input, output, cache_write: input * 1.25, cache_read: input * 0.1 }
}

/// The longest name that a model's name begins with decides.
const PRICES: &[Price] = &[
    price("claude-opus-4", 15.0, 75.0),
    price("claude-opus-4-5", 5.0, 25.0),
    price("claude-sonnet", 3.0, 15.0),
    price("claude-haiku", 1.0, 5.0),
    price("claude-3-5-haiku", 0.8, 4.0),
    price("gpt-5", 1.25, 10.0),
];

/// Prices of models without an entry in the table.
const DEFAULT: Price = price("", 3.0, 15.0);

/// Cost in US dollars, six fraction digits. A run whose assistant used no key costs nothing.
pub fn estimate(
    by_model: Option<&BTreeMap<String, ModelTokens>>,
    total: &TokensUsed,
    api_key_source: Option<&str>,
) -> f64 {
    if api_key_source == Some("none") {
        return 0.0;
    }
    let dollars = match by_model {
        Some(models) if !models.is_empty() => {
            models.iter().map(|(model, tokens)| of_model(model, tokens)).sum()
        }
        _ => {
            let tokens = ModelTokens {
                input: total.input,
                output: total.output,
                cache_creation: total.cache_creation_input_tokens,
                cache_read: total.cache_read_input_tokens,
            };
            of_model("default", &tokens)
        }
    };
    (dollars * 1e6_f64).round() / 1e6
}

/// The metadata of a loop with the money that its assistant has reported.
pub fn noted(row: &agent_loop::Model, cost: &Cost) -> Value {
    let mut metadata = row.metadata.as_object().cloned().unwrap_or_default();
    metadata.insert(REPORTED.to_owned(), json!(cost));
    Value::Object(metadata)
}

/// What a loop that failed has used: a failure costs as much as a success.
pub fn of_failure(row: &agent_loop::Model, event: &RunnerEvent) -> Vec<(Column, SimpleExpr)> {
    let mut columns = Vec::new();
    let by_model: Option<BTreeMap<String, ModelTokens>> = parse_json(event.members.get("tokensByModel"));
    if let Some(usage) = event.token_usage() {
        let total = TokensUsed {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_creation_input_tokens: usage.cache_creation_input_tokens,
            cache_read_input_tokens: usage.cache_read_input_tokens,
            ..TokensUsed::default()
        };
        let dollars = estimate(by_model.as_ref(), &total, event.text("apiKeySource"));
        columns.push((Column::EstimatedCost, Expr::value(dollars)));
    }
    if let Some(by_model) = by_model {
        columns.push((Column::TokensByModel, Expr::value(json!(by_model))));
    }
    if let Some(cost) = event.cost() {
        columns.push((Column::Metadata, Expr::value(noted(row, &cost))));
    }
    columns
}

#[expect(clippy::cast_precision_loss, reason = "no run uses 2^52 tokens")]
fn of_model(model: &str, tokens: &ModelTokens) -> f64 {
    let listed = PRICES.iter().filter(|price| model.starts_with(price.model));
    let price = listed.max_by_key(|price| price.model.len()).unwrap_or(&DEFAULT);
    (tokens.input as f64 * price.input
        + tokens.output as f64 * price.output
        + tokens.cache_creation as f64 * price.cache_write
        + tokens.cache_read as f64 * price.cache_read)
        / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_decides_and_no_key_costs_nothing() {
        let tokens = ModelTokens { input: 1_000_000, ..ModelTokens::default() };
        let models = BTreeMap::from([("claude-opus-4-5-20260101".to_owned(), tokens)]);
        let total = TokensUsed::default();
        assert!((estimate(Some(&models), &total, None) - 5.0).abs() < 1e-9);
        assert!(estimate(Some(&models), &total, Some("none")).abs() < 1e-9);
        let total = TokensUsed { output: 1_000_000, ..TokensUsed::default() };
        assert!((estimate(None, &total, None) - DEFAULT.output).abs() < 1e-9);
    }
}
