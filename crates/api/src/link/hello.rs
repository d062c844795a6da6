//! Handshake of a connection: the desktop's hello and the control plane's response.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use thiserror::Error;
use utoipa::ToSchema;
use uuid::Uuid;

use super::lenient;

/// First event that a desktop sends on a connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// Target id of the last acknowledgement; absent on the first connection after a start.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub compute_target_id: Option<Uuid>,
    /// Stable id of the installation; absent from desktops without one.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub gateway_id: Option<Uuid>,
    /// `1` when `gateway_id` is present, otherwise absent.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub desktop_security_upgrade_protocol_version: Option<u32>,
    /// Host name of the machine.
    pub machine_name: String,
    /// Operating system: `darwin`, `linux` or `win32`.
    pub platform: String,
    /// Version of the `code` plugin, or `unknown`.
    pub plugin_version: String,
    /// Version of the desktop program; absent from old desktops.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub desktop_client_version: Option<String>,
    /// Version of the gateway's wire protocol; absent from old desktops.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub gateway_protocol_version: Option<String>,
    /// Ids of the operations that the desktop supports.
    #[serde(deserialize_with = "lenient::list")]
    pub supported_operations: Vec<String>,
    /// Maximum number of commands that run concurrently, at least 1.
    pub max_in_flight_commands: u32,
    /// SHA-256 of the JSON array of allowed directories, in lower-case hex.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub allowed_directories_hash: String,
    /// Open object with `commandSigning`, `loopRunnerRefreshSupported`, …, each `true` or absent, and
    /// `gatewayPort`, the port of the gateway on loopback.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub capabilities: Map<String, Value>,
}

/// Error for a hello with a missing or invalid required member.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid hello: {0}")]
pub struct InvalidHello(pub String);

impl Hello {
    /// Deserializes and validates the payload of a hello.
    ///
    /// # Errors
    /// Fails with [`InvalidHello`], which names the missing or invalid member.
    pub fn parse(data: &Value) -> Result<Self, InvalidHello> {
        let hello = Self::deserialize(data).map_err(|error| InvalidHello(error.to_string()))?;
        // Both are shown to users and identify the machine.
        let blank = |text: &str| text.trim().is_empty();
        if blank(&hello.machine_name) || blank(&hello.platform) {
            return Err(InvalidHello("machineName and platform must not be blank".to_owned()));
        }
        if hello.max_in_flight_commands == 0 {
            return Err(InvalidHello("maxInFlightCommands must be at least 1".to_owned()));
        }
        Ok(hello)
    }

    /// Returns the capabilities in the form in which the control plane stores them: those of the hello, and
    /// further members of it, null when absent.
    #[must_use]
    pub fn stored_capabilities(&self) -> Map<String, Value> {
        let mut capabilities = self.capabilities.clone();
        let members = [
            ("maxInFlightCommands", json!(self.max_in_flight_commands)),
            ("allowedDirectoriesHash", json!(self.allowed_directories_hash)),
            ("socketProtocolVersion", json!("1")),
            ("pluginVersion", json!(self.plugin_version)),
            ("desktopClientVersion", json!(self.desktop_client_version)),
            ("gatewayProtocolVersion", json!(self.gateway_protocol_version)),
            ("desktopSecurityUpgradeProtocolVersion", json!(self.desktop_security_upgrade_protocol_version)),
        ];
        capabilities.extend(members.map(|(name, value)| (name.to_owned(), value)));
        capabilities
    }
}

/// Capabilities that the control plane offers on this connection; only a literal `true` enables one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerCapabilities {
    /// Whether the server relays signed commands.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "is_false")]
    pub compute_target_signing: bool,
    /// Whether the server accepts agent sessions for synchronization.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "is_false")]
    pub agent_session_sync: bool,
}

impl ServerCapabilities {
    /// Returns whether the server offers no capability.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        !self.compute_target_signing && !self.agent_session_sync
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// Registration of a connection. Sent again later, with one resume entry, when the server detects a gap in
/// the events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HelloAck {
    /// Id of the compute target that represents this desktop.
    pub compute_target_id: Uuid,
    /// Id of this connection, for correlation in logs.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    /// Current time by the server's clock, ISO 8601.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub server_time: String,
    /// Capabilities of the server; absent when it offers none.
    #[serde(
        default,
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "ServerCapabilities::is_empty"
    )]
    pub server_capabilities: ServerCapabilities,
    /// Last received sequence number by command id, from which the desktop resumes.
    #[serde(default, deserialize_with = "lenient::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub resume_from_sequence: BTreeMap<String, u64>,
}

/// Reason why a hello was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NackReason {
    /// The new compute target could not be registered.
    ComputeTargetRegisterFailed,
    /// The existing compute target could not be updated.
    ComputeTargetUpdateFailed,
    /// The compute target could not be marked online.
    OnlineStateUpdateFailed,
    /// The pending commands could not be loaded.
    PendingCommandsLookupFailed,
    /// The hello has a missing or invalid member.
    InvalidHello,
    /// The gateway id belongs to another user or organization.
    GatewayConflict,
    /// Any other error, including reasons unknown to this version.
    #[serde(other)]
    InternalError,
}

impl NackReason {
    /// Returns the wire name, for example `invalid_hello`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ComputeTargetRegisterFailed => "compute_target_register_failed",
            Self::ComputeTargetUpdateFailed => "compute_target_update_failed",
            Self::OnlineStateUpdateFailed => "online_state_update_failed",
            Self::PendingCommandsLookupFailed => "pending_commands_lookup_failed",
            Self::InvalidHello => "invalid_hello",
            Self::GatewayConflict => "gateway_conflict",
            Self::InternalError => "internal_error",
        }
    }

    /// Returns the code with which the server closes the connection after this reason.
    #[must_use]
    pub const fn close_code(self) -> u16 {
        match self {
            Self::InvalidHello => super::close::MALFORMED,
            Self::GatewayConflict => super::close::GATEWAY_CONFLICT,
            _ => super::close::INTERNAL,
        }
    }
}

impl fmt::Display for NackReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Rejection of a hello; the server then closes the connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HelloNack {
    /// Reason for the rejection.
    pub reason: NackReason,
    /// Explanation for the user; absent when there is none.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl From<NackReason> for HelloNack {
    fn from(reason: NackReason) -> Self {
        Self { reason, message: None }
    }
}
