//! `GET /api/gateway/git/user`: who the code host takes the user for.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::operation::OperationId;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::in_own_words;
use crate::answer::{Answer, Failure};
use crate::app::App;
use crate::router::Route;

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
async fn user(State(app): State<App>) -> Answer<GitUser> {
    let login = app.code_host.login().await.map_err(in_own_words(UNKNOWN))?;
    Ok(Json(GitUser { login: login.ok_or_else(|| Failure::failed("Could not determine GitHub user"))? }))
}

pub(crate) fn route() -> Route {
    Route::new(routes!(user), OperationId::GitPr, &[])
}
