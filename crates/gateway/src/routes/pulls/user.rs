//! `GET /api/gateway/git/user`: the account that is signed in at the code host.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::clone::with_sentence;
use crate::app::App;
use crate::error::{HttpError, JsonResult};
use crate::route::Endpoint;

// Also covers a missing program, which is why it contains the remedy.
const LOGIN_FAILED: &str = "Failed to get GitHub user. Ensure gh is installed and authenticated.";

/// Account at the code host.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"login": "octo-dev"}))]
pub(crate) struct GitUser {
    login: String,
}

/// Return the account that is signed in at the code host
#[utoipa::path(get, path = "/api/gateway/git/user", operation_id = "git_user", tag = "pull requests",
    responses(
        (status = 200, body = GitUser, description = "Login of the account"),
        (status = 500, body = ErrorBody, description = "Not signed in, or the code-host program failed", example = json!(ErrorBody::new(500, "Could not determine GitHub user"))),
    ))]
async fn user(State(app): State<App>) -> JsonResult<GitUser> {
    let login = app.code_host.login().await.map_err(with_sentence(LOGIN_FAILED))?;
    Ok(Json(GitUser { login: login.ok_or_else(|| HttpError::failed("Could not determine GitHub user"))? }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(user), &[])
}
