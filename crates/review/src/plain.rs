//! The reviewer's own `review` command, which prints plain text.

use std::ffi::OsString;

use loopgate_agents::provider::reviewer::{Reviewer, session_in_banner};
use loopgate_agents::provider::{
    OutputReader, Provider, ProviderCommand, ProviderProgram, TurnOutput, TurnRequest,
};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::provider::ProviderId;
use loopgate_home::Program;
use loopgate_tools::environment::TrustGuard;

use crate::scope::ReviewScope;

/// The reviewer, started with its `review` command. The scope is passed as flags; the command accepts no
/// prompt in combination with them.
#[derive(Debug)]
pub(crate) struct PlainReview {
    /// Changes to review. Not used for parsing the output.
    pub(crate) scope: ReviewScope,
}

impl Provider for PlainReview {
    fn id(&self) -> &ProviderId {
        Reviewer.id()
    }

    fn default_model(&self) -> &str {
        Reviewer.default_model()
    }

    fn supports_model(&self, model: &str) -> bool {
        Reviewer.supports_model(model)
    }

    fn command(&self, turn: &TurnRequest, _guard: &TrustGuard) -> ProviderCommand {
        let mut args: Vec<OsString> = vec!["review".into()];
        args.extend(self.scope.flags().map(OsString::from));
        let settings = [("model", &turn.model), ("model_reasoning_effort", &turn.effort)];
        for (name, value) in settings {
            if let Some(value) = value {
                args.extend(["-c".into(), format!("{name}={value}").into()]);
            }
        }
        ProviderCommand {
            program: ProviderProgram::Known(Program::Reviewer),
            args,
            stdin: String::new(),
            variables: vec![("FORCE_COLOR".into(), "0".into())],
        }
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::new(TextReader)
    }

    fn is_session_missing(&self, stderr: &str) -> bool {
        Reviewer.is_session_missing(stderr)
    }

    fn session_in_stderr(&self, stderr: &str) -> Option<String> {
        Reviewer.session_in_stderr(stderr)
    }

    fn readable_stderr(&self, stderr: &str) -> String {
        Reviewer.readable_stderr(stderr)
    }
}

/// Forwards lines as text, and extracts the session id from the banner.
struct TextReader;

impl OutputReader for TextReader {
    fn read_line(&mut self, line: &str, output: &mut TurnOutput) -> Vec<ChatEvent> {
        let mut events = Vec::new();
        if output.session_id.is_none()
            && let Some(session) = session_in_banner(line)
        {
            output.session_id = Some(session.clone());
            events.push(ChatEvent::session_status(session));
        }
        let content = format!("{line}\n");
        output.text.push_str(&content);
        events.push(ChatEvent::Text { content });
        events
    }
}
