//! Files of loops, behind signed URLs.

use axum::extract::{Path, Request, State};
use bytes::Bytes;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::ControlPlaneState;
use crate::envelope::Data;
use crate::error::{ApiError, ApiResult, ErrorResponses, not_found};
use crate::extract::{Query, bytes};
use crate::storage::OBJECT_LIMIT;
use crate::store::now;

/// What a URL was signed with.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Signature {
    /// Unix seconds.
    pub exp: i64,
    /// `GET` or `PUT`.
    pub method: String,
    /// Base64url.
    pub sig: String,
}

impl Signature {
    fn check(&self, app: &ControlPlaneState, method: &str, key: &str) -> ApiResult<()> {
        let good = self.method == method && app.storage.verify(method, key, self.exp, &self.sig, now());
        if good { Ok(()) } else { Err(ApiError::new(StatusCode::FORBIDDEN, "Invalid or expired signature")) }
    }
}

/// Whether the file was kept.
#[derive(Debug, Serialize, ToSchema)]
pub struct StoredObject {
    /// Always `true`.
    pub stored: bool,
}

/// Keeps a file of at most 50 MiB.
#[utoipa::path(put, path = "/storage/{key}", tag = "storage", params(("key" = String, Path), Signature),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = Data<StoredObject>), ErrorResponses))]
pub async fn put(
    State(app): State<ControlPlaneState>,
    Path(key): Path<String>,
    Query(signature): Query<Signature>,
    request: Request,
) -> ApiResult<Data<StoredObject>> {
    signature.check(&app, "PUT", &key)?;
    let bytes = bytes(request, OBJECT_LIMIT).await?;
    app.storage.put(&key, bytes).await?;
    Ok(Data::new(StoredObject { stored: true }))
}

/// Reads a file.
#[utoipa::path(get, path = "/storage/{key}", tag = "storage", params(("key" = String, Path), Signature),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream"), ErrorResponses))]
pub async fn get(
    State(app): State<ControlPlaneState>,
    Path(key): Path<String>,
    Query(signature): Query<Signature>,
) -> ApiResult<([(&'static str, &'static str); 2], Bytes)> {
    signature.check(&app, "GET", &key)?;
    let bytes = app.storage.get(&key).await?.ok_or_else(|| not_found("Object"))?;
    // Whatever a runner stored, a browser must not run it.
    Ok(([("content-type", "application/octet-stream"), ("content-disposition", "attachment")], bytes))
}
