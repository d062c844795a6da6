//! `POST /api/gateway/reviewer/review-dedup/{ticketId}`: finds duplicate findings in two reviews.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::provider::ProviderId;
use loopgate_api::review::ReviewFinding;
use loopgate_review::{DuplicatePair, StructuredOutput, compare_findings, resolve_uncertain_pairs};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::unwrap_body;
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::lenient;
use crate::route::Endpoint;

/// Findings of two reviews of the same change.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "providerA": "assistant", "providerB": "reviewer", "findingsA": [{"file": "src/cart.rs", "message": "The sum overflows"}], "findingsB": [{"file": "src/cart.rs", "message": "The sum overflows"}]}))]
struct FindingLists {
    /// Path of the repository.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Provider of the first list.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    provider_a: Option<String>,
    /// Provider of the second list.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    provider_b: Option<String>,
    #[schema(value_type = Vec<ComparedFinding>)]
    #[serde(default)]
    findings_a: Value,
    #[schema(value_type = Vec<ComparedFinding>)]
    #[serde(default)]
    findings_b: Value,
    /// Provider that decides about pairs with inconclusive similarity. When it is missing or unknown, such
    /// pairs are not duplicates.
    #[serde(default, deserialize_with = "lenient::any")]
    provider: Option<ProviderId>,
}

/// Members of a finding that are compared.
#[derive(ToSchema)]
#[allow(dead_code, reason = "describes the lists in the OpenAPI document; they hold whole findings")]
struct ComparedFinding {
    message: String,
    file: Option<String>,
}

/// Pairs of duplicate findings.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"duplicates": [[0, 0]]}))]
pub(crate) struct Duplicates {
    /// Pairs of an index in the first list and an index in the second list. Each index occurs at most once.
    #[schema(value_type = Vec<Vec<usize>>)]
    duplicates: Vec<DuplicatePair>,
}

/// Find duplicate findings in two reviews
///
/// Compares the words of the messages. With a `provider`, inconclusive pairs are submitted to it; if it
/// fails, only the comparison of words counts.
#[utoipa::path(post, path = "/api/gateway/reviewer/review-dedup/{ticketId}", operation_id = "review_duplicates", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Id of the ticket", example = "SHOP-7")),
    request_body = FindingLists,
    responses(
        (status = 200, body = Duplicates, description = "The pairs in the order of the first list, then those confirmed by the provider"),
        (status = 400, body = ErrorBody, description = "A required member is missing, or a list contains an invalid finding",
            example = json!(ErrorBody::missing_field("repoPath, providerA, and providerB are required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox",
            example = json!(ErrorBody::directory_not_allowed())),
    ))]
async fn find(
    State(app): State<App>,
    body: Result<JsonBody<FindingLists>, HttpError>,
) -> JsonResult<Duplicates> {
    let body = unwrap_body(body)?;
    // The provider names are required by the interface but do not affect the comparison.
    let (Some(repo), Some(_), Some(_)) = (body.repo_path, body.provider_a, body.provider_b) else {
        return Err(HttpError::missing_field("repoPath, providerA, and providerB are required"));
    };
    let (first, second) = (findings(body.findings_a)?, findings(body.findings_b)?);
    let compared = {
        let app = app.clone();
        spawn_blocking(move || {
            // On a thread for blocking work: the comparison is quadratic in the number of findings.
            let directory = app.sandbox.check(repo)?;
            Ok::<_, HttpError>((directory, compare_findings(&first, &second), first, second))
        })
    };
    let (directory, comparison, first, second) = compared.await??;
    let output = app.agents.as_ref().zip(body.provider).and_then(|(agents, id)| {
        Some(StructuredOutput::new(agents.runs.clone(), agents.providers.get(&id)?, directory))
    });
    let duplicates = match output {
        Some(output) => resolve_uncertain_pairs(comparison, &first, &second, &output).await,
        None => comparison.duplicates,
    };
    Ok(Json(Duplicates { duplicates }))
}

/// Parses a list of findings. Anything other than an array counts as empty.
fn findings(list: Value) -> Result<Vec<ReviewFinding>, HttpError> {
    if !list.is_array() {
        return Ok(Vec::new());
    }
    serde_json::from_value(list)
        .map_err(|_| HttpError::bad_request("findingsA and findingsB must contain only findings"))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(find),
        &[Source::Path(At::Body("repoPath")), Source::Ticket(At::Segment("ticketId"))],
    )
}
