//! Answers of providers as JSON of a fixed shape.

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

/// The kind of these runs. No factory has it: after a restart nobody waits for them, and they are ended.
const KIND: &str = "structured-output";
/// How long an answer may take.
const TIME_LIMIT: Duration = Duration::from_secs(3 * 60);
/// Characters of an answer that is sent back to be corrected, its end.
const MAX_QUOTED: usize = 20_000;

/// Asks a provider for JSON of a fixed shape. It gets no tools, and may only read.
pub struct StructuredOutput {
    runs: AgentRuns,
    provider: Arc<dyn Provider>,
    directory: SandboxedPath,
}

/// Why there is no usable answer.
#[derive(Debug, Error)]
pub enum StructuredOutputError {
    /// The provider could not be asked.
    #[error("the provider cannot be asked: {0}")]
    Start(#[from] io::Error),
    /// The provider's program failed.
    #[error("the provider failed: {0}")]
    Provider(String),
    /// The answer does not have the shape, even after the provider corrected it.
    #[error("the provider's answer cannot be used: {0}")]
    Malformed(String),
}

impl StructuredOutput {
    /// Asks this provider, whose program works in the directory.
    #[must_use]
    pub const fn new(runs: AgentRuns, provider: Arc<dyn Provider>, directory: SandboxedPath) -> Self {
        Self { runs, provider, directory }
    }

    /// Asks, and reads the answer as a JSON object that fits the type and passes the check. An answer that does
    /// not is sent back once, with what is wrong with it. Dropping the future ends the provider's program.
    ///
    /// # Errors
    /// [`StructuredOutputError`].
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
            about: vec![self.directory.as_path().to_owned()],
            time_limit: TIME_LIMIT,
            announcement: RunAnnouncement::default(),
            kind: KIND,
            owner: Map::new(),
            store: Box::new(NoStore),
        };
        let run = StopOnDrop(self.runs.start(request).await?);
        let stopped = || StructuredOutputError::Provider("Loopgate stops".to_owned());
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
    let object = last_object(answer).ok_or("it holds no JSON object")?;
    let value = serde_json::from_value(object).map_err(|error| error.to_string())?;
    check(&value).map(|()| value)
}

/// Ends a run that nobody waits for any more; one that is over stays as it is.
struct StopOnDrop(RunHandle);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
