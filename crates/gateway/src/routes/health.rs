//! `GET /health`: whether a gateway is here, and which. The pipeline answers it from bytes that
//! are ready; this file says what they hold.

use serde::Serialize;
use utoipa::{OpenApi, ToSchema};

use crate::pipeline::body::BodyLimit;
use crate::router::{Auth, Route};

/// What a client finds on the port.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"status": "ok", "machineName": "workbench", "capabilities": {"tools": {"assistant": false, "reviewer": false, "git": false, "codeHost": false, "python3": false}, "versions": {}, "commandSigning": true}, "gatewayId": "0197c1a2-7e64-7cc3-9f0a-3d2b6f0e8a11", "onboardingCompleted": true, "version": "0.13.18", "port": 19432}))]
pub(crate) struct Health {
    /// Always `ok`.
    pub(crate) status: &'static str,
    /// Host name.
    pub(crate) machine_name: String,
    pub(crate) capabilities: Capabilities,
    /// Id of this installation.
    pub(crate) gateway_id: String,
    /// Whether set-up is complete.
    pub(crate) onboarding_completed: bool,
    /// Desktop version.
    pub(crate) version: String,
    /// Port that is really held.
    pub(crate) port: u16,
}

/// What this desktop can do; which programs it has is told only to who is signed in.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Capabilities {
    tools: Tools,
    versions: Versions,
    command_signing: bool,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self { tools: Tools::default(), versions: Versions {}, command_signing: true }
    }
}

#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Tools {
    assistant: bool,
    reviewer: bool,
    git: bool,
    code_host: bool,
    python3: bool,
}

/// Always empty here.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct Versions {}

/// The path of the route.
pub(crate) const PATH: &str = "/health";

/// Tell that a gateway is here
///
/// No credential. Never cached, never recorded.
#[utoipa::path(get, path = "/health", operation_id = "health", tag = "gateway",
    responses(
        (status = 200, body = Health, description = "A gateway is here"),
        (status = 403, body = loopgate_api::error::ErrorBody, description = "Called by a name that is not ours", example = json!(loopgate_api::error::ErrorBody::new(403, "host not allowed"))),
    ))]
#[expect(dead_code, reason = "carries the description; the pipeline answers from prepared bytes")]
fn health() {}

#[derive(OpenApi)]
#[openapi(paths(health))]
struct Description;

pub(crate) fn route() -> Route {
    Route::of_pipeline(Description::openapi(), Auth::None, BodyLimit::GENERIC)
}
