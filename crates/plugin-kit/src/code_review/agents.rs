//! Asks the models of a review: through the shared pool, within one spending limit, with stored answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use loopgate_api::usd::Usd;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::session::ReviewSession;
use crate::model_calls::{
    CallOutcome, CallPool, CallResult, IsolatedAssistant, MAX_ANSWER, ModelQuestion, NextStep, PooledCall,
    PromptAnswers, RejectedAnswer, SharedPart, correction, prompt_key,
};

/// Model of a call that replaces a failed one.
const REPLACEMENT_MODEL: &str = "haiku";
const COSTS: &str = "costs.json";
/// Added to the request to correct an answer.
const CORRECTION_ADVICE: &str = " Omit what you cannot support.";

/// A question to a model of a review.
#[derive(Debug, Clone)]
pub struct AgentCall {
    /// Name of the stored answer.
    pub name: String,
    pub model: String,
    pub shared_part: Arc<SharedText>,
    pub request: Arc<str>,
    /// The answer that this call has to correct.
    rejected: Option<RejectedAnswer>,
    /// Whether another call for the same answer ended before.
    is_second: bool,
    /// Identity of the first call's prompt.
    key: String,
}

/// The first part of prompts, with its name and its stored form.
#[derive(Debug)]
pub struct SharedText {
    pub name: &'static str,
    pub text: String,
    pub part: SharedPart,
}

impl AgentCall {
    pub fn new(name: String, model: String, shared_part: Arc<SharedText>, request: String) -> Self {
        let key = prompt_key(&[&model, &shared_part.text, &request]);
        Self { name, model, shared_part, request: request.into(), rejected: None, is_second: false, key }
    }
}

impl PooledCall for AgentCall {
    fn cache(&self) -> String {
        format!("{} {}", self.model, self.shared_part.name)
    }
}

/// What an agent was sent and cost, in all runs of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCost {
    /// The model that was asked last, whose answer is the stored one.
    pub model: String,
    /// Bytes of the part that it shares with others, and of the part after it.
    pub shared_bytes: usize,
    pub request_bytes: usize,
    pub calls: u32,
    pub usd: Usd,
}

/// The models of a review.
pub struct ReviewAgents<'a> {
    pub assistant: IsolatedAssistant,
    pub session: &'a ReviewSession,
    store: PromptAnswers,
    limit: Option<Usd>,
    costs: BTreeMap<String, AgentCost>,
    /// Cost of this run.
    spent: Usd,
}

/// Answers by name: in the form of the check, or the reason for which there is none.
pub type AgentAnswers = BTreeMap<String, Result<String, String>>;

/// Reason for which not all questions were asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskingEnd {
    Stopped,
    /// Message for the user.
    Failed(String),
}

impl<'a> ReviewAgents<'a> {
    /// `limit`: what the session may cost in all its runs.
    pub fn new(assistant: IsolatedAssistant, session: &'a ReviewSession, limit: Option<Usd>) -> Self {
        let costs = session.read_json(COSTS).unwrap_or_default();
        let store = PromptAnswers::in_directory(session.directory());
        Self { assistant, session, store, limit, costs, spent: Usd::default() }
    }

    /// Cost of this run.
    pub const fn spent(&self) -> Usd {
        self.spent
    }

    pub const fn costs(&self) -> &BTreeMap<String, AgentCost> {
        &self.costs
    }

    /// Cost of all runs of the session.
    pub fn total(&self) -> Usd {
        self.costs.values().fold(Usd::default(), |mut total, cost| {
            total += cost.usd;
            total
        })
    }

