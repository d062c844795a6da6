//! `GET /api/gateway/reviewer/available`: whether the reviewer's program is installed and runs.

use axum::Json;
use axum::extract::State;
use loopgate_home::Program;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::route::Endpoint;

/// Availability of the reviewer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"available": true, "version": "0.169.0"}))]
pub(crate) struct ReviewerAvailability {
    /// Whether its program runs.
    available: bool,
    /// Version of the program, or `unknown`; absent when the program does not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

/// Check whether the reviewer is available
#[utoipa::path(get, path = "/api/gateway/reviewer/available", operation_id = "reviewer_available", tag = "reviewer",
    responses((status = 200, body = ReviewerAvailability, description = "Availability and version")))]
async fn available(State(app): State<App>) -> Json<ReviewerAvailability> {
    let output = app.programs.version(Program::Reviewer).await;
    let version = output.as_deref().map(|line| parse_version(line).unwrap_or("unknown").to_owned());
    Json(ReviewerAvailability { available: output.is_some(), version })
}

/// Extracts the digits and dots after the program's name.
fn parse_version(line: &str) -> Option<&str> {
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
    fn version_is_the_digits_and_dots_after_the_program_name() {
        assert_eq!(parse_version("codex-cli 0.9.1 (build 7)"), Some("0.9.1"));
        assert_eq!(parse_version("codex-cli beta"), None);
        assert_eq!(parse_version("something else 1.2"), None);
    }
}
