//! `loopgate control-plane`: the control plane and the web app alone.

use std::net::SocketAddr;
use std::process::ExitCode;

use clap::Args;
use url::Url;

use crate::args::CommonArgs;
use crate::embedded::{self, EmbeddedControlPlane};
use crate::home::{open_dir, stored_settings};
use crate::shutdown::Shutdown;
use crate::{banner, commands};

/// Run the control plane and the web app alone.
///
/// The first start makes an organization with its owner and prints a link that signs the owner in
/// once.
#[derive(Debug, Args)]
pub struct ControlPlaneArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// Address to listen on.
    #[arg(
        long,
        env = "LOOPGATE_CONTROL_PLANE_LISTEN",
        default_value = "127.0.0.1:19440",
        value_name = "ADDRESS"
    )]
    listen: SocketAddr,
    /// Origin under which desktops and browsers reach it. Default: http:// and the address.
    #[arg(long, env = "API_BASE_URL", value_name = "URL")]
    api_origin: Option<String>,
    /// Origin of the web app. Default: the same.
    #[arg(long, env = "LOOPGATE_WEB_APP_ORIGIN", value_name = "URL")]
    web_origin: Option<String>,
    /// Database: sqlite://<path>?mode=rwc or postgres://… Default: a file in the data directory.
    #[arg(long, env = "DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database: Option<String>,
    /// Name of the first owner, used by the first start alone.
    #[arg(long, env = "LOOPGATE_OWNER_NAME", default_value = "Owner", value_name = "NAME")]
    owner_name: String,
    /// E-mail address of the first owner.
    #[arg(long, env = "LOOPGATE_OWNER_EMAIL", default_value = "owner@localhost", value_name = "ADDRESS")]
    owner_email: String,
}

impl ControlPlaneArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let dir = open_dir(&self.common)?;
        let _log = commands::start_log(&dir, &self.common, stored_settings(&dir)?.as_ref())?;
        commands::block_on(async {
            let shutdown = Shutdown::on_signals(&dir)?;
            let listener = embedded::listen(self.listen, "--listen").await?;
            let origin = self.api_origin.unwrap_or(format!("http://{}", listener.local_addr()?));
            let web_origin = self.web_origin.unwrap_or_else(|| origin.clone());
            require_origin(&origin, "--api-origin (API_BASE_URL)")?;
            require_origin(&web_origin, "--web-origin (LOOPGATE_WEB_APP_ORIGIN)")?;
            let embedded =
                EmbeddedControlPlane::open(&dir, listener, &origin, &web_origin, self.database).await?;
            let owner = embedded.ensure_owner(&self.owner_name, &self.owner_email).await?;
            banner::print_control_plane(&origin, &embedded.sign_in_link(&owner).await?);
            if let Some(failed) = shutdown.last_failure() {
                tracing::warn!(%failed, "how the last run ended");
            }
            let serving = embedded.serve(shutdown.requested());
            shutdown.clone().bound(shutdown.part("controlPlane.stop", serving)).await
        })
    }
}

/// Desktops and pages are led there.
fn require_origin(origin: &str, given: &str) -> anyhow::Result<()> {
    let is_origin =
        Url::parse(origin).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    anyhow::ensure!(
        is_origin,
        "{given} must be a URL such as https://loopgate.example.com, not \"{origin}\""
    );
    Ok(())
}
