//! `loopgate openapi`: prints the description of an interface.

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

/// Print the description of an interface as JSON: OpenAPI, and JSON Schema for the frames of desktops.
#[derive(Debug, Args)]
pub struct OpenapiArgs {
    /// Which interface.
    interface: ApiName,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ApiName {
    /// The gateway on loopback.
    Gateway,
    /// The control plane.
    ControlPlane,
    /// The frames between desktops and the control plane.
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
            // Who asked has read enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
            written => Ok(written.map(|()| ExitCode::SUCCESS)?),
        }
    }
}
