//! `GET /api/gateway/git/user`: who the code host takes the user for.

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

/// What is said when the program cannot tell.
const UNKNOWN: &str = "Failed to get GitHub user. Ensure gh is installed and authenticated.";

/// The user at the code host.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"login": "octo-dev"}))]
pub(crate) struct GitUser {
    login: String,
}

/// Tell who is logged in at the code host
#[utoipa::path(get, path = "/api/gateway/git/user", operation_id = "git_user", tag = "pull requests",
    responses(
        (status = 200, body = GitUser, description = "The login"),
        (status = 500, body = ErrorBody, description = "Nobody, or the program cannot tell", example = json!(ErrorBody::new(500, "Could not determine GitHub user"))),
    ))]
async fn user(State(app): State<App>) -> JsonResult<GitUser> {
    let login = app.code_host.login().await.map_err(with_sentence(UNKNOWN))?;
    Ok(Json(GitUser { login: login.ok_or_else(|| HttpError::failed("Could not determine GitHub user"))? }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(user), &[])
}
