//! Accumulates the token counts and costs of a stream and counts each of them once.
//!
//! The assistant prints a message once per content block, each time with the same usage, so messages are
//! deduplicated by id. Their output counts are those at the start of the response; the `result` record of the
//! run has the final ones. A later result of the same process includes the earlier results, a result of a new
//! process does not.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::assistant_record::{AssistantMessage, AssistantRecord, RecordKind, ResultRecord};
use crate::price;
use crate::spend::{Cost, Run, Spend, Turn};
use crate::tokens::{ModelTokens, TokenUsage};

/// Number of message ids kept for deduplication. The blocks of one message are printed closely together, so
/// older ids can be dropped.
const MAX_MESSAGES: usize = 4096;
/// Number of turns and of runs that are stored individually.
const MAX_TURNS: usize = 20;
/// Model name for records that do not name one.
const UNKNOWN_MODEL: &str = "unknown";

/// A new turn or run, in addition to the changed totals.
#[derive(Debug, Clone, PartialEq)]
pub enum LedgerEntry {
    /// A model responded to a request.
    Turn(Turn),
    /// A run of the assistant ended.
    Run(Run),
}

/// Token counts and costs of a stream.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// Tokens of finished runs, by model.
    settled: BTreeMap<String, ModelTokens>,
    /// Tokens of messages since the last result, by model.
    open: BTreeMap<String, ModelTokens>,
    /// Totals reported by the last result of this process.
    reported: ReportedTotals,
    cost: Option<Cost>,
    models: Vec<String>,
    turns: u64,
    runs: u64,
    /// Number of turns up to the last result.
    settled_turns: u64,
    messages: HashMap<String, UsageMessage>,
    /// Keys of `messages`, oldest first.
    order: VecDeque<String>,
    session: Option<String>,
    /// Current thread of the reviewer; `threads` has the totals of each thread.
    thread: String,
    threads: HashMap<String, ModelTokens>,
    recent_turns: VecDeque<Turn>,
    recent_runs: VecDeque<Run>,
}

#[derive(Debug, Clone)]
struct UsageMessage {
    model: String,
    tokens: ModelTokens,
    turn: u64,
    /// Number of finished runs when the message was received.
    run: u64,
}

/// Totals of a `result` record.
#[derive(Debug, Clone, Default)]
struct ReportedTotals {
    tokens: BTreeMap<String, ModelTokens>,
    usd: BTreeMap<String, f64>,
    total_usd: Option<f64>,
}

impl Ledger {
    /// Processes one record; returns the turn or run that it added.
    pub fn feed(&mut self, record: &AssistantRecord) -> Option<LedgerEntry> {
        match &record.kind {
            RecordKind::System(_) => {
                self.begin_session(record.session_id.as_deref()?);
                None
            }
            RecordKind::Assistant(message) => self.message(message).map(LedgerEntry::Turn),
            RecordKind::Result(result) => Some(LedgerEntry::Run(self.result(result))),
            RecordKind::ReviewerThread(id) => {
                self.thread.clone_from(id);
                None
            }
            RecordKind::ReviewerTurn(sum) => Some(LedgerEntry::Turn(self.reviewer_turn(*sum))),
            _ => None,
        }
    }

    /// Returns the total tokens of all models.
    #[must_use]
    pub fn usage(&self) -> TokenUsage {
        let mut usage = TokenUsage::default();
        for tokens in self.settled.values().chain(self.open.values()) {
            usage.input_tokens += tokens.input;
            usage.output_tokens += tokens.output;
            usage.cache_creation_input_tokens += tokens.cache_creation;
            usage.cache_read_input_tokens += tokens.cache_read;
        }
        usage
    }

    /// Returns the total tokens by model name.
    #[must_use]
    pub fn by_model(&self) -> BTreeMap<String, ModelTokens> {
        let mut all = self.settled.clone();
        for (model, tokens) in &self.open {
            *all.entry(model.clone()).or_default() += *tokens;
        }
        all
    }

