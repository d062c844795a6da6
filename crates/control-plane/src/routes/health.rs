//! Liveness and readiness probes.

use axum::extract::State;
use http::StatusCode;
use sea_orm::ConnectionTrait;
use sea_orm::prelude::*;

use crate::app::ControlPlaneState;
use crate::error::{ApiError, ApiResult};
use crate::store::entity::instance;

/// Returns 200 while the process serves requests. Does not use the database, so that a database outage does
/// not make an orchestrator restart the process.
#[utoipa::path(get, path = "/health", tag = "health", responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn health() -> &'static str {
    "OK"
}

/// Returns 200 while the process serves requests, like `GET /health`.
#[utoipa::path(get, path = "/health/live", tag = "health", responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn live() -> &'static str {
    "OK"
}

/// Returns 200 while new requests should be sent to this instance; 503 with the reason when it shuts down, the database
/// cannot be written, or this version cannot use its schema.
#[utoipa::path(get, path = "/health/ready", tag = "health", responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn ready(State(app): State<ControlPlaneState>) -> ApiResult<&'static str> {
    if app.drain.is_cancelled() {
        return Err(unavailable("Shutting down"));
    }
    // Changes nothing, and fails like any other write.
    instance::Entity::delete_by_id(Uuid::nil())
        .exec(app.store.writer())
        .await
        .map_err(|_| unavailable("Database cannot be written"))?;
    match app.store.schema().await.map(|schema| schema.obstacle) {
        Ok(None) => Ok("OK"),
        Ok(Some(_)) => Err(unavailable("Database has the schema of another version")),
        Err(_) => Err(unavailable("Database unavailable")),
    }
}

/// Returns 200 while the database answers, 503 otherwise.
#[utoipa::path(get, path = "/health/db", tag = "health", responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn database(State(app): State<ControlPlaneState>) -> ApiResult<&'static str> {
    app.store
        .reader()
        .execute_unprepared("SELECT 1")
        .await
        .map_err(|_| unavailable("Database unavailable"))?;
    Ok("OK")
}

fn unavailable(reason: &str) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, reason)
}
