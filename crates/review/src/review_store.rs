//! Stores the state, pid and log of a running review.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use loopgate_agents::run::RunEnd;
use loopgate_agents::{RunStore, TurnOutput};
use loopgate_api::agent_failure::FailureKind;
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::names::REVIEWER_CHAT_REVIEW;
use loopgate_api::provider::ProviderId;
use loopgate_api::review::ReviewFindings;
use loopgate_home::{JsonFileError, Sandbox};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::engine_result::{SESSION_MEMBER, completed_session, findings_of};
use crate::extraction::{findings_in, review_text};
use crate::files::ReviewDirectory;
use crate::findings::FindingsFile;
use crate::scope::ReviewScope;
use crate::state::{ReviewConfig, ReviewState, ReviewStatus};

/// Record that identifies a review, persisted for recovery after a restart.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReviewOwner {
    pub(crate) worktree: PathBuf,
    #[serde(rename = "reviewer")]
    pub(crate) provider: ProviderId,
    pub(crate) config: ReviewConfig,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) plain: Option<ReviewScope>,
    /// Session that a review of `loopgate code-review` was told, and the directory in which it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<ToldSession>,
}

/// A session of `loopgate code-review`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToldSession {
    pub(crate) id: String,
    pub(crate) directory: PathBuf,
}

impl ReviewOwner {
    pub(crate) fn from_map(map: serde_json::Map<String, Value>) -> Option<Self> {
        serde_json::from_value(Value::Object(map)).ok()
    }
}

/// Writes the state and log of a review while it runs, and its findings when it has ended.
pub(crate) struct ReviewStore {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) directory: ReviewDirectory,
    pub(crate) owner: ReviewOwner,
    /// Notified of the end of the review.
    pub(crate) ended: watch::Sender<()>,
}

impl RunStore for ReviewStore {
    fn takes_events(&self) -> bool {
        true
    }

    /// A review without output has no findings.
    fn requires_answer(&self) -> bool {
        false
    }

    fn store_pid(&mut self, pid: u32) -> io::Result<()> {
        let ReviewOwner { provider, config, .. } = &self.owner;
        self.directory.state(provider).update(|state| {
            // A recovered review keeps its state: same pid, original start time.
            if state.as_ref().is_none_or(|state| state.pid != Some(pid)) {
                *state = Some(ReviewState {
                    status: ReviewStatus::Running,
                    pid: Some(pid),
                    started_at: loopgate_api::time::now_iso(),
                    completed_at: None,
                    exit_code: None,
                    provider: provider.clone(),
                    session_id: None,
                    config: config.clone(),
                    verdict: None,
                    findings_reported: false,
                });
            }
            Ok::<_, JsonFileError>(())
        })?;
        self.directory.write_pid(provider, pid)
    }

    fn store(&mut self, output: &TurnOutput, events: &[ChatEvent], end: Option<&RunEnd>) -> io::Result<()> {
        let provider = &self.owner.provider;
        // Without a state file, the review was discarded in the meantime or its program was never started.
        let Some(state) = self.directory.state(provider).read()? else { return Ok(()) };
        let failure = end.and_then(|end| end.error.clone()).map(ChatEvent::error);
        let mut log = Vec::new();
        for event in events.iter().chain(&failure) {
            self.log_event(event, &mut log)?;
        }
        // Before the final state: a client that reads the end must also see the complete log.
        self.directory.append_log(provider, &log)?;
        let Some(end) = end else { return Ok(()) };
        // The log of a review that a person stopped is incomplete.
        if state.status == ReviewStatus::Running {
            self.store_findings(end.success)?;
        }
        self.directory.state(provider).update(|state| {
            if let Some(state) = state {
                state.end(end.success, end.exit_code, output.session_id.clone());
            }
            Ok::<_, JsonFileError>(())
        })?;
        self.ended.send_replace(());
        self.directory.remove_pid(provider)?;
        if *provider == ProviderId::REVIEWER
            && let Some(session) = &output.session_id
        {
            // The chat about the review resumes the review's session.
            self.directory.json::<Value>(REVIEWER_CHAT_REVIEW).update(|chat| {
                *chat = Some(json!({"sessionId": session, "messageCount": 0}));
                Ok::<_, JsonFileError>(())
            })?;
        }
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.directory.clear_log(&self.owner.provider)
    }

    fn last_events(&self, _output: &TurnOutput, end: &RunEnd) -> Vec<ChatEvent> {
        // The findings reported so far are usable, so the message explains why more may be missing.
        if end.failure == Some(FailureKind::ContextLimit) {
            let error = "The review was interrupted because the context window ran out; the findings above may \
                         be incomplete. Review a smaller change to get all findings.";
            return vec![ChatEvent::Error { error: error.to_owned(), terminal: true }];
        }
        let result = end.was_started.then_some(ChatEvent::Result { success: end.success });
        end.error.clone().map(ChatEvent::error).into_iter().chain(result).chain([ChatEvent::DONE]).collect()
    }
}

impl ReviewStore {
    /// Stores the findings that the log contains. Called before the final state is written: a client that reads the end
    /// must also see the findings, and a review whose findings cannot be stored has not completed.
    fn store_findings(&self, success: bool) -> io::Result<()> {
        let ReviewOwner { provider, config, .. } = &self.owner;
        let session = self.owner.session.as_ref();
        let stored = session.and_then(|session| findings_of(&session.directory, &session.id));
        let findings = match stored {
            Some(findings) => findings,
            None => {
                let text = review_text(&self.directory, provider)?;
                findings_in(&text, &self.directory.worktree()).unwrap_or_default()
            }
        };
        // A review that failed may have ended before it reported its findings.
        if !success && findings.is_empty() {
            return Ok(());
        }
        let file = FindingsFile::new(self.sandbox.clone(), &self.directory, provider);
        let mut findings = ReviewFindings::new(provider, Some(config.model.clone()), findings);
        // Those of an earlier session in the worktree do not replace them.
        if let Some(session) = completed_session(&self.directory.worktree()) {
            findings.more.insert(SESSION_MEMBER.to_owned(), session.into());
        }
        file.store_review(findings)?;
        Ok(())
    }

    /// Formats an event for the log: JSON lines for the assistant, plain text for other providers.
    fn log_event(&self, event: &ChatEvent, log: &mut Vec<u8>) -> io::Result<()> {
        if self.owner.provider == ProviderId::ASSISTANT {
            serde_json::to_writer(&mut *log, event)?;
            log.push(b'\n');
            return Ok(());
        }
        match event {
            ChatEvent::Text { content } => log.extend(content.as_bytes()),
            ChatEvent::Error { error, .. } => {
                log.extend(error.as_bytes());
                log.push(b'\n');
            }
            _ => {}
        }
        Ok(())
    }
}
