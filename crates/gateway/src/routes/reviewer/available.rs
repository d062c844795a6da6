//! `GET /api/gateway/reviewer/available`.

use axum::Json;
use axum::extract::State;
use loopgate_home::Program;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::route::Endpoint;

/// Whether the reviewer can be asked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"available": true, "version": "0.169.0"}))]
pub(crate) struct ReviewerAvailability {
    /// Whether its program runs.
    available: bool,
    /// Its version, `unknown` when it does not say; only when it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

/// Whether the reviewer's program runs
#[utoipa::path(get, path = "/api/gateway/reviewer/available", operation_id = "reviewer_available", tag = "reviewer",
    responses((status = 200, body = ReviewerAvailability, description = "Whether it runs, and which version")))]
async fn available(State(app): State<App>) -> Json<ReviewerAvailability> {
    let printed = app.programs.version(Program::Reviewer).await;
    let version = printed.as_deref().map(|line| version_in(line).unwrap_or("unknown").to_owned());
    Json(ReviewerAvailability { available: printed.is_some(), version })
}

/// The digits and dots after the program's name.
fn version_in(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("codex-cli ")?;
    let end = rest.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|version| !version.is_empty())
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(available), &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    // RC-01
    #[test]
    fn versions_are_digits_and_dots() {
        assert_eq!(version_in("codex-cli 0.9.1 (build 7)"), Some("0.9.1"));
        assert_eq!(version_in("codex-cli beta"), None);
        assert_eq!(version_in("something else 1.2"), None);
    }
}
