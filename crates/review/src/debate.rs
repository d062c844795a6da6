//! A debate about a finding: the reviewer answers the assistant, for one turn or until it is settled.

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

/// Rounds of a debate, at most.
pub const MAX_ROUNDS: u32 = 10;
/// Tools of the assistant in a debate.
const READ_TOOLS: &str = "Read,Grep,Glob";

/// What a debate begins with, or goes on with.
pub struct DebateRequest {
    /// Who defends the finding.
    pub reviewer: Arc<dyn Provider>,
    /// Who argues against it when there is more than one round.
    pub assistant: Arc<dyn Provider>,
    /// The worktree of the ticket.
    pub worktree: SandboxedPath,
    /// Its work directory.
    pub directory: ReviewDirectory,
    /// The finding, in words.
    pub finding: String,
    /// What the assistant, or a person, says about it.
    pub argument: String,
    /// The reviewer's model; its own choice when absent.
    pub model: Option<String>,
    /// How long the reviewer's model may think.
    pub effort: Option<String>,
    /// Whether an earlier debate about this finding is forgotten.
    pub anew: bool,
    /// Rounds until the debate ends, from 1 to [`MAX_ROUNDS`]. After the last answer of the reviewer nobody is
    /// asked again.
    pub rounds: u32,
}

/// The events of a debate for one client: those of each turn, and one end. Dropping it does nothing to the debate.
pub struct DebateStream {
    /// Turns as they begin; gone when the debate has ended.
    turns: mpsc::UnboundedReceiver<Step>,
    turn: Option<RunStream>,
}

/// What happens next in a debate.
enum Step {
    /// Somebody is asked.
    Turn(Box<RunStream>),
    /// It is over.
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
    /// Starts a debate. It goes on when the caller goes away.
    ///
    /// # Errors
    /// When the first turn cannot be started.
    pub async fn debate(&self, request: DebateRequest) -> io::Result<DebateStream> {
        let mut debate = ActiveDebate { reviews: self.clone(), request, round: 1, last: Default::default() };
        let first = debate.ask_reviewer().await?;
        let (steps, turns) = mpsc::unbounded_channel();
        let stream = DebateStream { turns, turn: Some(first.stream().await?) };
        tokio::spawn(async move {
            // An error is the end: nobody may be there to hear of it.
            let end = debate.run(first, &steps).await.unwrap_or_else(|error| {
                vec![
                    ChatEvent::error(error.to_string()),
                    ChatEvent::Result { success: false },
                    ChatEvent::DONE,
                ]
            });
            let _ = steps.send(Step::End(end));
        });
        Ok(stream)
    }
}

/// A debate under way.
struct ActiveDebate {
    reviews: Reviews,
    request: DebateRequest,
    round: u32,
    /// The last status of the reviewer and of the assistant.
    last: [Option<DebateStatus>; 2],
}

impl ActiveDebate {
    /// Alternates until the debate is settled; answers its last events.
    async fn run(
        &mut self,
        first: RunHandle,
        steps: &mpsc::UnboundedSender<Step>,
    ) -> io::Result<Vec<ChatEvent>> {
        let mut turn = first;
        loop {
            let answer = match self.answer(&turn).await {
                TurnOutcome::Said(text) => text,
                TurnOutcome::Failed => {
                    return Ok(vec![ChatEvent::Result { success: false }, ChatEvent::DONE]);
                }
            };
            let (status, mut outcome) = self.judge(0, &answer);
            if outcome.is_none() && self.round >= self.request.rounds {
                outcome = (self.request.rounds > 1).then_some(DebateOutcome::Limit);
            }
            if outcome.is_some() || self.round >= self.request.rounds {
                return Ok(end(answer, status, outcome));
            }
            turn = self.ask_assistant(&answer).await?;
            let _ = steps.send(Step::Turn(Box::new(turn.stream().await?)));
            let answer = match self.answer(&turn).await {
                TurnOutcome::Said(text) => text,
                TurnOutcome::Failed => {
                    return Ok(vec![ChatEvent::Result { success: false }, ChatEvent::DONE]);
                }
            };
            if let (status, Some(outcome)) = self.judge(1, &answer) {
                return Ok(end(answer, status, Some(outcome)));
            }
            self.request.argument = answer;
            self.round += 1;
            turn = self.ask_reviewer().await?;
            let _ = steps.send(Step::Turn(Box::new(turn.stream().await?)));
        }
    }

    async fn answer(&self, turn: &RunHandle) -> TurnOutcome {
        match turn.outcome().await {
            Some(outcome) if outcome.end.success => TurnOutcome::Said(outcome.output.text.trim().to_owned()),
            _ => TurnOutcome::Failed,
        }
    }

    /// Where the debate is after an answer of one side, and whether that ends it.
    fn judge(&mut self, side: usize, answer: &str) -> (Option<DebateStatus>, Option<DebateOutcome>) {
        let Some(status) = DebateStatus::in_text(answer) else { return (None, None) };
        let repeated = self.last[side].as_ref().is_some_and(|before| before.is_repeated_by(&status));
        let outcome = status.settlement().or(repeated.then_some(DebateOutcome::Stalemate));
        self.last[side] = Some(status.clone());
        (Some(status), outcome)
    }

    async fn ask_reviewer(&self) -> io::Result<RunHandle> {
        let DebateRequest { finding, argument, model, effort, anew, .. } = &self.request;
        let turn = self.turn(self.request.reviewer.clone(), prompt::reviewer_turn(finding, argument));
        let turn = SessionTurn {
            model: Some(model.clone().unwrap_or_else(|| turn.provider.default_model().to_owned())),
            effort: effort.clone(),
            anew: *anew && self.round == 1,
            // Later arguments are answers that the assistant gave here.
            argument: (self.round == 1).then(|| argument.clone()),
            images: Vec::new(),
            ..turn
        };
        self.reviews.sessions().start(turn).await
    }

    async fn ask_assistant(&self, answer: &str) -> io::Result<RunHandle> {
        let prompt = prompt::assistant_turn(&self.request.finding, answer);
        self.reviews.sessions().start(self.turn(self.request.assistant.clone(), prompt)).await
    }

    fn turn(&self, provider: Arc<dyn Provider>, prompt: String) -> SessionTurn {
        let finding = hex::encode(Sha256::digest(&self.request.finding));
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
            anew: false,
            argument: None,
            images: Vec::new(),
        }
    }
}

/// What a turn came to.
enum TurnOutcome {
    Said(String),
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
