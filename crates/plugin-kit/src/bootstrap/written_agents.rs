//! The texts of a repository's agents: those that are stored for the same facts, and those that a model has just written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use loopgate_api::usd::Usd;
use loopgate_bootstrap::{
    AGENT_MODEL, AgentFacts, ExpertText, FinalAgent, ProjectAnalysis, RepositoryTerms, agent_facts,
    parse_answer,
};

use super::prompt;
use crate::model_calls::{
    CallOutcome, CallResult, MAX_ANSWER, NextStep, PooledCall, PromptAnswers, RejectedAnswer, correction,
    prompt_key, without_fence,
};

/// Stored answers that are kept, for all commits and options.
const MAX_STORED: usize = 500;
/// Hexadecimal digits of the key in the name of an answer.
const KEY_DIGITS: usize = 16;
/// Names that are listed in a fault.
const MAX_NAMES: usize = 20;

/// A question for the text of an agent.
#[derive(Debug, Clone)]
pub struct DraftCall {
    /// Index of the agent.
    pub index: usize,
    pub rejected: Option<RejectedAnswer>,
}

impl PooledCall for DraftCall {
    fn cache(&self) -> String {
        AGENT_MODEL.to_owned()
    }
}

/// An agent with its prompt and, at the end, its text.
#[derive(Debug)]
pub struct AgentDraft<'a> {
    pub agent: &'a FinalAgent,
    facts: AgentFacts,
    request: String,
    /// Hash of everything that the text depends on.
    pub key: String,
    pub text: DraftText,
    /// Names that do not occur in the repository; the texts with them were left out.
    pub unknown: Vec<String>,
    /// Calls of this run.
    pub calls: u32,
    pub cost: Usd,
}

/// The text of an agent.
#[derive(Debug)]
pub enum DraftText {
    Missing,
    Written(ExpertText),
    Failed(String),
}

impl AgentDraft<'_> {
    pub const fn answer(&self) -> Option<&ExpertText> {
        match &self.text {
            DraftText::Written(answer) => Some(answer),
            DraftText::Missing | DraftText::Failed(_) => None,
        }
    }

    fn stored_name(&self) -> String {
        format!("{}-{}", self.agent.agent, &self.key[..KEY_DIGITS.min(self.key.len())])
    }

    fn failure_name(&self) -> String {
        format!("{}-failed", self.stored_name())
    }
}

/// Result of the check of an answer.
enum DraftCheck {
    Usable(ExpertText),
    /// Usable without the texts that contain the names.
    Partly {
        answer: ExpertText,
        unknown: Vec<String>,
        fault: String,
    },
    Unusable(String),
}

/// All agents of a run.
#[derive(Debug)]
pub struct WrittenAgents<'a> {
    pub drafts: Vec<AgentDraft<'a>>,
    terms: RepositoryTerms<'a>,
    store: PromptAnswers,
    /// Reason for which no further agent is asked for.
    pub end: Option<String>,
}

