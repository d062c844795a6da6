//! `POST /api/gateway/deploy/health` and `check-existing`: health checks of servers on this machine.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_deploy::{HealthCheck, LoopbackUrl, accepts_connections, check_health};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::WorktreeBody;
use super::start::worktree_of;
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::lenient;
use crate::route::Endpoint;

/// Timeout for the response of a server. Development servers compile on the first request and need several
/// seconds.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(10);

/// URL of the server to check.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"url": "http://localhost:3000"}))]
#[schema(as = DeployHealthBody)]
struct HealthBody {
    /// HTTP URL with a loopback host. Other hosts are rejected, so that the route cannot probe the network.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    url: Option<String>,
}

/// Result of a health check.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeployHealth, example = json!({"alive": true, "statusCode": 204}))]
pub(crate) struct HealthAnswer {
    /// Whether the response status is 2xx or 3xx.
    alive: bool,
    /// HTTP status of the response; null without a response.
    #[schema(required)]
    status_code: Option<u16>,
    /// Reason for which no request was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    /// `OUTBOUND_URL_DENIED` when no request was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// Reason for which the request failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Whether the server of a worktree is running.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ExistingDeploy, example = json!({"active": true, "url": "http://localhost:3000"}))]
pub(crate) struct ExistingAnswer {
    /// Whether the server's port accepts connections.
    active: bool,
    /// URL of the server; absent unless it is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

/// Check whether a local server responds
#[utoipa::path(post, path = "/api/gateway/deploy/health", operation_id = "deploy_health", tag = "deploy",
    request_body = HealthBody,
    responses(
        (status = 200, body = HealthAnswer, description = "Result of the check; also when the server does not respond"),
        (status = 400, body = ErrorBody, description = "URL missing", example = json!(ErrorBody::missing_field("url is required"))),
    ))]
async fn health(JsonBody(body): JsonBody<HealthBody>) -> JsonResult<HealthAnswer> {
    let url = body.url.ok_or_else(|| HttpError::missing_field("url is required"))?;
    let url = LoopbackUrl::parse(&url).filter(LoopbackUrl::is_http);
    let unreachable = HealthAnswer { alive: false, status_code: None, error: None, code: None, reason: None };
    Ok(Json(match url {
        None => HealthAnswer {
            error: Some("url blocked by desktop outbound policy"),
            code: Some("OUTBOUND_URL_DENIED"),
            ..unreachable
        },
        Some(url) => match check_health(&url, HEALTH_TIMEOUT).await {
            HealthCheck::Answered(status) => {
                HealthAnswer { alive: (200..400).contains(&status), status_code: Some(status), ..unreachable }
            }
            HealthCheck::Unreachable(reason) => HealthAnswer { reason: Some(reason), ..unreachable },
        },
    }))
}

/// Check whether the server of a worktree is running
#[utoipa::path(post, path = "/api/gateway/deploy/check-existing", operation_id = "existing_deploy", tag = "deploy",
    request_body = WorktreeBody,
    responses(
        (status = 200, body = ExistingAnswer, description = "Whether the port of the worktree's server accepts connections"),
        (status = 400, body = ErrorBody, description = "A required member is missing", example = json!(ErrorBody::missing_field("repoPath and worktreePath are required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn check_existing(
    State(app): State<App>,
    JsonBody(body): JsonBody<WorktreeBody>,
) -> JsonResult<ExistingAnswer> {
    let (_, worktree, deployment) = worktree_of(&app, body).await?;
    let url = spawn_blocking(move || {
        // Assume a container engine: only the port is of interest, nothing is started.
        let detected = || {
            super::candidates(&worktree, None, true).into_iter().next().and_then(|first| first.config.port)
        };
        // The URL of the current run takes precedence: a port that is in use is replaced at start-up, so the
        // configured port may belong to another process.
        app.deploys.running_url(worktree.canonical()).unwrap_or_else(|| {
            let port = deployment.map_or_else(detected, |deployment| deployment.port);
            port.map(|port| format!("http://localhost:{port}"))
        })
    });
    let url = url.await?;
    let port = url.as_deref().and_then(LoopbackUrl::parse).map(|url| url.port());
    // A TCP connection is sufficient evidence; the server may answer `/` with any status.
    let active = match port {
        Some(port) => accepts_connections(port).await,
        None => false,
    };
    Ok(Json(ExistingAnswer { active, url: url.filter(|_| active) }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(health), &[])
}

pub(crate) fn existing_endpoint() -> Endpoint {
    Endpoint::new(
        routes!(check_existing),
        &[Source::Path(At::Body("repoPath")), Source::Path(At::Body("worktreePath"))],
    )
}
