//! Upload and download of loop files with signed URLs.

use axum::extract::{Path, Request, State};
use bytes::Bytes;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::ControlPlaneState;
use crate::envelope::Data;
use crate::error::{ApiError, ApiResult, ErrorResponses, not_found};
use crate::extract::{Query, bytes};
use crate::store::now;

/// Query parameters of a signed URL.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Signature {
    /// Expiry, in seconds since the Unix epoch.
    pub exp: i64,
    /// Signed method, `GET` or `PUT`.
    pub method: String,
    /// Signature in base64url without padding.
    pub sig: String,
}

impl Signature {
    fn check(&self, app: &ControlPlaneState, method: &str, key: &str) -> ApiResult<()> {
        let is_valid = self.method == method && app.storage.verify(method, key, self.exp, &self.sig, now());
        if is_valid {
            Ok(())
        } else {
            Err(ApiError::new(StatusCode::FORBIDDEN, "Invalid or expired signature"))
        }
    }
}

/// Result of an upload.
#[derive(Debug, Serialize, ToSchema)]
pub struct StoredObject {
    /// Always `true`; failures have an error status.
    pub stored: bool,
}

/// Stores a file of at most 50 MiB. The signature in the URL is the only credential.
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
    let bytes = bytes(request).await?;
    app.storage.put(&key, bytes).await?;
    Ok(Data::new(StoredObject { stored: true }))
}

/// Returns a stored file. The signature in the URL is the only credential.
#[utoipa::path(get, path = "/storage/{key}", tag = "storage", params(("key" = String, Path), Signature),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream"), ErrorResponses))]
pub async fn get(
    State(app): State<ControlPlaneState>,
    Path(key): Path<String>,
    Query(signature): Query<Signature>,
) -> ApiResult<([(&'static str, &'static str); 2], Bytes)> {
    signature.check(&app, "GET", &key)?;
    let bytes = app.storage.get(&key).await?.ok_or_else(|| not_found("Object"))?;
    // Files come from runners and are untrusted: without these headers a browser would render stored HTML in
    // the control plane's origin.
    Ok(([("content-type", "application/octet-stream"), ("content-disposition", "attachment")], bytes))
}
