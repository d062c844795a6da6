//! `POST /api/gateway/deploy/detect` and `redetect`: detection of a repository's start command.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_deploy::Deployment;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{RepositoryBody, allowed, candidates, update_settings};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::route::Endpoint;

/// One way to run a repository.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = DeployCandidate)]
pub(crate) struct CandidateAnswer {
    config: Deployment,
    /// What was found in which file.
    #[schema(example = "package.json has a `dev` script and depends on next; no lock file, so npm runs it")]
    reason: String,
}

/// Result of a detection.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Detected, example = json!({"detected": false}))]
pub(crate) struct DetectionAnswer {
    /// Whether a way to run it was found.
    detected: bool,
    /// The best way.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Deployment>,
    /// All ways, the best one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    candidates: Vec<CandidateAnswer>,
}

/// Result of a new detection.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Redetected, example = json!({"redetected": false}))]
pub(crate) struct RedetectionAnswer {
    /// Whether a way to run it was found and stored.
    redetected: bool,
    /// The best way.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Deployment>,
}

/// Detect how to run a repository
///
/// The best way is stored when the repository is in the list; stored members that detection does not set stay.
#[utoipa::path(post, path = "/api/gateway/deploy/detect", operation_id = "detect_deployment", tag = "deploy",
    request_body = RepositoryBody,
    responses(
        (status = 200, body = DetectionAnswer, description = "The result, also when nothing was found"),
        (status = 400, body = ErrorBody, description = "No repository given", example = json!(ErrorBody::missing_field("repoPath is required"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn detect(
    State(app): State<App>,
    JsonBody(body): JsonBody<RepositoryBody>,
) -> JsonResult<DetectionAnswer> {
    let repository = body.repo_path.ok_or_else(|| HttpError::missing_field("repoPath is required"))?;
    let repository = allowed(&app, repository).await?;
    let has_engine = app.deploys.has_engine().await;
    let answer = spawn_blocking(move || {
        let found = candidates(&repository, has_engine);
        let config = found.first().map(|first| first.config.clone());
        if let Some(config) = &config {
            update_settings(&app, &repository, |members| config.merge_into(members))?;
        }
        let candidates =
            found.into_iter().map(|one| CandidateAnswer { config: one.config, reason: one.reason });
        Ok(DetectionAnswer { detected: config.is_some(), config, candidates: candidates.collect() })
    });
    answer.await?.map(Json)
}

/// Detect again how to run a repository
///
/// The stored settings are replaced, or removed when nothing is found.
#[utoipa::path(post, path = "/api/gateway/deploy/redetect", operation_id = "redetect_deployment", tag = "deploy",
    request_body = RepositoryBody,
    responses(
        (status = 200, body = RedetectionAnswer, description = "The result, also when nothing was found"),
        (status = 400, body = ErrorBody, description = "No repository given", example = json!(ErrorBody::missing_field("repoPath is required"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn redetect(
    State(app): State<App>,
    JsonBody(body): JsonBody<RepositoryBody>,
) -> JsonResult<RedetectionAnswer> {
    let repository = body.repo_path.ok_or_else(|| HttpError::missing_field("repoPath is required"))?;
    let repository = allowed(&app, repository).await?;
    let has_engine = app.deploys.has_engine().await;
    let answer = spawn_blocking(move || {
        let config = candidates(&repository, has_engine).into_iter().next().map(|first| first.config);
        let is_listed = update_settings(&app, &repository, |members| {
            members.clear();
            if let Some(config) = &config {
                config.merge_into(members);
            }
        })?;
        let config = config.filter(|_| is_listed);
        Ok(RedetectionAnswer { redetected: config.is_some(), config })
    });
    answer.await?.map(Json)
}

pub(crate) fn detect_endpoint() -> Endpoint {
    Endpoint::new(routes!(detect), &[Source::Path(At::Body("repoPath"))])
}

pub(crate) fn redetect_endpoint() -> Endpoint {
    Endpoint::new(routes!(redetect), &[Source::Path(At::Body("repoPath"))])
}
