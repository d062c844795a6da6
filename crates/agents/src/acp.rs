//! Executes one turn with an agent over the Agent Client Protocol (ACP), version 1. Prints the events of the
//! turn as one JSON object per line.
//!
//! The client offers no file system or terminal methods; the agent uses its own. The agent requests
//! permission for each tool call: reading is always allowed, modifying only if the turn may change files.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, ContentBlock, InitializeRequest, LoadSessionRequest, NewSessionRequest,
    PermissionOptionKind, PromptRequest, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, ResumeSessionRequest, SelectedPermissionOutcome, SessionId,
    SessionNotification, SessionUpdate, StopReason, TextContent, ToolCallContent, ToolCallStatus, ToolKind,
};
use agent_client_protocol::{Agent, ByteStreams, Client, Error};
use loopgate_api::chat_event::ChatEvent;
use loopgate_home::trust_command;
use loopgate_tools::programs::find_on_path;
use serde_json::Value;
use thiserror::Error as ThisError;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::sync::watch;
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

use crate::provider::FileAccess;

/// Message on standard error when the agent does not know the session. The parent process matches it.
pub(crate) const SESSION_MISSING: &str = "session not found";

/// Bytes read from an agent per turn. The output is truncated there, which ends the connection.
const MAX_OUTPUT: u64 = 64 * 1024 * 1024;

/// A turn to execute.
#[derive(Debug)]
pub struct AcpTurn {
    /// Program of the agent: an absolute path, or a name on the PATH.
    pub program: PathBuf,
    /// Command-line arguments of the program.
    pub args: Vec<String>,
    /// Working directory of the agent.
    pub cwd: PathBuf,
    /// Session to resume; a new one is created when absent.
    pub session: Option<String>,
    /// Whether the agent may change files and run commands.
    pub access: FileAccess,
    /// Whether the turn is refused inside a repository, because the user has not trusted it.
    pub outside_repositories: bool,
    /// Whether the turn is refused, because instructions lead out of the working directory and the user has not agreed to
    /// them. An agent has no option that leaves them out.
    pub has_leaving_instructions: bool,
    /// Text that is sent to the agent.
    pub prompt: String,
}

