//! Cost of a loop, estimated from its tokens and list prices.

use std::collections::BTreeMap;

use loopgate_api::event::{ModelTokens, TokensUsed};
use loopgate_api::price;
use loopgate_api::spend::Cost;
use loopgate_api::usd::Usd;
use sea_orm::sea_query::{Expr, SimpleExpr};
use serde_json::{Map, Value, json};

use super::runner_event::RunnerEvent;
use crate::loops::usage::COUNT_LIMIT;
use crate::store::entity::agent_loop::Column;
use crate::store::parse_json;

/// Member of a loop's metadata with the cost that the assistant reported.
pub const REPORTED: &str = "cost";

/// Returns the estimated cost in US dollars, rounded to six decimal places. Zero without an API key: the
/// assistant then uses a subscription.
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
            models.iter().map(|(model, tokens)| price::dollars(model, tokens)).sum()
        }
        // Without counts by model, the total is priced like the default model.
        _ => {
            let tokens = ModelTokens {
                input: total.input,
                output: total.output,
                cache_creation: total.cache_creation_input_tokens,
                cache_read: total.cache_read_input_tokens,
            };
            price::dollars("default", &tokens)
        }
    };
    (dollars * 1e6_f64).round() / 1e6
}

/// Returns what a loop has spent according to an event: the cost reported by the assistant or, for a terminal
/// event, the list price of its tokens. Returns `None` when the event contains neither.
pub fn total(event: &RunnerEvent) -> Option<Usd> {
    let dollars = match event.cost() {
        Some(cost) => cost.total_usd,
        None if event.is_terminal() => {
            let by_model = event.tokens_by_model();
            let tokens = parse_json(event.members.get("tokensUsed"));
            let tokens = tokens.or_else(|| event.token_usage().map(TokensUsed::from)).unwrap_or_default();
            estimate(by_model.as_ref(), &tokens, event.text("apiKeySource"))
        }
        None => return None,
    };
    // A limit, because runners report the cost: sums must not exceed the range of their column.
    let most = Usd::from_micros(COUNT_LIMIT.unsigned_abs());
    Usd::try_from(dollars).ok().map(|total| total.min(most))
}

/// Returns the member of the metadata with a reported cost.
pub fn metadata(cost: &Cost) -> Map<String, Value> {
    Map::from_iter([(REPORTED.to_owned(), json!(cost))])
}

/// Returns the columns with the tokens of the prompt cache, which are reported by model only.
pub fn cache_columns(by_model: &BTreeMap<String, ModelTokens>) -> [(Column, SimpleExpr); 2] {
    let sum = |count: fn(&ModelTokens) -> u64| {
        let sum = by_model.values().map(count).fold(0, u64::saturating_add);
        Expr::value(stored_count(sum))
    };
    [
        (Column::CacheCreationTokens, sum(|tokens| tokens.cache_creation)),
        (Column::CacheReadTokens, sum(|tokens| tokens.cache_read)),
    ]
}

/// Limits a reported number of tokens to the largest number that counts.
pub fn stored_count(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(COUNT_LIMIT).min(COUNT_LIMIT)
}

/// Returns the usage columns of a failed loop. Failed loops count toward the usage like completed ones.
pub fn of_failure(event: &RunnerEvent) -> Vec<(Column, SimpleExpr)> {
    let mut columns = Vec::new();
    let by_model = event.tokens_by_model();
    if let Some(usage) = event.token_usage() {
        let dollars = estimate(by_model.as_ref(), &usage.into(), event.text("apiKeySource"));
        columns.push((Column::EstimatedCost, Expr::value(dollars)));
    }
    columns.extend(by_model.iter().flat_map(cache_columns));
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_uses_list_prices_and_is_zero_without_api_key() {
        let tokens = ModelTokens { input: 1_000_000, ..ModelTokens::default() };
        let models = BTreeMap::from([("claude-opus-4-5-20260101".to_owned(), tokens)]);
        let total = TokensUsed::default();
        assert!((estimate(Some(&models), &total, None) - 5.0).abs() < 1e-9);
        assert!(estimate(Some(&models), &total, Some("none")).abs() < 1e-9);
        let total = TokensUsed { output: 1_000_000, ..TokensUsed::default() };
        assert!((estimate(None, &total, None) - 15.0).abs() < 1e-9);
    }
}
