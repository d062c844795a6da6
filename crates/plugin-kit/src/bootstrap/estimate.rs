//! What a run will cost, before it starts. An estimate: the prompts are known, the length of the answers is not.

use loopgate_api::price;
use loopgate_api::tokens::ModelTokens;

use crate::judges::tokens;

/// Tokens of an answer, of which most have about 500.
const ANSWER_TOKENS: u64 = 1200;
/// Model whose list price applies.
const PRICED_MODEL: &str = "claude-sonnet";

/// Estimated cost of the texts of agents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostEstimate {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub dollars: f64,
}

/// Estimates the cost of requests with the same first part. Assumes that nothing is read from a cache and no answer is
/// corrected.
pub fn estimate<'a>(shared_part: &str, requests: impl Iterator<Item = &'a str>) -> CostEstimate {
    let (shared, mut input, mut output) = (tokens(shared_part), 0, 0);
    for request in requests {
        input += u64::try_from(shared + tokens(request)).unwrap_or(u64::MAX);
        output += ANSWER_TOKENS;
    }
    let used = ModelTokens { input, output, ..ModelTokens::default() };
    CostEstimate { input_tokens: input, output_tokens: output, dollars: price::dollars(PRICED_MODEL, &used) }
}