/// Reason for which a turn failed.
#[derive(Debug, ThisError)]
pub enum AcpTurnError {
    /// The repository is not trusted: its settings may make the agent start programs.
    #[error(
        "this agent runs in trusted repositories only; to trust this one, run: {}",
        trust_command(.0)
    )]
    NotTrusted(PathBuf),
    /// Instructions lead out of the working directory.
    #[error(
        "instructions in {} lead out of it, and this agent cannot leave them out. Review them with: {}. \
         Without a repository, remove them",
        .0.display(),
        trust_command(.0)
    )]
    LeavingInstructions(PathBuf),
    /// The program does not exist.
    #[error("the agent's program {} was not found", .0.display())]
    NotFound(PathBuf),
    /// The program could not be started.
    #[error("the agent did not start: {0}")]
    Start(#[from] io::Error),
    /// The agent does not know the session.
    #[error("{SESSION_MISSING}")]
    SessionMissing,
    /// The agent responded with an error or closed the connection.
    #[error("the agent failed: {0}")]
    Agent(#[from] Error),
    /// The agent stopped before it completed the turn.
    #[error("the agent stopped: {0}")]
    Stopped(&'static str),
}

impl AcpTurn {
    /// Executes the turn. Events are written to standard output as they arrive.
    ///
    /// # Errors
    /// Fails with [`AcpTurnError`] when the agent cannot be started, fails, or does not complete the turn.
    pub async fn run(self) -> Result<(), AcpTurnError> {
        if self.outside_repositories
            && let Some(repository) = self.cwd.ancestors().find(|path| path.join(".git").exists())
        {
            return Err(AcpTurnError::NotTrusted(repository.to_owned()));
        }
        if self.has_leaving_instructions {
            return Err(AcpTurnError::LeavingInstructions(self.cwd));
        }
        let program = find_program(&self.program).ok_or(AcpTurnError::NotFound(self.program.clone()))?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the shim that started this process also supervises the agent"
        )]
        let mut command = Command::new(program);
        let mut agent = command
            .args(&self.args)
            .current_dir(&self.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // The agent must not outlive a turn that fails.
            .kill_on_drop(true)
            .spawn()?;
        let no_pipes = || io::Error::other("the agent has no standard input or output");
        let (stdin, stdout) =
            (agent.stdin.take().ok_or_else(no_pipes)?, agent.stdout.take().ok_or_else(no_pipes)?);
        let transport = ByteStreams::new(stdin.compat_write(), stdout.take(MAX_OUTPUT).compat());
        // Agents replay the messages of a session while they load it; those are not events of this turn.
        let (set_answering, answering) = watch::channel(false);
        let access = self.access;
        let connected = Client
            .v1()
            .name("loopgate")
            .on_receive_notification(
                async move |notification: SessionNotification, _| {
                    if *answering.borrow() {
                        events(notification.update)
                            .iter()
                            .try_for_each(print)
                            .map_err(Error::into_internal_error)?;
                    }
                    Ok(())
                },
                agent_client_protocol::on_receive_notification!(),
            )
            .on_receive_request(
                async move |request: RequestPermissionRequest, responder, _| {
                    responder.respond(RequestPermissionResponse::new(permission(access, &request)))
                },
                agent_client_protocol::on_receive_request!(),
            )
            .connect_with(transport, async move |agent: ConnectionTo<Agent>| {
                let initialized =
                    agent.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
                let session = match self.session {
                    None => {
                        agent.send_request(NewSessionRequest::new(self.cwd)).block_task().await?.session_id
                    }
                    Some(session) => {
                        let session = SessionId::from(session);
                        let is_open =
                            open_session(&agent, &initialized.agent_capabilities, &session, &self.cwd).await;
                        if !is_open {
                            // The parent process then starts a second attempt without a session.
                            return Ok(None);
                        }
                        session
                    }
                };
                let session_id = session.to_string();
                print(&ChatEvent::SessionId { session_id }).map_err(Error::into_internal_error)?;
                set_answering.send_replace(true);
                let prompt = vec![ContentBlock::Text(TextContent::new(self.prompt))];
                let answer = agent.send_request(PromptRequest::new(session, prompt)).block_task().await?;
                Ok(Some(answer.stop_reason))
            });
        let stop_reason = connected.await?.ok_or(AcpTurnError::SessionMissing)?;
        let result = match stop_reason {
            StopReason::EndTurn => Ok(()),
            StopReason::MaxTokens => Err("its answer reached the token limit"),
            StopReason::MaxTurnRequests => Err("it reached its limit of model requests"),
            StopReason::Refusal => Err("it refused to continue"),
            StopReason::Cancelled => Err("the turn was cancelled"),
            _ => Err("unknown reason"),
        };
        print(&ChatEvent::Result { success: result.is_ok() })?;
        result.map_err(AcpTurnError::Stopped)
    }
}

/// Returns an absolute path unchanged, otherwise the first executable of that name on the PATH. The working
/// directory is never searched: it may be an untrusted repository.
fn find_program(program: &Path) -> Option<PathBuf> {
    if program.is_absolute() {
        return Some(program.to_owned());
    }
    find_on_path(&std::env::var("PATH").ok()?, program.to_str()?)
}

/// Resumes or loads a session, whichever the agent supports. Returns `false` if it supports neither or does
/// not know the session.
async fn open_session(
    agent: &ConnectionTo<Agent>,
    capabilities: &AgentCapabilities,
    session: &SessionId,
    cwd: &Path,
) -> bool {
    if capabilities.session_capabilities.resume.is_some() {
        agent.send_request(ResumeSessionRequest::new(session.clone(), cwd)).block_task().await.is_ok()
    } else if capabilities.load_session {
        agent.send_request(LoadSessionRequest::new(session.clone(), cwd)).block_task().await.is_ok()
    } else {
        false
    }
}

/// Returns the decision on a permission request for a tool call.
fn permission(access: FileAccess, request: &RequestPermissionRequest) -> RequestPermissionOutcome {
    let kind = request.tool_call.fields.kind.unwrap_or_default();
    let reads = matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::Fetch);
    let allowed = access == FileAccess::ReadWrite || reads;
    // "Once" instead of "always": an agent may store the latter for later turns with other permissions.
    let decision = if allowed { PermissionOptionKind::AllowOnce } else { PermissionOptionKind::RejectOnce };
    let option = request.options.iter().find(|option| option.kind == decision);
    option.map_or(RequestPermissionOutcome::Cancelled, |option| {
        RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
    })
}

/// Converts a session update into events.
fn events(update: SessionUpdate) -> Vec<ChatEvent> {
    match update {
        SessionUpdate::AgentMessageChunk(chunk) => {
            text_of(&chunk.content).map(|content| ChatEvent::Text { content }).into_iter().collect()
        }
        SessionUpdate::AgentThoughtChunk(chunk) => {
            text_of(&chunk.content).map(|content| ChatEvent::Reasoning { content }).into_iter().collect()
        }
        SessionUpdate::ToolCall(call) => vec![ChatEvent::ToolUse {
            id: call.tool_call_id.to_string(),
            name: call.title,
            input: call.raw_input.unwrap_or_default(),
        }],
        SessionUpdate::ToolCallUpdate(update) => {
            let fields = update.fields;
            let is_error = match fields.status {
                Some(ToolCallStatus::Completed) => false,
                Some(ToolCallStatus::Failed) => true,
                // Intermediate updates of a running tool call have no event.
                _ => return Vec::new(),
            };
            let content = fields.content.as_deref().map(content_text).filter(|text| !text.is_empty());
            let content = content.map(Value::String).or(fields.raw_output).unwrap_or_default();
            let id = update.tool_call_id.to_string();
            vec![ChatEvent::ToolResult { id, content, is_error: Some(is_error) }]
        }
        SessionUpdate::UsageUpdate(usage) if usage.size > 0 => {
            vec![ChatEvent::Usage { context_percent: usage.used.saturating_mul(100) / usage.size }]
        }
        _ => Vec::new(),
    }
}

fn content_text(content: &[ToolCallContent]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        ToolCallContent::Content(content) => text_of(&content.content),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn text_of(content: &ContentBlock) -> Option<String> {
    match content {
        ContentBlock::Text(text) => Some(text.text.clone()).filter(|text| !text.is_empty()),
        _ => None,
    }
}

fn print(event: &ChatEvent) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    io::stdout().write_all(&line)
}
