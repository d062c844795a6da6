//! Agents that implement the Agent Client Protocol. The program started for a turn is Loopgate's own
//! sub-command `agent-turn`, which talks to the agent and prints [`ChatEvent`]s.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use loopgate_api::chat_event::ChatEvent;
use loopgate_api::provider::ProviderId;
use loopgate_api::run_phase::RunPhase;
use loopgate_home::AgentProgram;
use loopgate_tools::environment::TrustGuard;
use serde_json::json;

use super::{
    FileAccess, OutputReader, Provider, ProviderCommand, ProviderProgram, TurnError, TurnOutput, TurnRequest,
};
use crate::acp::SESSION_MISSING;

/// An agent configured in the settings.
#[derive(Debug)]
pub struct AcpAgent {
    id: ProviderId,
    program: AgentProgram,
    loopgate_exe: PathBuf,
}

impl AcpAgent {
    /// Creates an agent with this id. `loopgate_exe` is the path of Loopgate's executable.
    #[must_use]
    pub fn new(id: ProviderId, program: AgentProgram, loopgate_exe: &Path) -> Self {
        Self { id, program, loopgate_exe: loopgate_exe.to_owned() }
    }
}

impl Provider for AcpAgent {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    /// Returns a placeholder: the protocol has no model names, and each agent has a default of its own.
    fn default_model(&self) -> &str {
        "default"
    }

    fn supports_model(&self, model: &str) -> bool {
        model == self.default_model()
    }

    fn command(&self, turn: &TurnRequest, guard: &TrustGuard) -> ProviderCommand {
        let mut args: Vec<OsString> = vec!["agent-turn".into()];
        if turn.access == FileAccess::ReadWrite {
            args.push("--write".into());
        }
        // Enforced by the sub-command, which looks for a repository above its working directory.
        if !guard.is_trusted() && !self.program.any_repository {
            args.push("--outside-repositories".into());
        }
        if guard.leaves_out_instructions() {
            args.push("--leaving-instructions".into());
        }
        if let Some(session) = &turn.session {
            args.extend(["--session".into(), session.into()]);
        }
        // Arguments after `--` belong to the agent.
        args.extend(["--".into(), self.program.program.clone().into()]);
        args.extend(self.program.args.iter().map(OsString::from));
        ProviderCommand {
            program: ProviderProgram::Path(self.loopgate_exe.clone()),
            args,
            stdin: turn.prompt.clone(),
            variables: Vec::new(),
        }
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::new(AcpEventReader)
    }

    fn is_session_missing(&self, stderr: &str) -> bool {
        stderr.contains(SESSION_MISSING)
    }
}

/// Reads one [`ChatEvent`] per line. Ignores other lines.
struct AcpEventReader;

impl OutputReader for AcpEventReader {
    fn read_line(&mut self, line: &str, output: &mut TurnOutput) -> Vec<ChatEvent> {
        let Ok(event) = serde_json::from_str::<ChatEvent>(line) else { return Vec::new() };
        match &event {
            ChatEvent::SessionId { session_id } => output.session_id = Some(session_id.clone()),
            ChatEvent::Text { content } => output.text.push_str(content),
            ChatEvent::Reasoning { content } => {
                output.blocks.push(json!({"type": "thinking", "thinking": content}));
            }
            ChatEvent::ToolUse { id, name, input } => {
                output.blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
            }
            ChatEvent::ToolResult { id, content, is_error } => {
                let block =
                    json!({"type": "tool_result", "id": id, "content": content, "is_error": is_error});
                output.blocks.push(block);
            }
            ChatEvent::Usage { context_percent } => output.context_percent = Some(*context_percent),
            ChatEvent::Error { error, .. } => {
                output.fail(TurnError::new(error));
                return Vec::new();
            }
            ChatEvent::Result { success } => {
                (output.failed, output.phase) = (!success, RunPhase::Over);
                // Clients receive it when the program has exited.
                return Vec::new();
            }
            _ => {}
        }
        vec![event]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn events_are_forwarded_and_added_to_the_output() {
        let mut output = TurnOutput::default();
        let lines = [
            r#"{"type":"sessionId","sessionId":"s-1"}"#,
            r#"{"type":"text","content":"Two "}"#,
            "a warning",
            r#"{"type":"text","content":"parts."}"#,
            r#"{"type":"usage","contextPercent":7}"#,
            r#"{"type":"result","success":true}"#,
        ];
        let events: Vec<_> =
            lines.iter().flat_map(|line| AcpEventReader.read_line(line, &mut output)).collect();
        assert_eq!(events.len(), 4);
        assert_eq!((output.text.as_str(), output.session_id.as_deref()), ("Two parts.", Some("s-1")));
        assert!(output.phase == RunPhase::Over && output.context_percent == Some(7));
    }

    proptest! {
        #[test]
        fn reader_accepts_any_line(line in ".*") {
            AcpEventReader.read_line(&line, &mut TurnOutput::default());
        }
    }
}
