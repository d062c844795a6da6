//! The parts of a support report about a loop that are not in a file.

use loopgate_api::ids::LoopId;
use loopgate_api::redact;
use loopgate_runtime::LoopDiagnostics;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Control;
use super::error::ControlError;

/// Everything for a report that is not in a file of the loop; without secrets.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SupportReport {
    /// What is known of the loop.
    #[serde(rename = "loop")]
    pub about: LoopDiagnostics,
    /// The rows of the health check, as they are now.
    pub health: Value,
    /// The settings in force.
    pub settings: Value,
    /// Version of this program, and what it runs on.
    pub versions: Value,
}

impl Control {
    /// The report about a loop; without an id about the one that was started last.
    pub(super) async fn support(&self, loop_id: Option<&str>) -> Result<Value, ControlError> {
        let runtime = self.runtime.as_ref().ok_or_else(|| ControlError::invalid("no loops run here"))?;
        let which = loop_id.map(|text| {
            text.trim()
                .parse::<LoopId>()
                .map_err(|_| ControlError::invalid(format!("{text} is no id of a loop")))
        });
        let which = which.transpose()?;
        let found = runtime
            .support_reports
            .loop_diagnostics(which)
            .await
            .map_err(|error| ControlError::failed(error.to_string()))?;
        let about = found.ok_or_else(|| match which {
            Some(id) => ControlError::not_found(format!(
                "this desktop knows no loop {id}; its page shows the id of each loop"
            )),
            None => ControlError::not_found("no loop has run on this desktop yet"),
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
