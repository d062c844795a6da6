//! The ready file, which Loopgate writes once it accepts requests.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use tokio::process::Child;

use crate::wait::Changes;

/// Upper bound for the start of a debug build on a loaded machine.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Content of the ready file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    /// Origin of the web app; empty when only the gateway runs.
    #[serde(default)]
    pub page_url: String,
    /// Page with a sign-in link that works once; empty when only the gateway runs.
    #[serde(default)]
    pub sign_in_url: String,
    pub gateway_port: u16,
    /// Origin of the API; empty when only the gateway runs.
    #[serde(default)]
    pub api_origin: String,
}

/// Waits for the ready file of a process. `changes` must watch its directory since before the start of the
/// process, or the only event may be missed.
pub(super) async fn wait_ready(
    child: &mut Child,
    changes: &mut Changes,
    file: &Path,
    output: &Path,
) -> anyhow::Result<Ready> {
    let printed = || std::fs::read_to_string(output).unwrap_or_default();
    // The file is complete when it appears: it is written to a temporary name and renamed.
    let appeared = async {
        loop {
            if let Ok(text) = std::fs::read_to_string(file) {
                return anyhow::Ok(text);
            }
            changes.next().await?;
        }
    };
    let text = tokio::select! {
        appeared = tokio::time::timeout(START_LIMIT, appeared) => match appeared {
            Ok(text) => text?,
            Err(_) => bail!("Loopgate was not ready within {START_LIMIT:?}: {}", printed()),
        },
        status = child.wait() => bail!("Loopgate exited before it was ready ({}): {}", status?, printed()),
    };
    serde_json::from_str(&text).with_context(|| format!("parse the ready file: {text}"))
}
