//! Debates about a finding between reviewer and assistant, for one turn or until they settle.

use std::io;
use std::sync::Arc;

use loopgate_agents::provider::FileAccess;
use loopgate_agents::run::RunAnnouncement;
use loopgate_agents::{EventStream, Provider, RunHandle, RunStream};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::debate::{DebateOutcome, DebateStatus};
use loopgate_home::SandboxedPath;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;

use crate::files::ReviewDirectory;
use crate::prompt;
use crate::reviews::Reviews;
use crate::sessions::{SessionKey, SessionTurn};

/// Upper bound of the rounds of a debate. Each round is up to two provider runs.
pub const MAX_ROUNDS: u32 = 10;
/// Tools of the assistant in a debate: read-only.
const READ_TOOLS: &str = "Read,Grep,Glob";

/// A debate to start or continue.
pub struct DebateRequest {
    /// Provider that defends the finding.
    pub reviewer: Arc<dyn Provider>,
    /// Provider that argues against the finding, if there is more than one round.
    pub assistant: Arc<dyn Provider>,
    /// Worktree of the ticket.
    pub worktree: SandboxedPath,
    /// Work directory of the worktree.
    pub directory: ReviewDirectory,
    /// Summary of the finding as text.
    pub finding: String,
    /// Argument of the assistant or the user.
    pub argument: String,
    /// The reviewer's model; the provider's default when absent.
    pub model: Option<String>,
    /// Reasoning effort of the reviewer.
    pub effort: Option<String>,
    /// Whether to discard an earlier debate about this finding.
    pub anew: bool,
    /// Number of rounds, from 1 to [`MAX_ROUNDS`]. The reviewer has the last turn.
    pub rounds: u32,
}

/// Event stream of a debate for one client: the events of all turns, with a single end. Dropping it does not
/// affect the debate.
pub struct DebateStream {
    /// Receives each turn when it starts; closed when the debate has ended.
    turns: mpsc::UnboundedReceiver<Step>,
    turn: Option<RunStream>,
}

/// Next step of a debate.
enum Step {
    /// A turn was started.
    Turn(Box<RunStream>),
    /// The debate has ended with these events.
    End(Vec<ChatEvent>),
}

impl EventStream for DebateStream {
    async fn events(&mut self) -> Option<Vec<ChatEvent>> {
        loop {
            if let Some(turn) = &mut self.turn {
                if let Some(mut events) = turn.events().await {
                    events
                        .retain(|event| !matches!(event, ChatEvent::Result { .. } | ChatEvent::Done { .. }));
                    return Some(events);
                }
                self.turn = None;
            }
            match self.turns.recv().await? {
                Step::Turn(turn) => self.turn = Some(*turn),
                Step::End(events) => return Some(events),
            }
        }
    }
}

impl Reviews {
    /// Starts a debate. It continues when the caller disconnects.
    ///
    /// # Errors
    /// Fails when the first turn cannot be started.
    pub async fn debate(&self, request: DebateRequest) -> io::Result<DebateStream> {
        let mut debate = ActiveDebate { reviews: self.clone(), request, round: 1, last: Default::default() };
        let first = debate.start_reviewer_turn().await?;
        let (steps, turns) = mpsc::unbounded_channel();
        let stream = DebateStream { turns, turn: Some(first.stream().await?) };
        tokio::spawn(async move {
            // The error is sent as an event, because the caller already has the stream.
            let end = debate.run(first, &steps).await.unwrap_or_else(|error| {
                vec![
                    ChatEvent::error(error.to_string()),
                    ChatEvent::Result { success: false },
                    ChatEvent::DONE,
                ]
            });
            // Fails when the client has disconnected; the result is stored in the session file.
            let _ = steps.send(Step::End(end));
        });
        Ok(stream)
    }
}

/// A debate in progress.
struct ActiveDebate {
    reviews: Reviews,
    request: DebateRequest,
    round: u32,
    /// Last debate status of the reviewer and of the assistant, for detecting a stalemate.
    last: [Option<DebateStatus>; 2],
}

