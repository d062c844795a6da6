//! The handshake: what a desktop says of itself, and what the control plane answers.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use thiserror::Error;
use utoipa::ToSchema;
use uuid::Uuid;

use super::lenient;

/// First event of a desktop on a connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// Target of the last acknowledgement; absent on the first connection of a run.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub compute_target_id: Option<Uuid>,
    /// Stable id of the installation.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub gateway_id: Option<Uuid>,
    /// `1` when `gateway_id` is present.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub desktop_security_upgrade_protocol_version: Option<u32>,
    /// Host name.
    pub machine_name: String,
    /// `darwin`, `linux` or `win32`.
    pub platform: String,
    /// Version of the `code` plugin, or `unknown`.
    pub plugin_version: String,
    /// Version of the desktop program.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub desktop_client_version: Option<String>,
    /// Version of the gateway's wire protocol.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub gateway_protocol_version: Option<String>,
    /// Operation ids that the desktop serves.
    #[serde(deserialize_with = "lenient::list")]
    pub supported_operations: Vec<String>,
    /// Commands that run at once, at least 1.
    pub max_in_flight_commands: u32,
    /// Lower-case hex SHA-256 of the JSON array of allowed directories.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub allowed_directories_hash: String,
    /// Open object: `commandSigning`, `loopRunnerRefreshSupported`, …, each `true` or absent; and
    /// `gatewayPort`, the port of the gateway on loopback.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub capabilities: Map<String, Value>,
}

/// A hello that lacks what every desktop sends.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid hello: {0}")]
pub struct InvalidHello(pub String);

impl Hello {
    /// Reads and checks the payload of a hello.
    ///
    /// # Errors
    /// [`InvalidHello`] names the member that is missing or wrong.
    pub fn parse(data: &Value) -> Result<Self, InvalidHello> {
        let hello = Self::deserialize(data).map_err(|error| InvalidHello(error.to_string()))?;
        let blank = |text: &str| text.trim().is_empty();
        if blank(&hello.machine_name) || blank(&hello.platform) {
            return Err(InvalidHello("machineName and platform must not be blank".to_owned()));
        }
        if hello.max_in_flight_commands == 0 {
            return Err(InvalidHello("maxInFlightCommands must be at least 1".to_owned()));
        }
        Ok(hello)
    }

    /// The capabilities as the control plane stores them with the target: those of the hello, and
    /// the facts that every hello carries, null where this one does not.
    #[must_use]
    pub fn stored_capabilities(&self) -> Map<String, Value> {
        let mut stored = self.capabilities.clone();
        let facts = [
            ("maxInFlightCommands", json!(self.max_in_flight_commands)),
            ("allowedDirectoriesHash", json!(self.allowed_directories_hash)),
            ("socketProtocolVersion", json!("1")),
            ("pluginVersion", json!(self.plugin_version)),
            ("desktopClientVersion", json!(self.desktop_client_version)),
            ("gatewayProtocolVersion", json!(self.gateway_protocol_version)),
            ("desktopSecurityUpgradeProtocolVersion", json!(self.desktop_security_upgrade_protocol_version)),
        ];
        stored.extend(facts.map(|(name, value)| (name.to_owned(), value)));
        stored
    }
}

/// What the control plane can do for this connection; only literal `true` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerCapabilities {
    /// Signed commands.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "is_false")]
    pub compute_target_signing: bool,
    /// Session synchronisation.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "is_false")]
    pub agent_session_sync: bool,
}

impl ServerCapabilities {
    /// Whether nothing is offered.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        !self.compute_target_signing && !self.agent_session_sync
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// The connection is registered; also sent later, with one resume entry, when a gap was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HelloAck {
    /// The desktop's target.
    pub compute_target_id: Uuid,
    /// This connection; for correlation only.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    /// The server's clock, ISO 8601.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub server_time: String,
    /// Absent when nothing is offered.
    #[serde(
        default,
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "ServerCapabilities::is_empty"
    )]
    pub server_capabilities: ServerCapabilities,
    /// Command id → last sequence that the server has.
    #[serde(default, deserialize_with = "lenient::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub resume_from_sequence: BTreeMap<String, u64>,
}

/// Why a hello was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NackReason {
    /// The target could not be registered.
    ComputeTargetRegisterFailed,
    /// The known target could not be updated.
    ComputeTargetUpdateFailed,
    /// The target could not be set online.
    OnlineStateUpdateFailed,
    /// The outstanding commands could not be listed.
    PendingCommandsLookupFailed,
    /// The hello itself is wrong.
    InvalidHello,
    /// The gateway id belongs to another user or organization.
    GatewayConflict,
    /// Anything else, and reasons that this version does not know.
    #[serde(other)]
    InternalError,
}

impl NackReason {
    /// The reason as it travels.
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

    /// The close code that follows the refusal.
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

/// The hello was refused; the connection is closed after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HelloNack {
    /// Why.
    pub reason: NackReason,
    /// For a person.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl From<NackReason> for HelloNack {
    fn from(reason: NackReason) -> Self {
        Self { reason, message: None }
    }
}
