//! Why a desktop does not take a command.

use loopgate_api::link::CommandAck;
use thiserror::Error;

use super::signing::SigningRejection;

/// The reason of a rejecting acknowledgement: its text is exact, its code stable.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Rejection {
    /// The desktop is not set up.
    #[error("onboarding not completed")]
    OnboardingNotCompleted,
    /// No operation has this path.
    #[error("operationId/path mismatch")]
    OperationPathMismatch,
    /// The gateway cannot be reached, and why.
    #[error("gateway recovering: {0}")]
    GatewayRecovering(String),
    /// The user paused commands from the control plane.
    #[error("cloud commands paused by user")]
    Paused,
    /// The command has no id.
    #[error("commandId is required")]
    MissingCommandId,
    /// Not one of the five methods.
    #[error("unsupported method")]
    UnsupportedMethod,
    /// The path is not the gateway's.
    #[error("path must start with /api/gateway/")]
    ForeignPath,
    /// It is not signed as it must be.
    #[error(transparent)]
    Unauthorized(#[from] SigningRejection),
    /// The body of a command about a browser key does not read.
    #[error(
        "invalid browser command key {} payload",
        if *revokes { "revocation" } else { "approval request" }
    )]
    InvalidKeyReference {
        /// Whether it takes the key away.
        revokes: bool,
    },
    /// It is about a key for another desktop.
    #[error("browser command key target context mismatch")]
    KeyContextMismatch,
    /// The key could not be taken out of its file.
    #[error("browser command key revocation failed")]
    RevocationFailed,
    /// It came after its own end.
    #[error("command expired")]
    Expired,
    /// Too many commands wait.
    #[error("queue full")]
    QueueFull,
}

impl Rejection {
    /// Stable identifier of the case.
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
