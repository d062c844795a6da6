//! Search for a text in lists.

use sea_orm::Condition;
use sea_orm::sea_query::{Expr, ExprTrait, Func, LikeExpr};

use crate::error::{ApiResult, bad_request};

// Longest text to search for, in characters.
const TEXT_LIMIT: usize = 200;

/// Returns the text of a query parameter; `None` for an empty one. Returns 400 for a text that is too long.
pub fn requested(text: Option<&str>) -> ApiResult<Option<&str>> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    if text.is_some_and(|text| text.chars().count() > TEXT_LIMIT) {
        return Err(bad_request(format!(
            "Invalid query parameters: text must have at most {TEXT_LIMIT} characters"
        )));
    }
    Ok(text)
}

/// Returns the condition for rows of which any value contains a text. Not case-sensitive.
pub fn any_contains(values: impl IntoIterator<Item = Expr>, text: &str) -> Condition {
    values.into_iter().fold(Condition::any(), |any, value| any.add(contains(value, text)))
}

/// Returns the condition for a value that contains a text. Not case-sensitive.
pub fn contains(value: Expr, text: &str) -> Expr {
    Expr::expr(Func::lower(value)).like(pattern(text))
}

/// Returns a LIKE pattern for lower-case texts that contain `text`, with wildcards escaped.
fn pattern(text: &str) -> LikeExpr {
    let escaped = text.to_lowercase().replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
    LikeExpr::new(format!("%{escaped}%")).escape('\\')
}
