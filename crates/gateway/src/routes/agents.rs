//! The providers of the gateway, for every route that asks one.

use std::sync::Arc;

use http::Method;
use loopgate_agents::Agents;
use loopgate_api::provider::ProviderId;

use crate::app::App;
use crate::error::HttpError;

/// A gateway may run without agents; it then starts nothing.
pub(super) fn agents_of<'a>(app: &'a App, path: &str) -> Result<&'a Arc<Agents>, HttpError> {
    app.agents.as_ref().ok_or_else(|| HttpError::not_implemented(&Method::POST, path))
}

/// The id of a provider that a request names.
pub(super) fn known_provider(app: &App, name: &str) -> Result<ProviderId, HttpError> {
    let is_known = |id: &ProviderId| match &app.agents {
        Some(agents) => agents.providers.get(id).is_some(),
        None => [ProviderId::ASSISTANT, ProviderId::REVIEWER].contains(id),
    };
    ProviderId::parse(name).filter(is_known).ok_or_else(|| HttpError::bad_request("unsupported provider"))
}
