//! The response of the liveness probe, which also identifies the gateway.

use serde::Serialize;
use utoipa::ToSchema;

pub(crate) const LIVENESS_PATH: &str = "/health";

/// Identity and state of the gateway.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"status": "ok", "machineName": "workbench", "capabilities": {"tools": {"assistant": false, "reviewer": false, "git": false, "codeHost": false, "python3": false}, "versions": {}, "commandSigning": true}, "gatewayId": "0197c1a2-7e64-7cc3-9f0a-3d2b6f0e8a11", "onboardingCompleted": true, "version": "0.13.18", "port": 19432}))]
#[schema(as = Health)]
pub(crate) struct LivenessResponse {
    /// Always `ok`: a gateway that cannot serve does not respond.
    pub(crate) status: &'static str,
    /// Host name of this machine.
    pub(crate) machine_name: String,
    pub(crate) capabilities: Capabilities,
    /// UUID of this installation, stable across restarts.
    pub(crate) gateway_id: String,
    /// Whether onboarding is complete. Until then, all other routes respond with 403.
    pub(crate) onboarding_completed: bool,
    /// Version of the desktop.
    pub(crate) version: String,
    /// Port that the gateway is bound to.
    pub(crate) port: u16,
}

/// Capabilities of this desktop. The tools are always `false` here: this route needs no credential, and the
/// programs of a machine are only listed by the authenticated health check.
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

/// Always empty: versions are only listed by the authenticated health check.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct Versions {}
