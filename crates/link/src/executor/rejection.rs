//! Reasons for which a desktop rejects a command.

use loopgate_api::link::CommandAck;
use thiserror::Error;

use super::signing::SigningRejection;

/// Reason of a rejecting acknowledgement. Clients compare both the message and the code.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Rejection {
    /// Onboarding of the desktop is not complete.
    #[error("onboarding not completed")]
    OnboardingNotCompleted,
    /// No operation matches the path.
    #[error("operationId/path mismatch")]
    OperationPathMismatch,
    /// The gateway is unreachable, with the reason.
    #[error("gateway recovering: {0}")]
    GatewayRecovering(String),
    /// The user has paused commands from the control plane.
    #[error("cloud commands paused by user")]
    Paused,
    /// The command has no id.
    #[error("commandId is required")]
    MissingCommandId,
    /// The method is not supported by the gateway.
    #[error("unsupported method")]
    UnsupportedMethod,
    /// The path does not belong to the gateway.
    #[error("path must start with /api/gateway/")]
    ForeignPath,
    /// The required signature is missing or not valid.
    #[error(transparent)]
    Unauthorized(#[from] SigningRejection),
    /// The body of a browser key command is not valid.
    #[error(
        "invalid browser command key {} payload",
        if *revokes { "revocation" } else { "approval request" }
    )]
    InvalidKeyReference {
        /// Whether the command revokes the key.
        revokes: bool,
    },
    /// The command is addressed to another desktop.
    #[error("browser command key target context mismatch")]
    KeyContextMismatch,
    /// The key could not be removed from the file of authorized keys.
    #[error("browser command key revocation failed")]
    RevocationFailed,
    /// The command arrived after its expiry.
    #[error("command expired")]
    Expired,
    /// The queue has reached its limit.
    #[error("queue full")]
    QueueFull,
}

impl Rejection {
    /// Returns the stable error code.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::OnboardingNotCompleted => "onboarding_not_completed",
            Self::OperationPathMismatch => "operation_path_mismatch",
            Self::GatewayRecovering(_) => "gateway_recovering",
            Self::Paused => "commands_paused",
            Self::MissingCommandId => "missing_field",
            Self::UnsupportedMethod => "unsupported_method",
            Self::ForeignPath => "path_not_allowed",
            Self::Unauthorized(rejection) => rejection.code(),
            Self::InvalidKeyReference { .. } => "invalid_key_reference",
            Self::KeyContextMismatch => "key_context_mismatch",
            Self::RevocationFailed => "revocation_failed",
            Self::Expired => CommandAck::EXPIRED,
            Self::QueueFull => "queue_full",
        }
    }
}
