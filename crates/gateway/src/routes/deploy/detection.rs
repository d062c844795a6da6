//! `POST /api/gateway/deploy/detect` and `redetect`: detection of a repository's start command.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_deploy::{Candidate, Deployment};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{RepositoryBody, allowed, candidates, stored_settings, update_settings};
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
    /// Evidence for this candidate, with the file that contains it.
    #[schema(example = "package.json has a `dev` script and depends on next; no lock file, so npm runs it")]
    reason: String,
}

impl From<Candidate> for CandidateAnswer {
    fn from(candidate: Candidate) -> Self {
        Self { config: candidate.config, reason: candidate.reason }
    }
}

/// Result of a detection.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Detected, example = json!({"detected": false}))]
pub(crate) struct DetectionAnswer {
    /// Whether a way to run the repository was detected.
    detected: bool,
    /// Settings of the best candidate; absent when nothing was detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Deployment>,
    /// All candidates, best first; absent when nothing was detected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    candidates: Vec<CandidateAnswer>,
}

/// Result of a repeated detection.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Redetected, example = json!({"redetected": false}))]
pub(crate) struct RedetectionAnswer {
    /// Whether settings were detected and stored.
    redetected: bool,
    /// Stored settings; absent when nothing was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Deployment>,
}

/// Detect how to run a repository
///
/// Stores the best candidate if the repository is managed. A stored `directory` is searched first. Stored members
/// that detection does not set are unchanged.
#[utoipa::path(post, path = "/api/gateway/deploy/detect", operation_id = "detect_deployment", tag = "deploy",
    request_body = RepositoryBody,
    responses(
        (status = 200, body = DetectionAnswer, description = "Result of the detection, which may be empty"),
        (status = 400, body = ErrorBody, description = "Repository path missing", example = json!(ErrorBody::missing_field("repoPath is required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn detect(
    State(app): State<App>,
    JsonBody(body): JsonBody<RepositoryBody>,
) -> JsonResult<DetectionAnswer> {
    let repository = body.repo_path.ok_or_else(|| HttpError::missing_field("repoPath is required"))?;
    let repository = allowed(&app, repository).await?;
    let has_engine = app.deploys.has_engine().await;
    let detection = spawn_blocking(move || {
        let directory = stored_settings(&app, &repository)?.and_then(|stored| stored.directory);
        let in_stored = directory.map(|directory| candidates(&repository, Some(&directory), has_engine));
        let mut detected = in_stored.unwrap_or_default();
        for candidate in candidates(&repository, None, has_engine) {
            if !detected.contains(&candidate) {
                detected.push(candidate);
            }
        }
        let config = detected.first().map(|first| first.config.clone());
        if let Some(config) = &config {
            update_settings(&app, &repository, |members| config.merge_into(members))?;
        }
        let candidates = detected.into_iter().map(CandidateAnswer::from);
        Ok(DetectionAnswer { detected: config.is_some(), config, candidates: candidates.collect() })
    });
    detection.await?.map(Json)
}

/// Repeat the detection for a repository
///
/// Replaces the stored settings, or removes them when nothing is detected.
#[utoipa::path(post, path = "/api/gateway/deploy/redetect", operation_id = "redetect_deployment", tag = "deploy",
    request_body = RepositoryBody,
    responses(
        (status = 200, body = RedetectionAnswer, description = "Result of the detection, which may be empty"),
        (status = 400, body = ErrorBody, description = "Repository path missing", example = json!(ErrorBody::missing_field("repoPath is required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn redetect(
    State(app): State<App>,
    JsonBody(body): JsonBody<RepositoryBody>,
) -> JsonResult<RedetectionAnswer> {
    let repository = body.repo_path.ok_or_else(|| HttpError::missing_field("repoPath is required"))?;
    let repository = allowed(&app, repository).await?;
    let has_engine = app.deploys.has_engine().await;
    let detection = spawn_blocking(move || {
        let config = candidates(&repository, None, has_engine).into_iter().next().map(|first| first.config);
        let is_listed = update_settings(&app, &repository, |members| {
            // Unlike `detect`, this discards members that the user set by hand.
            members.clear();
            if let Some(config) = &config {
                config.merge_into(members);
            }
        })?;
        // Settings of an unmanaged repository are not stored, so they are not reported as such.
        let config = config.filter(|_| is_listed);
        Ok(RedetectionAnswer { redetected: config.is_some(), config })
    });
    detection.await?.map(Json)
}

pub(crate) fn detect_endpoint() -> Endpoint {
    Endpoint::new(routes!(detect), &[Source::Path(At::Body("repoPath"))])
}

pub(crate) fn redetect_endpoint() -> Endpoint {
    Endpoint::new(routes!(redetect), &[Source::Path(At::Body("repoPath"))])
}