    /// Returns the model names in the order of their first use.
    #[must_use]
    pub fn models(&self) -> &[String] {
        &self.models
    }

    /// Returns the number of model responses.
    #[must_use]
    pub const fn turns(&self) -> u64 {
        self.turns
    }

    /// Returns the cost; `None` until the assistant reports one.
    #[must_use]
    pub const fn cost(&self) -> Option<&Cost> {
        self.cost.as_ref()
    }

    /// Returns the reported cost plus the list price of later responses, whose run has not ended or was
    /// interrupted.
    #[must_use]
    pub fn estimated_usd(&self) -> f64 {
        let open: f64 = self.open.iter().map(|(model, tokens)| price::dollars(model, tokens)).sum();
        money(self.cost.as_ref().map_or(0.0, |cost| cost.total_usd) + open)
    }

    /// Returns all totals with the latest turns and runs, for storage.
    #[must_use]
    pub fn spend(&self) -> Spend {
        Spend {
            tokens: self.usage(),
            tokens_by_model: self.by_model(),
            turns: self.turns,
            runs: self.runs,
            cost: self.cost.clone(),
            recent_turns: self.recent_turns.iter().cloned().collect(),
            recent_runs: self.recent_runs.iter().cloned().collect(),
        }
    }

    /// Starts a new session, which is a new process: tokens of the previous process without a result are
    /// settled as counted.
    fn begin_session(&mut self, session: &str) {
        // A session prints several `system` records.
        if self.session.as_deref() == Some(session) {
            return;
        }
        self.session = Some(session.to_owned());
        self.reported = ReportedTotals::default();
        for (model, tokens) in std::mem::take(&mut self.open) {
            *self.settled.entry(model).or_default() += tokens;
        }
    }

    fn message(&mut self, message: &AssistantMessage) -> Option<Turn> {
        if message.is_synthetic() {
            return None;
        }
        let model = base_name(message.model.as_deref().unwrap_or(UNKNOWN_MODEL));
        let tokens = message.usage.unwrap_or_default();
        match &message.id {
            Some(id) if self.messages.contains_key(id) => {
                self.repeat(id, tokens);
                None
            }
            id => {
                let turn = self.turn(model, tokens);
                if let Some(id) = id {
                    self.store_message(id, &turn);
                }
                Some(turn)
            }
        }
    }

    /// Adds a model response.
    fn turn(&mut self, model: String, tokens: ModelTokens) -> Turn {
        self.turns += 1;
        if !self.models.contains(&model) {
            self.models.push(model.clone());
        }
        *self.open.entry(model.clone()).or_default() += tokens;
        let turn = Turn { turn: self.turns, model, tokens };
        push_recent(&mut self.recent_turns, turn.clone());
        turn
    }

    fn store_message(&mut self, id: &str, turn: &Turn) {
        if self.order.len() == MAX_MESSAGES
            && let Some(oldest) = self.order.pop_front()
        {
            self.messages.remove(&oldest);
        }
        let message =
            UsageMessage { model: turn.model.clone(), tokens: turn.tokens, turn: turn.turn, run: self.runs };
        self.messages.insert(id.to_owned(), message);
        self.order.push_back(id.to_owned());
    }

    /// Updates a message with a further block; only the difference to the earlier count is added.
    fn repeat(&mut self, id: &str, tokens: ModelTokens) {
        let Some(message) = self.messages.get_mut(id) else { return };
        let more = tokens.at_least(message.tokens);
        let added = more.minus(message.tokens);
        message.tokens = more;
        // A message of an earlier run is already part of that run's result.
        if message.run == self.runs {
            *self.open.entry(message.model.clone()).or_default() += added;
        }
        if let Some(turn) = self.recent_turns.iter_mut().find(|turn| turn.turn == message.turn) {
            turn.tokens = more;
        }
    }

