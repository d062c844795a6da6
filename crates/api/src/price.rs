//! List prices of models, to estimate the cost of runs for which the assistant reports none.

use crate::tokens::ModelTokens;

/// US dollars per million tokens.
struct Price {
    model: &'static str,
    input: f64,
    output: f64,
    cache_write: f64,
    cache_read: f64,
}

const fn price(model: &'static str, input: f64, output: f64) -> Price {
    // Anthropic's list prices: a cache write costs 1.25 times, a cache read 0.1 times the price of an input
    // token.
    Price { model, input, output, cache_write: input * 1.25, cache_read: input * 0.1 }
}

/// The longest prefix of the model's name applies.
const PRICES: &[Price] = &[
    price("claude-opus", 5.0, 25.0),
    // Opus 4.0 also has a name without a minor version, such as `claude-opus-4-20250514`.
    price("claude-opus-4-0", 15.0, 75.0),
    price("claude-opus-4-1", 15.0, 75.0),
    price("claude-opus-4-2025", 15.0, 75.0),
    price("claude-sonnet", 3.0, 15.0),
    price("claude-haiku", 1.0, 5.0),
    price("claude-3-5-haiku", 0.8, 4.0),
    price("gpt-5", 1.25, 10.0),
];

/// Price of models that match no entry.
const DEFAULT: Price = price("", 3.0, 15.0);

/// Returns the list price of a model's tokens in US dollars.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "no run uses 2^52 tokens")]
pub fn dollars(model: &str, tokens: &ModelTokens) -> f64 {
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
    fn longest_matching_prefix_applies() {
        let million = ModelTokens { input: 1_000_000, ..ModelTokens::default() };
        let table = [
            ("claude-opus-4-6", 5.0),
            ("claude-opus-4-5-20260101", 5.0),
            ("claude-opus-4-1-20250805", 15.0),
            ("claude-sonnet-4-5", 3.0),
            ("another", 3.0),
        ];
        for (model, expected) in table {
            assert!((dollars(model, &million) - expected).abs() < 1e-9, "{model}");
        }
    }
}