impl<'a> WrittenAgents<'a> {
    /// Builds the prompts. `store`: directory of the stored answers.
    pub fn new(analysis: &'a ProjectAnalysis, shared_part: &str, store: &Path) -> Self {
        let draft = |agent: &'a FinalAgent| {
            let facts = agent_facts(agent, analysis);
            let request = prompt::request(agent, &facts);
            let key = prompt_key(&[AGENT_MODEL, shared_part, &request]);
            AgentDraft {
                agent,
                facts,
                request,
                key,
                text: DraftText::Missing,
                unknown: Vec::new(),
                calls: 0,
                cost: Usd::default(),
            }
        };
        Self {
            drafts: analysis.agents.final_agents.iter().map(draft).collect(),
            terms: RepositoryTerms::new(analysis),
            store: PromptAnswers::in_directory(store),
            end: None,
        }
    }

    /// Uses the stored answers, and returns the calls for the other agents. A stored text that names what no longer exists is
    /// sent back. `skip_failed`: whether agents are left out that failed with the same facts.
    pub fn calls(&mut self, skip_failed: bool) -> Vec<DraftCall> {
        let mut calls = Vec::new();
        for index in 0..self.drafts.len() {
            let draft = &self.drafts[index];
            let Some(text) = self.store.answer(&draft.stored_name(), &draft.key) else {
                if skip_failed && let Some(reason) = self.store.answer(&draft.failure_name(), &draft.key) {
                    self.drafts[index].text = DraftText::Failed(format!("not asked again: {reason}"));
                } else {
                    calls.push(DraftCall { index, rejected: None });
                }
                continue;
            };
            match self.check(index, &text) {
                DraftCheck::Usable(answer) => self.drafts[index].text = DraftText::Written(answer),
                DraftCheck::Partly { fault, .. } => {
                    let rejected = Some(RejectedAnswer { text, fault, is_usable: true });
                    calls.push(DraftCall { index, rejected });
                }
                DraftCheck::Unusable(_) => calls.push(DraftCall { index, rejected: None }),
            }
        }
        calls
    }

    /// Returns the requests of calls.
    pub fn requests(&self, calls: &[DraftCall]) -> BTreeMap<usize, String> {
        calls.iter().map(|call| (call.index, self.drafts[call.index].request.clone())).collect()
    }

    /// Returns the request of a call.
    pub fn request_text(request: &str, rejected: Option<&RejectedAnswer>) -> String {
        match rejected {
            None => request.to_owned(),
            Some(RejectedAnswer { text, fault, .. }) => {
                correction(request, text, fault, prompt::CORRECTION_ADVICE)
            }
        }
    }

    /// Stores the result of a call, or sends a faulty answer back once.
    pub fn finish_call(&mut self, call: DraftCall, result: CallResult) -> NextStep<DraftCall> {
        let DraftCall { index, rejected } = call;
        self.drafts[index].cost += result.cost;
        self.drafts[index].calls += 1;
        let text = match result.outcome {
            CallOutcome::Answer(text) if text.len() as u64 <= MAX_ANSWER => text,
            CallOutcome::Answer(_) | CallOutcome::Oversized => {
                let fault = format!("the answer has more than {MAX_ANSWER} bytes");
                return self.reject(index, rejected, String::new(), DraftCheck::Unusable(fault));
            }
            CallOutcome::Failed(reason) => {
                self.conclude(index, rejected, &reason);
                return NextStep::Continue;
            }
            CallOutcome::Fatal(reason) => {
                self.conclude(index, rejected, &reason);
                self.end.get_or_insert(reason);
                return NextStep::End;
            }
            CallOutcome::Stopped => return NextStep::End,
        };
        match self.check(index, &text) {
            DraftCheck::Usable(answer) => {
                self.keep(index, answer, Vec::new());
                NextStep::Continue
            }
            check => self.reject(index, rejected, text, check),
        }
    }

    fn reject(
        &mut self,
        index: usize,
        rejected: Option<RejectedAnswer>,
        text: String,
        check: DraftCheck,
    ) -> NextStep<DraftCall> {
        let fault = match (&rejected, check) {
            (Some(_), DraftCheck::Partly { answer, unknown, .. }) => {
                self.keep(index, answer, unknown);
                return NextStep::Continue;
            }
            (None, DraftCheck::Partly { fault, .. }) => {
                let rejected = Some(RejectedAnswer { text, fault, is_usable: true });
                return NextStep::Correct(DraftCall { index, rejected });
            }
            (_, DraftCheck::Unusable(fault)) => fault,
            (_, DraftCheck::Usable(answer)) => {
                self.keep(index, answer, Vec::new());
                return NextStep::Continue;
            }
        };
        if rejected.is_none() {
            let rejected = Some(RejectedAnswer { text, fault, is_usable: false });
            return NextStep::Correct(DraftCall { index, rejected });
        }
        self.conclude(index, rejected, &fault);
        let draft = &self.drafts[index];
        if let DraftText::Failed(reason) = &draft.text {
            self.store.store(&draft.failure_name(), &draft.key, reason);
        }
        NextStep::Continue
    }

    /// Uses the usable part of an earlier answer, else records the reason for which the agent failed.
    pub fn conclude(&mut self, index: usize, rejected: Option<RejectedAnswer>, reason: &str) {
        if let Some(RejectedAnswer { text, is_usable: true, .. }) = rejected
            && let DraftCheck::Partly { answer, unknown, .. } = self.check(index, &text)
        {
            self.keep(index, answer, unknown);
        } else {
            self.drafts[index].text = DraftText::Failed(reason.to_owned());
        }
    }

    fn keep(&mut self, index: usize, answer: ExpertText, unknown: Vec<String>) {
        let draft = &mut self.drafts[index];
        if let Ok(text) = serde_json::to_string(&answer) {
            self.store.store(&draft.stored_name(), &draft.key, &text);
        }
        draft.unknown = unknown;
        draft.text = DraftText::Written(answer);
    }

    fn check(&self, index: usize, text: &str) -> DraftCheck {
        let answer = match parse_answer(without_fence(text)) {
            Ok(answer) => answer,
            Err(fault) => return DraftCheck::Unusable(fault),
        };
        if let Err(fault) = answer.check_form() {
            return DraftCheck::Unusable(fault);
        }
        let facts = &self.drafts[index].facts;
        if let Some(fault) = answer.lack_of_names(facts) {
            return DraftCheck::Unusable(fault);
        }
        let others = self.drafts.iter().enumerate().filter(|(other, _)| *other != index);
        let mut same =
            others.filter(|(_, other)| other.answer().is_some_and(|other| other.is_same_as(&answer)));
        if let Some((_, other)) = same.next() {
            return DraftCheck::Unusable(format!("the agent {} has the same text", other.agent.agent));
        }
        let unknown = answer.unknown_names(&self.terms);
        if unknown.is_empty() {
            return DraftCheck::Usable(answer);
        }
        let listed: Vec<String> = unknown.iter().take(MAX_NAMES).map(|name| format!("{name:?}")).collect();
        let fault = format!("these names do not occur in the repository: {}", listed.join(", "));
        match answer.without_unknown(&self.terms) {
            Some(answer) if answer.lack_of_names(facts).is_none() => {
                DraftCheck::Partly { answer, unknown, fault }
            }
            _ => DraftCheck::Unusable(fault),
        }
    }
}

/// Removes the oldest answers when there are many. The directory belongs to git and not to the working tree.
pub fn remove_old_answers(directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<(std::time::SystemTime, PathBuf)> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    files.sort();
    for (_, path) in files.iter().rev().skip(2 * MAX_STORED) {
        // Another run may have removed it.
        let _ = std::fs::remove_file(path);
    }
}
