//! The loopback HTTP server that gives a web page, and the executor of the link, safe access to
//! this machine.
//!
//! One sequence ([`pipeline`]) stands before every route; one table ([`router`]) names them all.
//! Handlers are thin: what git, loops or programs do is the business of other rooms.

mod activity;
mod answer;
mod app;
mod approval;
mod config;
mod connection;
mod connections;
#[cfg(unix)]
mod control;
mod discovery;
mod exchange;
mod extract;
mod facts;
mod fallback;
mod gateway;
mod health;
mod in_flight;
mod limited;
mod listener;
mod pipeline;
mod router;
mod routes;
mod sessions;
mod throttle;
mod ticket_files;

#[cfg(test)]
mod tests;

pub use activity::{Activity, ActivityKind, ActivityLog};
pub use approval::{
    AlwaysAllowRule, ApprovalEvent, ApprovalPolicy, Approvals, AskedEachTime, Coverage, Decision, Effect,
    PendingApproval, Remember, ResolvedApproval,
};
pub use config::{GatewayConfig, Limits, SignIn};
pub use connections::raise_descriptor_limit;
#[cfg(unix)]
pub use control::{CONTROL_SOCKET, SupportReport};
pub use gateway::{Gateway, GatewayService};
pub use health::Health;
pub use limited::serve_limited;
pub use listener::{BindError, Bound};

/// The OpenAPI document of the routes that are built.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    router::document()
}
