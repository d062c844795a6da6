//! The order in which judges are asked: at most four at a time, the first of each model alone, within one spending limit.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;

use loopgate_api::usd::Usd;
use tokio::task::JoinSet;

use super::Judge;
use crate::loop_run::KnownFailure;

/// Maximum number of calls at a time.
pub const MAX_RUNNING: usize = 4;

/// A call of the assistant for a judge.
#[derive(Debug, Clone)]
pub struct JudgeCall {
    pub judge: &'static Judge,
    /// The answer that this call has to correct.
    pub rejected: Option<RejectedAnswer>,
}

/// An answer with a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedAnswer {
    pub text: String,
    /// What is wrong, for the judge.
    pub fault: String,
    /// Whether the answer has a result nevertheless: findings without the words of a document do not count.
    pub is_usable: bool,
}

/// Result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    pub outcome: CallOutcome,
    pub cost: Usd,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOutcome {
    /// Text of the model, unchecked.
    Answer(String),
    /// The output exceeds what is read.
    Oversized,
    /// This judge failed; others may succeed.
    Failed(String),
    /// A limit of the account is reached. The same call can succeed after it.
    Limited(KnownFailure),
    /// No other call can succeed.
    Fatal(String),
    /// The run was interrupted.
    Stopped,
}

/// What follows a call.
#[derive(Debug)]
pub enum NextStep {
    Continue,
    /// The judge has to correct its answer.
    Correct(JudgeCall),
    /// No further call is started; those that run end by themselves.
    End,
}

/// State of the prompt cache for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CacheState {
    /// A call is writing it.
    Writing,
    Written,
}

/// Calls that wait, and those that run.
#[derive(Debug)]
pub struct CallPool {
    waiting: VecDeque<JudgeCall>,
    running: usize,
    caches: BTreeMap<&'static str, CacheState>,
    /// `None` without a limit.
    limit: Option<Usd>,
    spent: Usd,
    /// Shares of the limit that running calls may use up.
    reserved: Usd,
}

impl JudgeCall {
    pub const fn first(judge: &'static Judge) -> Self {
        Self { judge, rejected: None }
    }
}

impl CallPool {
    pub fn new(calls: impl IntoIterator<Item = JudgeCall>, limit: Option<Usd>) -> Self {
        Self {
            waiting: calls.into_iter().collect(),
            running: 0,
            caches: BTreeMap::new(),
            limit,
            spent: Usd::default(),
            reserved: Usd::default(),
        }
    }

    /// Runs all calls, and returns those that were not started, because a call ended the run or the limit is reached.
    ///
    /// # Errors
    /// Fails when a call panics.
    pub async fn run<F>(
        mut self,
        ask: impl Fn(&JudgeCall, Option<Usd>) -> F,
        mut finished: impl FnMut(JudgeCall, CallResult) -> NextStep,
    ) -> Result<Vec<JudgeCall>, String>
    where
        F: Future<Output = CallResult> + Send + 'static,
    {
        let mut calls = JoinSet::new();
        let mut has_ended = false;
        loop {
            while !has_ended && let Some((call, share)) = self.start() {
                let answer = ask(&call, share);
                calls.spawn(async move { (call, share, answer.await) });
            }
            let Some(ended) = calls.join_next().await else { break };
            let (call, share, result) = ended.map_err(|error| error.to_string())?;
            self.end(&call, share, &result);
            match finished(call, result) {
                NextStep::Continue => {}
                NextStep::Correct(call) => self.waiting.push_front(call),
                NextStep::End => has_ended = true,
            }
        }
        Ok(self.waiting.into())
    }

    /// Takes the next call that may start, with its share of the spending limit.
    fn start(&mut self) -> Option<(JudgeCall, Option<Usd>)> {
        let free = MAX_RUNNING.checked_sub(self.running).filter(|free| *free > 0)?;
        // A call that starts while the cache is written pays for all documents again.
        let is_ready =
            |call: &JudgeCall| self.caches.get(call.judge.model.name()) != Some(&CacheState::Writing);
        let index = self.waiting.iter().position(is_ready)?;
        let share = match self.limit {
            None => None,
            Some(limit) => {
                let available = limit.saturating_sub(self.spent).saturating_sub(self.reserved);
                let calls = free.min(self.waiting.len()).max(1);
                let share = Usd::from_micros(available.micros() / u64::try_from(calls).unwrap_or(1));
                if share.is_zero() {
                    return None;
                }
                self.reserved += share;
                Some(share)
            }
        };
        let call = self.waiting.remove(index)?;
        self.caches.entry(call.judge.model.name()).or_insert(CacheState::Writing);
        self.running += 1;
        Some((call, share))
    }

    fn end(&mut self, call: &JudgeCall, share: Option<Usd>, result: &CallResult) {
        self.running -= 1;
        self.spent += result.cost;
        self.reserved = self.reserved.saturating_sub(share.unwrap_or_default());
        let model = call.judge.model.name();
        if matches!(result.outcome, CallOutcome::Answer(_) | CallOutcome::Oversized) {
            self.caches.insert(model, CacheState::Written);
        } else if self.caches.get(model) == Some(&CacheState::Writing) {
            // A call that failed may have written nothing: the next one is the first.
            self.caches.remove(model);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Arc, Mutex};

    use proptest::prelude::*;
    use tokio::sync::mpsc;
    use tokio::sync::oneshot;

    use super::super::{Category, JudgeModel};
    use super::*;

    fn answer(micros: u64) -> CallResult {
        CallResult { outcome: CallOutcome::Answer(String::new()), cost: Usd::from_micros(micros) }
    }

    fn names(calls: &[JudgeCall]) -> Vec<&'static str> {
        calls.iter().map(|call| call.judge.name).collect()
    }