    /// Asks the models whose answers are not stored. `check` returns an answer in the form to store, or what is wrong with
    /// it.
    ///
    /// # Errors
    /// Fails when not all of them were asked. Their answers are stored.
    pub async fn ask(
        &mut self,
        calls: Vec<AgentCall>,
        check: impl Fn(&str, &str) -> Result<String, String>,
    ) -> Result<AgentAnswers, AskingEnd> {
        let mut asking = Asking { answers: BTreeMap::new(), end: None, check };
        let mut waiting = Vec::new();
        for call in calls {
            let cost = self.costs.entry(call.name.clone()).or_default();
            (cost.shared_bytes, cost.request_bytes) = (call.shared_part.text.len(), call.request.len());
            let stored = self.store.answer(&call.name, &call.key);
            if let Some(answer) = stored.and_then(|text| (asking.check)(&call.name, &text).ok()) {
                asking.answers.insert(call.name, Ok(answer));
            } else {
                cost.model.clone_from(&call.model);
                self.store.remove(&call.name);
                waiting.push(call);
            }
        }
        let limit = self.limit.map(|limit| limit.saturating_sub(self.total()));
        let assistant = &self.assistant;
        let ask = |call: &AgentCall, share| {
            let corrected = call.rejected.as_ref().map(|RejectedAnswer { text, fault, .. }| {
                correction(&call.request, text, fault, CORRECTION_ADVICE)
            });
            let text = corrected.as_deref().unwrap_or(&call.request);
            assistant
                .ask(ModelQuestion { model: &call.model, shared_part: &call.shared_part.part, text }, share)
        };
        let (store, session) = (&self.store, self.session);
        let (costs, spent) = (&mut self.costs, &mut self.spent);
        let finished = |call: AgentCall, result: CallResult| {
            let cost = costs.entry(call.name.clone()).or_default();
            cost.model.clone_from(&call.model);
            cost.usd += result.cost;
            cost.calls += 1;
            *spent += result.cost;
            // Written after each call: the next run of the session must know what this one cost.
            if let Err(message) = session.write_json(COSTS, costs) {
                crate::console::print_error(format!("Warning: {message}"));
            }
            asking.finish(store, call, result)
        };
        let unasked = CallPool::new(waiting, limit).run(ask, finished).await.map_err(AskingEnd::Failed)?;
        match asking.end {
            Some(end) => Err(end),
            None if !unasked.is_empty() => {
                let limit = self.limit.unwrap_or_default();
                Err(AskingEnd::Failed(format!("The spending limit of ${limit:.2} is reached.")))
            }
            None => Ok(asking.answers),
        }
    }
}

/// State of the questions that were asked together.
struct Asking<F> {
    answers: AgentAnswers,
    end: Option<AskingEnd>,
    check: F,
}

impl<F: Fn(&str, &str) -> Result<String, String>> Asking<F> {
    /// Stores an answer, or asks once more.
    fn finish(&mut self, store: &PromptAnswers, call: AgentCall, result: CallResult) -> NextStep<AgentCall> {
        let (text, fault) = match result.outcome {
            CallOutcome::Answer(text) => match (self.check)(&call.name, &text) {
                Ok(answer) => {
                    store.store(&call.name, &call.key, &answer);
                    self.answers.insert(call.name, Ok(answer));
                    return NextStep::Continue;
                }
                Err(fault) => (text, fault),
            },
            CallOutcome::Oversized => (String::new(), format!("the answer has more than {MAX_ANSWER} bytes")),
            CallOutcome::Failed(reason) => {
                if call.is_second {
                    return self.give_up(store, call, reason);
                }
                let model = REPLACEMENT_MODEL.to_owned();
                return NextStep::Correct(AgentCall { model, is_second: true, ..call });
            }
            CallOutcome::Fatal(reason) => {
                self.end.get_or_insert(AskingEnd::Failed(reason));
                return NextStep::End;
            }
            CallOutcome::Stopped => {
                self.end.get_or_insert(AskingEnd::Stopped);
                return NextStep::End;
            }
        };
        if call.is_second {
            return self.give_up(store, call, fault);
        }
        let rejected = Some(RejectedAnswer { text, fault, is_usable: false });
        NextStep::Correct(AgentCall { rejected, is_second: true, ..call })
    }

    fn give_up(&mut self, store: &PromptAnswers, call: AgentCall, reason: String) -> NextStep<AgentCall> {
        store.store_failure(&call.name, &json!({"error": reason}).to_string());
        self.answers.insert(call.name, Err(reason));
        NextStep::Continue
    }
}
