#![doc = include_str!("../README.md")]

mod activity;
mod app;
mod approval;
mod blocking;
mod config;
#[cfg(unix)]
mod control;
mod error;
mod extract;
mod gateway;
mod health;
mod lenient;
mod pipeline;
mod response;
mod route;
mod router;
mod routes;
mod server;

#[cfg(test)]
mod tests;

pub use activity::{ActivityKind, ActivityLog, RequestRecord};
pub use approval::{
    AlwaysAllowRule, ApprovalEachTimeError, ApprovalEvent, ApprovalPolicy, Approvals, Coverage, Decision,
    Effect, PendingApproval, Remember, ResolvedApproval,
};
pub use config::{GatewayConfig, ServerLimits, SignIn};
#[cfg(unix)]
pub use control::{CONTROL_SOCKET, SupportReport};
pub use gateway::{Gateway, GatewayService};
pub use server::connections::raise_descriptor_limit;
pub use server::health::ListenerHealth;
pub use server::limited::LimitedServer;
pub use server::listener::{BindError, BoundGateway};

/// Returns the OpenAPI document of all routes that this build serves.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    router::document()
}