    /// Starts all calls that may start.
    fn started(pool: &mut CallPool) -> Vec<(JudgeCall, Option<Usd>)> {
        std::iter::from_fn(|| pool.start()).collect()
    }

    #[test]
    fn first_call_of_each_model_is_alone() {
        let mut pool = CallPool::new(Category::Plan.judges().map(JudgeCall::first), None);
        let first = started(&mut pool);
        let models: Vec<_> = first.iter().map(|(call, _)| call.judge.model).collect();
        assert_eq!(models, [JudgeModel::Opus, JudgeModel::Haiku, JudgeModel::Sonnet]);
        pool.end(&first[1].0, None, &answer(0));
        let next = started(&mut pool);
        assert!(next.iter().all(|(call, _)| call.judge.model == JudgeModel::Haiku));
        assert_eq!(next.len(), MAX_RUNNING - 2);
        // A failed call has written no cache.
        let failed = CallResult { outcome: CallOutcome::Failed("x".to_owned()), cost: Usd::default() };
        pool.end(&first[2].0, None, &failed);
        let next = started(&mut pool);
        assert_eq!(next.len(), 1);
    }

    proptest! {
        // PR-B03
        #[test]
        fn never_more_than_four_run_and_all_are_asked_once(picks in proptest::collection::vec(0..4usize, 16)) {
            let mut pool = CallPool::new(Category::Plan.judges().map(JudgeCall::first), None);
            let (mut running, mut asked, mut warm) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
            let mut picks = picks.into_iter();
            loop {
                for (call, _) in started(&mut pool) {
                    prop_assert!(asked.insert(call.judge.name));
                    running.push(call);
                }
                prop_assert!(running.len() <= MAX_RUNNING);
                for model in [JudgeModel::Haiku, JudgeModel::Opus, JudgeModel::Sonnet] {
                    let of_model = running.iter().filter(|call| call.judge.model == model).count();
                    prop_assert!(of_model <= 1 || warm.contains(model.name()));
                }
                if running.is_empty() {
                    break;
                }
                let call = running.remove(picks.next().unwrap_or(0) % running.len());
                warm.insert(call.judge.model.name());
                pool.end(&call, None, &answer(0));
            }
            prop_assert_eq!(asked.len(), 16);
        }

        #[test]
        fn shares_never_exceed_the_limit(costs in proptest::collection::vec(0..200_000u64, 16), limit in 1..1_000_000u64) {
            let mut pool = CallPool::new(Category::Plan.judges().map(JudgeCall::first), Some(Usd::from_micros(limit)));
            let (mut running, mut spent) = (Vec::new(), 0);
            let mut costs = costs.into_iter();
            loop {
                running.extend(started(&mut pool));
                let reserved: u64 = running.iter().map(|(_, share): &(JudgeCall, Option<Usd>)| share.unwrap().micros()).sum();
                prop_assert!(reserved + spent <= limit);
                let Some((call, share)) = running.pop() else { break };
                // A call that keeps to its share.
                let cost = costs.next().unwrap_or(0).min(share.unwrap().micros());
                spent += cost;
                pool.end(&call, share, &answer(cost));
            }
            prop_assert!(spent <= limit);
        }
    }

    #[tokio::test]
    async fn pool_rolls_and_repeats_a_correction_before_others() {
        // Each call waits for the test, which sees all that run.
        let (started_tx, mut started) = mpsc::unbounded_channel();
        let pool = CallPool::new(Category::Code.judges().map(JudgeCall::first), None);
        let ask = move |call: &JudgeCall, _| {
            let (release, released) = oneshot::channel::<CallResult>();
            started_tx.send((call.clone(), release)).unwrap();
            async move { released.await.unwrap() }
        };
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let finished = move |call: JudgeCall, _| {
            log.lock().unwrap().push(call.judge.name);
            if call.judge.name == "code-organization-judge" && call.rejected.is_none() {
                let rejected = RejectedAnswer { text: "x".into(), fault: "y".into(), is_usable: false };
                return NextStep::Correct(JudgeCall { rejected: Some(rejected), ..call });
            }
            NextStep::Continue
        };
        let run = tokio::spawn(pool.run(ask, finished));
        let mut running = vec![started.recv().await.unwrap(), started.recv().await.unwrap()];
        assert!(started.try_recv().is_err(), "code has judges of two models");
        running.remove(0).1.send(answer(0)).unwrap();
        let corrected = started.recv().await.unwrap();
        assert_eq!(corrected.0.judge.name, "code-organization-judge");
        assert!(corrected.0.rejected.is_some());
        running.push(corrected);
        while let Some((_, release)) = running.pop() {
            release.send(answer(0)).unwrap();
            if running.is_empty() {
                match started.recv().await {
                    Some(next) => running.push(next),
                    None => break,
                }
            }
            while let Ok(next) = started.try_recv() {
                running.push(next);
                assert!(running.len() <= MAX_RUNNING);
            }
        }
        assert_eq!(names(&run.await.unwrap().unwrap()), [""; 0]);
        assert_eq!(seen.lock().unwrap().len(), 12);
    }

    #[tokio::test]
    async fn fatal_result_starts_no_further_call() {
        let pool = CallPool::new(Category::Feature.judges().map(JudgeCall::first), None);
        let fatal = CallResult { outcome: CallOutcome::Fatal("limit".into()), cost: Usd::default() };
        let rest = pool.run(|_, _| std::future::ready(fatal.clone()), |_, _| NextStep::End).await.unwrap();
        assert_eq!(names(&rest), ["prd-dependency-judge", "prd-testability-judge"]);
    }
}
