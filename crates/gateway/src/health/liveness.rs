//! The liveness document: whether a gateway is here, and which.

use serde::Serialize;
use utoipa::ToSchema;

/// Path of the liveness probe.
pub(crate) const LIVENESS_PATH: &str = "/health";

/// What a client finds on the port.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"status": "ok", "machineName": "workbench", "capabilities": {"tools": {"assistant": false, "reviewer": false, "git": false, "codeHost": false, "python3": false}, "versions": {}, "commandSigning": true}, "gatewayId": "0197c1a2-7e64-7cc3-9f0a-3d2b6f0e8a11", "onboardingCompleted": true, "version": "0.13.18", "port": 19432}))]
#[schema(as = Health)]
pub(crate) struct LivenessResponse {
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