impl ActiveDebate {
    /// Alternates turns until the debate settles, and returns its final events.
    async fn run(
        &mut self,
        first: RunHandle,
        steps: &mpsc::UnboundedSender<Step>,
    ) -> io::Result<Vec<ChatEvent>> {
        let mut turn = first;
        loop {
            let answer = match self.answer(&turn).await {
                TurnOutcome::Answered(text) => text,
                TurnOutcome::Failed => {
                    return Ok(vec![ChatEvent::Result { success: false }, ChatEvent::DONE]);
                }
            };
            let (status, mut outcome) = self.judge(0, &answer);
            if outcome.is_none() && self.round >= self.request.rounds {
                // A single round is a plain answer and not a debate that has reached its limit.
                outcome = (self.request.rounds > 1).then_some(DebateOutcome::Limit);
            }
            if outcome.is_some() || self.round >= self.request.rounds {
                return Ok(end(answer, status, outcome));
            }
            turn = self.start_assistant_turn(&answer).await?;
            let _ = steps.send(Step::Turn(Box::new(turn.stream().await?)));
            let answer = match self.answer(&turn).await {
                TurnOutcome::Answered(text) => text,
                TurnOutcome::Failed => {
                    return Ok(vec![ChatEvent::Result { success: false }, ChatEvent::DONE]);
                }
            };
            if let (status, Some(outcome)) = self.judge(1, &answer) {
                return Ok(end(answer, status, Some(outcome)));
            }
            self.request.argument = answer;
            self.round += 1;
            turn = self.start_reviewer_turn().await?;
            let _ = steps.send(Step::Turn(Box::new(turn.stream().await?)));
        }
    }

    async fn answer(&self, turn: &RunHandle) -> TurnOutcome {
        match turn.outcome().await {
            Some(outcome) if outcome.end.success => {
                TurnOutcome::Answered(outcome.output.text.trim().to_owned())
            }
            _ => TurnOutcome::Failed,
        }
    }

    /// Returns the status in an answer of one side, and the outcome if it ends the debate.
    fn judge(&mut self, side: usize, answer: &str) -> (Option<DebateStatus>, Option<DebateOutcome>) {
        let Some(status) = DebateStatus::in_text(answer) else { return (None, None) };
        // A side that repeats its previous status makes no progress.
        let repeated = self.last[side].as_ref().is_some_and(|before| before.is_repeated_by(&status));
        let outcome = status.settlement().or(repeated.then_some(DebateOutcome::Stalemate));
        self.last[side] = Some(status.clone());
        (Some(status), outcome)
    }

    async fn start_reviewer_turn(&self) -> io::Result<RunHandle> {
        let DebateRequest { finding, argument, model, effort, anew, .. } = &self.request;
        let turn = self.turn(self.request.reviewer.clone(), prompt::reviewer_turn(finding, argument));
        let turn = SessionTurn {
            model: Some(model.clone().unwrap_or_else(|| turn.provider.default_model().to_owned())),
            effort: effort.clone(),
            new_session: *anew && self.round == 1,
            // Arguments of later rounds are the assistant's own answers, which are stored already.
            argument: (self.round == 1).then(|| argument.clone()),
            images: Vec::new(),
            ..turn
        };
        self.reviews.sessions().start(turn).await
    }

    async fn start_assistant_turn(&self, answer: &str) -> io::Result<RunHandle> {
        let prompt = prompt::assistant_turn(&self.request.finding, answer);
        self.reviews.sessions().start(self.turn(self.request.assistant.clone(), prompt)).await
    }

    fn turn(&self, provider: Arc<dyn Provider>, prompt: String) -> SessionTurn {
        // The summary identifies the finding, because indexes change when a review is repeated.
        let finding = hex::encode(Sha256::digest(&self.request.finding));
        // Clients need the sender only if both sides take turns.
        let mode = (self.request.rounds > 1).then(|| provider.id().clone());
        SessionTurn {
            provider,
            cwd: self.request.worktree.clone(),
            worktree: self.request.worktree.as_path().to_owned(),
            directory: self.request.directory.clone(),
            key: SessionKey::Debate { finding },
            prompt,
            model: None,
            effort: None,
            tools: READ_TOOLS,
            access: FileAccess::ReadOnly,
            announcement: RunAnnouncement { mode, ..RunAnnouncement::default() },
            new_session: false,
            argument: None,
            images: Vec::new(),
        }
    }
}

/// Result of a turn.
enum TurnOutcome {
    Answered(String),
    Failed,
}

fn end(answer: String, status: Option<DebateStatus>, outcome: Option<DebateOutcome>) -> Vec<ChatEvent> {
    let status = match (status, outcome) {
        (None, None) => None,
        (status, outcome) => Some(DebateStatus { outcome, ..status.unwrap_or_default() }),
    };
    let content = Some(answer).filter(|answer| !answer.is_empty());
    vec![ChatEvent::Result { success: true }, ChatEvent::Done { content, debate_status: status }]
}
