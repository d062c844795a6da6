//! What tokens cost, where the assistant has not said so itself.

use crate::tokens::ModelTokens;

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
    price("claude-opus", 5.0, 25.0),
    price("claude-opus-4-0", 15.0, 75.0),
    price("claude-opus-4-1", 15.0, 75.0),
    price("claude-opus-4-2025", 15.0, 75.0),
    price("claude-sonnet", 3.0, 15.0),
    price("claude-haiku", 1.0, 5.0),
    price("claude-3-5-haiku", 0.8, 4.0),
    price("gpt-5", 1.25, 10.0),
];

/// Prices of models without an entry in the table.
const DEFAULT: Price = price("", 3.0, 15.0);

/// List price of the tokens of a model, in US dollars.
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
    fn longest_name_decides() {
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
