//! `GET /api/gateway/git/user`: who the code host takes the user for.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::operation::OperationId;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::failed;
use crate::answer::Answer;
use crate::app::App;
use crate::router::Route;

/// The user at the code host.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GitUser {
    login: String,
}

/// Tell who is logged in at the code host
#[utoipa::path(get, path = "/api/gateway/git/user", operation_id = "git_user", tag = "pull requests",
    responses(
        (status = 200, body = GitUser, description = "The login"),
        (status = 500, body = ErrorBody, description = "Nobody, or the program cannot tell"),
    ))]
async fn user(State(app): State<App>) -> Answer<GitUser> {
    match app.code_host.login().await {
        Ok(Some(login)) => Ok(Json(GitUser { login })),
        Ok(None) => Err(failed("Could not determine GitHub user")),
        Err(error) => {
            tracing::debug!(%error, "the code host does not tell who is logged in");
            Err(failed("Failed to get GitHub user. Ensure gh is installed and authenticated."))
        }
    }
}

pub(crate) fn route() -> Route {
    Route::new(routes!(user), OperationId::GitPr)
}
