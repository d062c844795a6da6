//! What the descriptions of several routes about tickets share.

use loopgate_api::error::ErrorBody;
use utoipa::{IntoParams, IntoResponses};

/// The repository that a ticket belongs to.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "describes the query in the OpenAPI document; it is read member by member")]
pub(super) struct RepositoryQuery {
    /// Path of the repository
    repo: String,
}

/// Why nothing is read of a ticket.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "describes refusals in the OpenAPI document")]
pub(super) enum TicketErrors {
    /// No repository given
    #[response(status = 400)]
    NoRepository(ErrorBody),
    /// Outside the sandbox
    #[response(status = 403)]
    Outside(ErrorBody),
}
