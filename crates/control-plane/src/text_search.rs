//! Search for a text in lists.

use sea_orm::sea_query::extension::sqlite::SqliteExpr as _;
use sea_orm::sea_query::{Expr, ExprTrait as _, Func, LikeExpr};
use sea_orm::{Condition, DbBackend};

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
pub fn any_contains(backend: DbBackend, values: impl IntoIterator<Item = Expr>, text: &str) -> Condition {
    values.into_iter().fold(Condition::any(), |any, value| any.add(contains(backend, value, text)))
}

/// Returns the condition for a value that contains a text. Not case-sensitive.
pub fn contains(backend: DbBackend, value: Expr, text: &str) -> Expr {
    let value = Expr::expr(Func::lower(value));
    match backend {
        // Its `LOWER` and `LIKE` ignore the case of ASCII letters only.
        DbBackend::Sqlite => value.glob(glob_pattern(text)),
        _ => value.like(like_pattern(text)),
    }
}

/// Returns a LIKE pattern for lower-case texts that contain `text`, with wildcards escaped.
fn like_pattern(text: &str) -> LikeExpr {
    let escaped = text.to_lowercase().replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
    LikeExpr::new(format!("%{escaped}%")).escape('\\')
}

/// Returns a GLOB pattern for texts that contain `text`, in which ASCII letters are in lower case and others in any.
fn glob_pattern(text: &str) -> String {
    let mut pattern = "*".to_owned();
    for own in text.chars() {
        match own {
            '*' | '?' | '[' => pattern.extend(['[', own, ']']),
            _ if own.is_ascii() => pattern.push(own.to_ascii_lowercase()),
            _ => {
                pattern.extend(['[', own]);
                pattern.extend(own.to_lowercase().chain(own.to_uppercase()));
                pattern.push(']');
            }
        }
    }
    pattern.push('*');
    pattern
}

#[cfg(test)]
mod tests {
    use super::glob_pattern;

    #[test]
    fn glob_pattern_contains_both_cases_and_no_wildcards_of_the_text() {
        assert_eq!(glob_pattern("Cart"), "*cart*");
        assert_eq!(glob_pattern("50% [a]?*"), "*50% [[]a][?][*]*");
        assert_eq!(glob_pattern("über"), "*[üüÜ]ber*");
        assert_eq!(glob_pattern("文"), "*[文文文]*");
    }
}
