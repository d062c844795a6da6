//! What a Loopgate says about itself once it answers, and waiting for it.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use tokio::process::Child;

use crate::wait::Changes;

/// How long it may take to answer.
const START_LIMIT: Duration = Duration::from_secs(60);

/// The ready file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    /// Origin of the web app; empty when only the gateway runs.
    #[serde(default)]
    pub page_url: String,
    /// Page with a sign-in link that works once; empty when only the gateway runs.
    #[serde(default)]
    pub sign_in_url: String,
    /// Port of the gateway.
    pub gateway_port: u16,
    /// Origin of the API; empty when only the gateway runs.
    #[serde(default)]
    pub api_origin: String,
}

/// Waits for the ready file of a process. `changes` listens in its directory, and did so before the
/// process was started.
pub(super) async fn wait_ready(
    child: &mut Child,
    changes: &mut Changes,
    file: &Path,
    output: &Path,
) -> anyhow::Result<Ready> {
    let printed = || std::fs::read_to_string(output).unwrap_or_default();
    // The file appears whole: it is written beside its place and renamed.
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
            Err(_) => bail!("it was not ready within {START_LIMIT:?}: {}", printed()),
        },
        ended = child.wait() => bail!("it ended before it was ready ({}): {}", ended?, printed()),
    };
    serde_json::from_str(&text).with_context(|| format!("the ready file says {text}"))
}
