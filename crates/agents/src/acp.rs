//! One turn with an agent that speaks the Agent Client Protocol, version 1: the events of the turn, one JSON object
//! a line.
//!
//! The agent works with its own files, terminals and modes; the client offers none. It asks before it uses a tool:
//! reading is allowed, changing only when the turn may change files.

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
use loopgate_tools::programs::find_on_path;
use serde_json::Value;
use thiserror::Error as ThisError;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::sync::watch;
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

use crate::provider::FileAccess;

/// What a turn says on standard error when the agent does not know its session.
pub(crate) const SESSION_MISSING: &str = "session not found";

/// Bytes that an agent may print in one turn; it is cut off there.
const MAX_OUTPUT: u64 = 64 * 1024 * 1024;

/// One turn.
#[derive(Debug)]
pub struct AcpTurn {
    /// The agent's program: a path, or a name on the PATH.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it works.
    pub cwd: PathBuf,
    /// The session that goes on; a new one when absent.
    pub session: Option<String>,
    /// Whether the agent may change files and run commands.
    pub access: FileAccess,
    /// Whether the turn is refused in a repository, because nobody trusts it.
    pub outside_repositories: bool,
    /// What the agent is told.
    pub prompt: String,
}

/// Why a turn failed.
#[derive(Debug, ThisError)]
pub enum AcpTurnError {
    /// The agent reads settings of the repository, which may start programs.
    #[error(
        "this agent works in repositories that you trust only; trust it with: loopgate trust {}", .0.display()
    )]
    NotTrusted(PathBuf),
    /// There is no such program.
    #[error("the agent's program {} was not found", .0.display())]
    NotFound(PathBuf),
    /// It did not start.
    #[error("the agent did not start: {0}")]
    Start(#[from] io::Error),
    /// It does not know the session.
    #[error("{SESSION_MISSING}")]
    SessionMissing,
    /// It answered with an error, or ended too early.
    #[error("the agent failed: {0}")]
    Agent(#[from] Error),
    /// It stopped before its turn was done.
    #[error("the agent stopped: {0}")]
    Stopped(&'static str),
}

impl AcpTurn {
    /// Takes the turn. Events are written to standard output as they come.
    ///
    /// # Errors
    /// [`AcpTurnError`]
    pub async fn run(self) -> Result<(), AcpTurnError> {
        if self.outside_repositories
            && let Some(repository) = self.cwd.ancestors().find(|path| path.join(".git").exists())
        {
            return Err(AcpTurnError::NotTrusted(repository.to_owned()));
        }
        let program = find_program(&self.program).ok_or(AcpTurnError::NotFound(self.program.clone()))?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the shim above this process supervises the agent, too"
        )]
        let mut command = Command::new(program);
        let mut agent = command
            .args(&self.args)
            .current_dir(&self.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let missing = || io::Error::other("it has no pipes");
        let (stdin, stdout) =
            (agent.stdin.take().ok_or_else(missing)?, agent.stdout.take().ok_or_else(missing)?);
        let transport = ByteStreams::new(stdin.compat_write(), stdout.take(MAX_OUTPUT).compat());
        // What an agent repeats of an earlier session is no event of this turn.
        let (is_answering, answering) = watch::channel(false);
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
                let begun =
                    agent.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
                let session = match self.session {
                    None => {
                        agent.send_request(NewSessionRequest::new(self.cwd)).block_task().await?.session_id
                    }
                    Some(session) => {
                        let session = SessionId::from(session);
                        let known =
                            open_session(&agent, &begun.agent_capabilities, &session, &self.cwd).await;
                        if !known {
                            return Ok(None);
                        }
                        session
                    }
                };
                let session_id = session.to_string();
                print(&ChatEvent::SessionId { session_id }).map_err(Error::into_internal_error)?;
                is_answering.send_replace(true);
                let prompt = vec![ContentBlock::Text(TextContent::new(self.prompt))];
                let answer = agent.send_request(PromptRequest::new(session, prompt)).block_task().await?;
                Ok(Some(answer.stop_reason))
            });
        let stopped = connected.await?.ok_or(AcpTurnError::SessionMissing)?;
        let result = match stopped {
            StopReason::EndTurn => Ok(()),
            StopReason::MaxTokens => Err("its answer became too long"),
            StopReason::MaxTurnRequests => Err("it asked its model too often"),
            StopReason::Refusal => Err("it refuses to go on"),
            StopReason::Cancelled => Err("the turn was cancelled"),
            _ => Err("for a reason that is not known here"),
        };
        print(&ChatEvent::Result { success: result.is_ok() })?;
        result.map_err(AcpTurnError::Stopped)
    }
}

/// A path as it is, or the first executable of that name on the PATH. Never one in the directory of the turn.
fn find_program(program: &Path) -> Option<PathBuf> {
    if program.is_absolute() {
        return Some(program.to_owned());
    }
    find_on_path(&std::env::var("PATH").ok()?, program.to_str()?)
}

/// Continues a session, by whatever way the agent has; `false` when it has none, or does not know the session.
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

/// Allows this use of a tool, or refuses it.
fn permission(access: FileAccess, request: &RequestPermissionRequest) -> RequestPermissionOutcome {
    let kind = request.tool_call.fields.kind.unwrap_or_default();
    let reads = matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::Fetch);
    let allowed = access == FileAccess::ReadWrite || reads;
    let wanted = if allowed { PermissionOptionKind::AllowOnce } else { PermissionOptionKind::RejectOnce };
    let option = request.options.iter().find(|option| option.kind == wanted);
    option.map_or(RequestPermissionOutcome::Cancelled, |option| {
        RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
    })
}

/// What a client is told of an update.
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
