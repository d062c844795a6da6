//! `loopgate openapi`: prints the description of an interface.

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

/// Print the description of an interface as OpenAPI JSON.
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
}

impl OpenapiArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let document = match self.interface {
            ApiName::Gateway => loopgate_gateway::openapi(),
            ApiName::ControlPlane => loopgate_control_plane::openapi(),
        };
        match writeln!(std::io::stdout(), "{}", document.to_pretty_json()?) {
            // Who asked has read enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
            written => Ok(written.map(|()| ExitCode::SUCCESS)?),
        }
    }
}
