//! `loopgate openapi`: prints the description of an interface.

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

/// Print the description of an interface as JSON: OpenAPI, or JSON Schema for the link's frames.
#[derive(Debug, Args)]
pub struct OpenapiArgs {
    /// Interface whose description is printed.
    interface: ApiName,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ApiName {
    /// HTTP interface of the gateway on loopback.
    Gateway,
    /// HTTP interface of the control plane.
    ControlPlane,
    /// Frames of the WebSocket between desktops and the control plane.
    Link,
}

impl OpenapiArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let document = match self.interface {
            ApiName::Gateway => loopgate_gateway::openapi().to_pretty_json()?,
            ApiName::ControlPlane => loopgate_control_plane::openapi().to_pretty_json()?,
            ApiName::Link => serde_json::to_string_pretty(&loopgate_api::link::json_schema())?,
        };
        match writeln!(std::io::stdout(), "{document}") {
            // The reader closed the pipe early, as `head` does.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
            result => Ok(result.map(|()| ExitCode::SUCCESS)?),
        }
    }
}
