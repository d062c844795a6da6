//! Access to the agent providers, shared by the routes that start one.

use std::sync::Arc;

use http::Method;
use loopgate_agents::Agents;
use loopgate_api::provider::ProviderId;

use crate::app::App;
use crate::error::HttpError;

/// Returns the agents of this gateway.
///
/// # Errors
/// 501 when the gateway runs without agents.
pub(super) fn agents_of<'a>(app: &'a App, path: &str) -> Result<&'a Arc<Agents>, HttpError> {
    app.agents.as_ref().ok_or_else(|| HttpError::not_implemented(&Method::POST, path))
}

/// Parses the provider id in a request.
///
/// # Errors
/// 400 when no provider with this id is registered.
pub(super) fn parse_provider(app: &App, name: &str) -> Result<ProviderId, HttpError> {
    let is_registered = |id: &ProviderId| match &app.agents {
        Some(agents) => agents.providers.get(id).is_some(),
        // Without agents the registry does not exist. Chat histories of the built-in providers stay readable.
        None => [ProviderId::ASSISTANT, ProviderId::REVIEWER].contains(id),
    };
    ProviderId::parse(name)
        .filter(is_registered)
        .ok_or_else(|| HttpError::bad_request("unsupported provider"))
}
