//! Query parameters and error responses that several ticket routes share.

use loopgate_api::error::ErrorBody;
use utoipa::{IntoParams, IntoResponses};

/// Query that names the repository of a ticket.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "describes the query in the OpenAPI document; it is read member by member")]
pub(super) struct RepositoryQuery {
    /// Path of the repository's clone
    repo: String,
}

/// Errors of every route that resolves a ticket.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "describes refusals in the OpenAPI document")]
pub(super) enum TicketErrors {
    /// Repository path or ticket missing
    #[response(status = 400)]
    NoRepository(ErrorBody),
    /// Path outside the sandbox
    #[response(status = 403)]
    Outside(ErrorBody),
}
