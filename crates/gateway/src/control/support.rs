//! Collects the parts of a support report that are not stored in files of the loop.

use loopgate_api::ids::LoopId;
use loopgate_api::redact;
use loopgate_runtime::LoopDiagnostics;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Control;
use super::error::ControlError;

/// Parts of a support report from the running process, with secrets redacted.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SupportReport {
    /// Diagnostics of the loop.
    #[serde(rename = "loop")]
    pub about: LoopDiagnostics,
    /// Checks of the health check at the time of the report.
    pub health: Value,
    /// The settings in effect.
    pub settings: Value,
    /// Version of Loopgate, operating system and architecture.
    pub versions: Value,
}

impl Control {
    /// Creates the report about a loop. Without an id, about the most recently started one.
    pub(super) async fn support(&self, loop_id: Option<&str>) -> Result<Value, ControlError> {
        let runtime = self
            .runtime
            .as_ref()
            .ok_or_else(|| ControlError::invalid("this gateway runs without a runtime and has no loops"))?;
        let loop_id = loop_id.map(|text| {
            text.trim()
                .parse::<LoopId>()
                .map_err(|_| ControlError::invalid(format!("{text} is not a loop id")))
        });
        let loop_id = loop_id.transpose()?;
        let diagnostics = runtime
            .support_reports
            .loop_diagnostics(loop_id)
            .await
            .map_err(|error| ControlError::failed(error.to_string()))?;
        let about = diagnostics.ok_or_else(|| match loop_id {
            Some(id) => ControlError::not_found(format!(
                "no loop {id} on this machine; the web app shows the id of each loop"
            )),
            None => ControlError::not_found("no loop has run on this machine yet"),
        })?;
        let checks = self.app.health.checks().await;
        let report = SupportReport {
            about,
            health: redact::json(json!(checks)),
            settings: redact::json(json!(*self.app.settings.get())),
            versions: json!({
                "loopgate": self.app.version,
                "os": std::env::consts::OS,
                "architecture": std::env::consts::ARCH,
            }),
        };
        Ok(json!(report))
    }
}