    fn result(&mut self, record: &ResultRecord) -> Run {
        let reported = ReportedTotals::of(record);
        // A later result of the same process includes the earlier totals, so only the difference is new.
        let is_continuation = reported.includes(&self.reported, &self.open);
        let before =
            if is_continuation { std::mem::take(&mut self.reported) } else { ReportedTotals::default() };
        let mut run = ModelTokens::default();
        let mut open = std::mem::take(&mut self.open);
        for (model, now) in &reported.tokens {
            let since = now.minus(before.tokens.get(model).copied().unwrap_or_default());
            // The result corrects the output counts, but never lowers a count: progress was already reported
            // from it.
            let counted = open.remove(model).unwrap_or_default();
            run += self.settle(model, since.at_least(counted));
        }
        // Models without an entry in the result.
        for (model, counted) in open {
            run += self.settle(&model, counted);
        }
        let cost_usd = reported.total_usd.map(|now| money(now - before.total_usd.unwrap_or_default()));
        if let Some(usd) = cost_usd {
            let cost = self.cost.get_or_insert_default();
            cost.total_usd = money(cost.total_usd + usd);
            for (model, now) in &reported.usd {
                let since = now - before.usd.get(model).copied().unwrap_or_default();
                let sum = cost.by_model.entry(model.clone()).or_default();
                *sum = money(*sum + since);
            }
        }
        self.reported = reported;
        self.runs += 1;
        let turns = self.turns - std::mem::replace(&mut self.settled_turns, self.turns);
        let run = Run { run: self.runs, turns, tokens: run, cost_usd };
        push_recent(&mut self.recent_runs, run.clone());
        run
    }

    fn settle(&mut self, model: &str, tokens: ModelTokens) -> ModelTokens {
        *self.settled.entry(model.to_owned()).or_default() += tokens;
        if !self.models.iter().any(|name| name == model) {
            self.models.push(model.to_owned());
        }
        tokens
    }

    /// Adds a turn of the reviewer, which reports the total of its thread after each turn.
    fn reviewer_turn(&mut self, sum: ModelTokens) -> Turn {
        let before = self.threads.insert(self.thread.clone(), sum).unwrap_or_default();
        // A lower total means that the counts of the thread were reset.
        let tokens = if sum.at_least(before) == sum { sum.minus(before) } else { sum };
        self.turn(UNKNOWN_MODEL.to_owned(), tokens)
    }
}

impl ReportedTotals {
    fn of(record: &ResultRecord) -> Self {
        let mut reported = Self { total_usd: record.total_usd, ..Self::default() };
        for (model, usage) in &record.models {
            // Several names can have the same base name, so their counts are added.
            *reported.tokens.entry(base_name(model)).or_default() += usage.tokens;
            *reported.usd.entry(base_name(model)).or_default() += usage.usd;
        }
        reported
    }

    /// Returns whether these totals include an earlier result and all messages since, as those of the same
    /// process do.
    fn includes(&self, earlier: &Self, open: &BTreeMap<String, ModelTokens>) -> bool {
        if earlier.tokens.is_empty() {
            return false;
        }
        let models = earlier.tokens.keys().chain(open.keys());
        let money = self.total_usd.unwrap_or_default() >= earlier.total_usd.unwrap_or_default();
        money
            && models.into_iter().all(|model| {
                let of =
                    |tokens: &BTreeMap<String, ModelTokens>| tokens.get(model).copied().unwrap_or_default();
                let mut least = of(&earlier.tokens);
                least += of(open);
                of(&self.tokens).at_least(least) == of(&self.tokens)
            })
    }
}

/// Removes the suffix for a larger context window, such as `[1m]`, from a model name.
fn base_name(model: &str) -> String {
    model.split('[').next().unwrap_or(model).to_owned()
}

/// Rounds to six digits after the decimal point, so that sums of floats show no rounding errors.
fn money(usd: f64) -> f64 {
    (usd * 1e6).round() / 1e6
}

fn push_recent<T>(list: &mut VecDeque<T>, item: T) {
    if list.len() == MAX_TURNS {
        list.pop_front();
    }
    list.push_back(item);
}

#[cfg(test)]
mod tests;
