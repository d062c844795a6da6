//! Requests JSON of a given shape from a provider.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use loopgate_agents::run::RunAnnouncement;
use loopgate_agents::{AgentRuns, NoStore, Provider, RunHandle, RunRequest, TurnRequest};
use loopgate_home::SandboxedPath;
use serde::de::DeserializeOwned;
use serde_json::Map;
use thiserror::Error;

use crate::json_text::last_object;

/// Run kind. No factory is registered for it, so after a restart these runs are terminated: their caller no
/// longer exists.
const KIND: &str = "structured-output";
/// Timeout of a response.
const TIME_LIMIT: Duration = Duration::from_secs(3 * 60);
/// Characters from the end of an invalid response that are quoted in the correction prompt.
const MAX_QUOTED: usize = 20_000;

/// Requests JSON of a given shape from a provider, which has no tools and read-only access.
pub struct StructuredOutput {
    runs: AgentRuns,
    provider: Arc<dyn Provider>,
    directory: SandboxedPath,
}

/// Reason for which there is no valid response.
#[derive(Debug, Error)]
pub enum StructuredOutputError {
    /// The provider could not be started.
    #[error("the provider cannot be started: {0}")]
    Start(#[from] io::Error),
    /// The provider's program failed.
    #[error("the provider failed: {0}")]
    Provider(String),
    /// The response is not valid, even after one correction.
    #[error("the provider's response is not valid: {0}")]
    Malformed(String),
}

impl StructuredOutput {
    /// Creates a client for this provider, whose program runs in the directory.
    #[must_use]
    pub const fn new(runs: AgentRuns, provider: Arc<dyn Provider>, directory: SandboxedPath) -> Self {
        Self { runs, provider, directory }
    }

    /// Sends the prompt, and parses a JSON object of type `T` that passes the check. An invalid response is
    /// sent back once, with the reason. Dropping the future terminates the provider's program.
    ///
    /// # Errors
    /// Fails with [`StructuredOutputError`] when the provider fails or its corrected response is not valid.
    pub async fn request<T: DeserializeOwned>(
        &self,
        prompt: &str,
        check: impl Fn(&T) -> Result<(), String>,
    ) -> Result<T, StructuredOutputError> {
        let answer = self.answer(prompt.to_owned()).await?;
        let problem = match read(&answer, &check) {
            Ok(value) => return Ok(value),
            Err(problem) => problem,
        };
        // Models write the JSON after their explanations, so the end is quoted.
        let skipped = answer.chars().count().saturating_sub(MAX_QUOTED);
        let quoted: String = answer.chars().skip(skipped).collect();
        let correction = format!(
            "{prompt}\n\nYou answered this before:\n\n{quoted}\n\nThat cannot be used: {problem}. Answer with nothing \
             but the corrected JSON."
        );
        let answer = self.answer(correction).await?;
        read(&answer, &check).map_err(StructuredOutputError::Malformed)
    }

    async fn answer(&self, prompt: String) -> Result<String, StructuredOutputError> {
        let request = RunRequest {
            provider: self.provider.clone(),
            turn: TurnRequest { prompt, ..TurnRequest::default() },
            fallback: None,
            directory: self.directory.clone(),
            directories: vec![self.directory.as_path().to_owned()],
            time_limit: TIME_LIMIT,
            announcement: RunAnnouncement::default(),
            kind: KIND,
            owner: Map::new(),
            store: Box::new(NoStore),
        };
        // A client that disconnects drops this future; its run must not continue unobserved.
        let run = StopOnDrop(self.runs.start(request).await?);
        let stopped = || StructuredOutputError::Provider("Loopgate is shutting down".to_owned());
        let outcome = run.0.outcome().await.ok_or_else(stopped)?;
        if !outcome.end.success {
            let reason = outcome.end.error.clone();
            let reason = reason.unwrap_or_else(|| format!("exit code {}", outcome.end.exit_code));
            return Err(StructuredOutputError::Provider(reason));
        }
        Ok(outcome.output.text.clone())
    }
}

fn read<T: DeserializeOwned>(answer: &str, check: impl Fn(&T) -> Result<(), String>) -> Result<T, String> {
    let object = last_object(answer).ok_or("no JSON object found")?;
    let value = serde_json::from_value(object).map_err(|error| error.to_string())?;
    check(&value).map(|()| value)
}

/// Terminates the run on drop. No-op if the run has ended.
struct StopOnDrop(RunHandle);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
