//! `POST /api/gateway/deploy/detect` and `redetect`: how a repository is run.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_deploy::Deployment;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{RepositoryBody, allowed, candidates, store};
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
    /// Why it was found.
    #[schema(example = "package.json has a `dev` script and depends on next; no lock file, so npm runs it")]
    reason: String,
}

/// How a repository is run.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Detected, example = json!({"detected": false}))]
pub(crate) struct DetectedAnswer {
    detected: bool,
    /// The best way.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Deployment>,
    /// All ways, the best one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    candidates: Vec<CandidateAnswer>,
}

/// How a repository is run, looked at anew.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Redetected, example = json!({"redetected": false}))]
pub(crate) struct RedetectedAnswer {
    redetected: bool,
    /// The best way.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Deployment>,
}

/// Find out how a repository is run
///
/// What is found is stored when the repository is in the list; members that were written by hand stay.
#[utoipa::path(post, path = "/api/gateway/deploy/detect", operation_id = "detect_deployment", tag = "deploy",
    request_body = RepositoryBody,
    responses(
        (status = 200, body = DetectedAnswer, description = "What was found, also when it is nothing"),
        (status = 400, body = ErrorBody, description = "No repository given", example = json!(ErrorBody::missing_field("repoPath is required"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn detect(
    State(app): State<App>,
    JsonBody(body): JsonBody<RepositoryBody>,
) -> JsonResult<DetectedAnswer> {
    let repository = body.repo_path.ok_or_else(|| HttpError::missing_field("repoPath is required"))?;
    let repository = allowed(&app, repository).await?;
    let has_engine = app.deploys.has_engine().await;
    let answer = spawn_blocking(move || {
        let found = candidates(&repository, has_engine);
        let config = found.first().map(|first| first.config.clone());
        if let Some(config) = &config {
            store(&app, &repository, |members| config.merge_into(members))?;
        }
        let candidates =
            found.into_iter().map(|one| CandidateAnswer { config: one.config, reason: one.reason });
        Ok(DetectedAnswer { detected: config.is_some(), config, candidates: candidates.collect() })
    });
    answer.await?.map(Json)
}

/// Find out anew how a repository is run
///
/// What is stored is replaced, or removed when nothing is found.
#[utoipa::path(post, path = "/api/gateway/deploy/redetect", operation_id = "redetect_deployment", tag = "deploy",
    request_body = RepositoryBody,
    responses(
        (status = 200, body = RedetectedAnswer, description = "What was found and stored, also when it is nothing"),
        (status = 400, body = ErrorBody, description = "No repository given", example = json!(ErrorBody::missing_field("repoPath is required"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn redetect(
    State(app): State<App>,
    JsonBody(body): JsonBody<RepositoryBody>,
) -> JsonResult<RedetectedAnswer> {
    let repository = body.repo_path.ok_or_else(|| HttpError::missing_field("repoPath is required"))?;
    let repository = allowed(&app, repository).await?;
    let has_engine = app.deploys.has_engine().await;
    let answer = spawn_blocking(move || {
        let config = candidates(&repository, has_engine).into_iter().next().map(|first| first.config);
        let is_listed = store(&app, &repository, |members| {
            members.clear();
            if let Some(config) = &config {
                config.merge_into(members);
            }
        })?;
        let config = config.filter(|_| is_listed);
        Ok(RedetectedAnswer { redetected: config.is_some(), config })
    });
    answer.await?.map(Json)
}

pub(crate) fn detect_endpoint() -> Endpoint {
    Endpoint::new(routes!(detect), &[Source::Path(At::Body("repoPath"))])
}

pub(crate) fn redetect_endpoint() -> Endpoint {
    Endpoint::new(routes!(redetect), &[Source::Path(At::Body("repoPath"))])
}
